import { Alert, NumberInput } from '@mantine/core';
import { useState } from 'react';
import type { AdminToken } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { revokeColumn } from '../../components/confirm.tsx';
import { CreationDialog, NameField } from '../../components/creation-dialog.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';
import { RoleSelect, roleColumn } from './role.tsx';

/** The tokens of scripts that are not revoked. */
export function TokenList() {
  const tokens = useRead('listAdminTokens', {});
  const canChange = useIsAdmin();
  return (
    <Loaded query={tokens}>
      {(data) => {
        const tokens = data.tokens.filter(({ revokedAt }) => revokedAt === undefined);
        return (
          <>
            {tokens.some(({ expiresAt }) => expiresAt === undefined) && <EndlessTokens />}
            <Rows
              label="Tokens of scripts"
              rows={tokens}
              keyOf={({ id }) => id}
              columns={canChange ? [...columns, revocation] : columns}
              empty={
                <>
                  There is no token. A script sends one as <code>Authorization: Bearer …</code> and can do
                  what its role allows; the session menu has the description of the API.
                </>
              }
            />
          </>
        );
      }}
    </Loaded>
  );
}

/** Warns of tokens that an earlier version made. */
function EndlessTokens() {
  return (
    <Alert color="yellow" mb="sm" title="A token never expires">
      It was made by an earlier version. Create one that expires, give it to the script, and revoke the old
      one.
    </Alert>
  );
}

const columns: Column<AdminToken>[] = [
  { label: 'Name', cell: ({ name }) => name },
  roleColumn,
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Made by', cell: ({ maker }) => maker?.name ?? 'not known' },
  { label: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : '⚠ never') },
];

const revocation = revokeColumn({
  label: 'Change',
  buttonName: (name) => `Revoke ${name}…`,
  title: (name) => `Revoke the token ${name}?`,
  consequence: 'Scripts with this token are refused from now on (401).',
  revoke: (id) => call('revokeAdminToken', { id }),
  refreshes: ['listAdminTokens'],
});

/** Creates a token and shows it once. */
export function AddToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  const [days, setDays] = useState<number | string>(90);
  const create = async () => {
    const { token } = await call('createAdminToken', {
      name,
      role,
      ...(typeof days === 'number' && { days }),
    });
    return token;
  };
  return (
    <CreationDialog
      title="Create a token"
      action="Create the token"
      create={create}
      refreshes={['listAdminTokens']}
      secretText={`The script ${name} sends this token as a bearer. It is shown only now.`}
      onClose={onClose}
    >
      <NameField description="What uses the token, e.g. nightly report" value={name} onChange={setName} />
      <RoleSelect value={role} onChange={setRole} />
      <NumberInput
        label="Valid for"
        description="Days, a year at most. It also ends when your account is revoked."
        min={1}
        max={365}
        allowDecimal={false}
        value={days}
        onChange={setDays}
      />
    </CreationDialog>
  );
}

import { Alert, Button, NumberInput, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AdminToken } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CreationDialog, NameField } from '../../components/creation-dialog.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { queryClient, useSession } from '../../session.ts';
import { RoleSelect, roleColumn } from './role.tsx';

const tokensKey = ['admin-tokens'];

/** The tokens of scripts that are not revoked. */
export function TokenList() {
  const tokens = useQuery({ queryKey: tokensKey, queryFn: () => call('listAdminTokens') });
  const [revoked, setRevoked] = useState<AdminToken>();
  const canChange = useSession()?.role === 'admin';
  const change: Column<AdminToken> = {
    label: 'Change',
    cell: (token) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-haspopup="dialog"
        aria-label={`Revoke ${token.name}…`}
        onClick={() => setRevoked(token)}
      >
        Revoke…
      </Button>
    ),
  };
  return (
    <>
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
                columns={canChange ? [...columns, change] : columns}
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
      {revoked && <RevokeToken token={revoked} onClose={() => setRevoked(undefined)} />}
    </>
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

function RevokeToken({ token: { id, name }, onClose }: { token: AdminToken; onClose: () => void }) {
  const mutation = useMutation({
    mutationFn: () => call('revokeAdminToken', { id }),
    onSuccess: onClose,
    onSettled: () => queryClient.invalidateQueries({ queryKey: tokensKey }),
  });
  return (
    <Confirm
      title={`Revoke the token ${name}?`}
      action={`Revoke ${name}`}
      mutation={mutation}
      onClose={onClose}
      isDestructive
    >
      <Text>Scripts with this token are refused from now on (401).</Text>
    </Confirm>
  );
}

/** Creates a token and shows it once. */
export function AddToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  const [days, setDays] = useState<number | string>(90);
  const creation = useMutation({
    mutationFn: () => call('createAdminToken', { name, role, ...(typeof days === 'number' && { days }) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensKey }),
  });
  return (
    <CreationDialog
      title="Create a token"
      action="Create the token"
      creation={creation}
      secretOf={({ token }) => token}
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

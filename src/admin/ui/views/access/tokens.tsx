import { NumberInput, Select } from '@mantine/core';
import { useState } from 'react';
import type { AdminToken } from '../../../sign-in/sign-in.ts';
import { CreationDialog, DialogButton, revokeColumn } from '../../components/dialogs.tsx';
import { type Column, LoadedRows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

/** The view of the tokens with which scripts call the admin API. */
export function TokensView() {
  const tokens = useRead('listAdminTokens', {});
  const canChange = useIsAdmin();
  return (
    <>
      <ViewHead
        title="Tokens of scripts"
        actions={
          canChange && (
            <DialogButton variant="filled" label="Create a token…">
              {(close) => <AddToken onClose={close} />}
            </DialogButton>
          )
        }
      >
        A script sends one as <code>Authorization: Bearer …</code> and can do what its role allows; the
        session menu has the description of the API.
      </ViewHead>
      <LoadedRows
        query={tokens}
        rowsOf={(data) => data.tokens.filter(({ revokedAt }) => revokedAt === undefined)}
        label="Tokens of scripts"
        columns={canChange ? [...columns, revocation] : columns}
        empty="There is no token yet."
      />
    </>
  );
}

const columns: Column<AdminToken>[] = [
  { label: 'Name', cell: ({ name }) => name },
  { label: 'Role', cell: ({ role }) => role },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Made by', cell: ({ maker }) => maker },
  { label: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];

const revocation = revokeColumn('token', {
  consequence: 'Scripts with this token are refused from now on (401).',
  revoke: (id) => call('revokeAdminToken', { id }),
});

/** Creates a token and shows it once. */
function AddToken({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<AdminToken['role']>('viewer');
  const [days, setDays] = useState<number | string>(90);
  const valid = typeof days === 'number' && { days };
  return (
    <CreationDialog
      title="Create a token"
      action="Create the token"
      nameText="What uses the token, e.g. nightly report"
      create={async (name) => (await call('createAdminToken', { name, role, ...valid })).token}
      secretText={(name) => `The script ${name} sends this token as a bearer. It is shown only now.`}
      onClose={onClose}
    >
      <Select
        label="Role"
        data={['viewer', 'admin']}
        value={role}
        onChange={(chosen) => setRole(chosen === 'admin' ? 'admin' : 'viewer')}
      />
      <NumberInput
        label="Valid for"
        description="Days, a year at most. It also ends when you sign in through the OpenID provider without a role."
        min={1}
        max={365}
        allowDecimal={false}
        value={days}
        onChange={setDays}
      />
    </CreationDialog>
  );
}

import { Alert, Badge, NumberInput, Select, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminAccount, AdminToken } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { CreationDialog, DialogButton, revokeColumn } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, LoadedRows, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { TabList, ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../queries.ts';
import { useIsAdmin, useSession, useSignInWays } from '../../session.ts';
import { AccountMenu } from './account-menu.tsx';

/** The view of the accounts of admins, and of the tokens with which scripts call the admin API. */
export function AccountsView() {
  const [location, navigate] = useLocation();
  const tab = location.startsWith('/tokens') ? 'tokens' : 'accounts';
  const ways = useSignInWays();
  // An account is added with a password; those of the OpenID provider appear by themselves.
  const canAdd = useIsAdmin() && (tab === 'tokens' || ways?.password === true);
  return (
    <>
      <ViewHead
        title="Accounts"
        actions={
          canAdd && (
            <DialogButton
              key={tab}
              size="sm"
              variant="filled"
              label={tab === 'tokens' ? 'Create a token…' : 'Add an account…'}
            >
              {(close) => (tab === 'tokens' ? <AddToken onClose={close} /> : <AddAccount onClose={close} />)}
            </DialogButton>
          )
        }
      >
        Who may sign in here, and the tokens of scripts. A viewer sees everything and changes nothing.
      </ViewHead>
      <Tabs value={tab} onChange={(chosen) => navigate(chosen === 'tokens' ? '/tokens' : '/')}>
        <TabList labels={{ accounts: 'Accounts', tokens: 'Tokens of scripts' }} />
        <Tabs.Panel value="accounts">
          <AccountList />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <TokenList />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function AccountList() {
  const session = useSession();
  const accounts = useRead('listAccounts', {});
  const menu: Column<AdminAccount> = {
    label: 'Change',
    cell: (account) => (account.name === session?.name ? 'you' : <AccountMenu account={account} />),
  };
  return (
    <LoadedRows
      query={accounts}
      rowsOf={(data) => data.accounts.filter(({ revokedAt, hasPassword }) => !(revokedAt && hasPassword))}
      label="Accounts"
      columns={session?.role === 'admin' ? [...accountColumns, menu] : accountColumns}
      empty="There is no account."
    />
  );
}

type Role = AdminAccount['role'];

/** The column of the role of accounts and tokens. */
const roleColumn = {
  label: 'Role',
  cell: ({ role }: { role: Role }) => (
    <Badge variant="default" tt="none">
      {role}
    </Badge>
  ),
};

const accountColumns: Column<AdminAccount>[] = [
  { label: 'Name', cell: ({ name }) => name },
  roleColumn,
  { label: 'Signs in with', cell: ({ issuer }) => issuer ?? 'password' },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Last sign-in', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} none="never" /> },
];

/** Creates an account and shows its password once. */
function AddAccount({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  return (
    <CreationDialog
      title="Add an account"
      action="Add the account"
      nameText="A name or an email address"
      create={async (name) => (await call('createAccount', { name, role })).password}
      secretText={(name) =>
        `${name} signs in with this password. It is shown only now; the account can change it after signing in.`
      }
      onClose={onClose}
    >
      <RoleSelect value={role} onChange={setRole} />
    </CreationDialog>
  );
}

/** The tokens of scripts that are not revoked. */
function TokenList() {
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
              columns={canChange ? [...tokenColumns, revocation] : tokenColumns}
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

const tokenColumns: Column<AdminToken>[] = [
  { label: 'Name', cell: ({ name }) => name },
  roleColumn,
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Made by', cell: ({ maker }) => maker?.name ?? 'not known' },
  { label: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} none="⚠ never" /> },
];

const revocation = revokeColumn({
  label: 'Change',
  buttonName: (name) => `Revoke ${name}…`,
  title: (name) => `Revoke the token ${name}?`,
  consequence: 'Scripts with this token are refused from now on (401).',
  revoke: (id) => call('revokeAdminToken', { id }),
});

/** Creates a token and shows it once. */
function AddToken({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
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

/** Chooses the role of an account or a token. */
function RoleSelect({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  return (
    <Select
      label="Role"
      data={['viewer', 'admin']}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen === 'admin' ? 'admin' : 'viewer')}
    />
  );
}

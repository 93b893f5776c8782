import { ActionIcon, Alert, Badge, Menu, NumberInput, Select, Tabs, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminAccount, AdminToken } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { Confirm, CreationDialog, DialogButton, revokeColumn, Secret } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, LoadedRows, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { TabList, ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../queries.ts';
import { useIsAdmin, useSession, useSignInWays } from '../../session.ts';

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

type Change = 'role' | 'password' | 'revoke' | 'restore';

/** The changes of an account; each asks for a confirmation. */
export function AccountMenu({ account }: { account: AdminAccount }) {
  const [change, setChange] = useState<Change>();
  const close = () => setChange(undefined);
  const isRevoked = account.revokedAt !== undefined;
  const ways = useSignInWays();
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Change ${account.name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {account.hasPassword && (
            <>
              <Menu.Item aria-haspopup="dialog" onClick={() => setChange('role')}>
                Make {otherRole(account)}…
              </Menu.Item>
              {ways?.password && (
                <Menu.Item aria-haspopup="dialog" onClick={() => setChange('password')}>
                  Reset the password…
                </Menu.Item>
              )}
            </>
          )}
          <Menu.Item aria-haspopup="dialog" onClick={() => setChange(isRevoked ? 'restore' : 'revoke')}>
            {isRevoked ? 'Restore' : 'Revoke'} {account.name}…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {change === 'password' ? (
        <ResetPassword account={account} onClose={close} />
      ) : (
        change && <ConfirmChange {...confirmations[change](account)} onClose={close} />
      )}
    </>
  );
}

function otherRole({ role }: AdminAccount): 'admin' | 'viewer' {
  return role === 'admin' ? 'viewer' : 'admin';
}

interface AccountChange {
  title: string;
  change: () => Promise<unknown>;
  consequence: string;
  isDestructive?: boolean;
}

/** The list is read again after each attempt: another admin may have changed the account. */
function ConfirmChange({ title, consequence, ...change }: AccountChange & { onClose: () => void }) {
  return (
    <Confirm {...change} title={`${title}?`} action={title}>
      <Text size="md">{consequence}</Text>
    </Confirm>
  );
}

const confirmations: Record<Exclude<Change, 'password'>, (account: AdminAccount) => AccountChange> = {
  role: (account) => {
    const { id, name } = account;
    const role = otherRole(account);
    return {
      title: `Make ${name} ${role}`,
      change: () => call('changeRole', { id, role }),
      consequence:
        role === 'admin'
          ? `${name} will be able to change everything here, accounts included.`
          : `${name} will see everything as before, and change nothing.`,
    };
  },
  revoke: ({ id, name }) => ({
    title: `Revoke ${name}`,
    change: () => call('revokeAccount', { id }),
    consequence: `${name} is signed out everywhere and can no longer sign in, and the tokens that ${name} made are revoked. The audit log keeps what ${name} has changed.`,
    isDestructive: true,
  }),
  restore: ({ id, name }) => ({
    title: `Restore ${name}`,
    change: () => call('restoreAccount', { id }),
    consequence: `${name} can sign in through the OpenID provider again, with the role that it gives.`,
  }),
};

function ResetPassword({ account: { id, name }, onClose }: { account: AdminAccount; onClose: () => void }) {
  return (
    <Confirm
      title={`Reset the password of ${name}?`}
      action={`Reset the password of ${name}`}
      change={() => call('resetPassword', { id })}
      onClose={onClose}
      isDestructive
      result={{
        title: `The new password of ${name}`,
        content: ({ password }) => (
          <Secret value={password} onDone={onClose}>
            {name} signs in with this password. It is shown only now; the account can change it after signing
            in.
          </Secret>
        ),
      }}
    >
      <Text size="md">
        The present password of {name} becomes invalid, and {name} is signed out everywhere.
      </Text>
    </Confirm>
  );
}

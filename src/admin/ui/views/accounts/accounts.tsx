import { Tabs } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminAccount } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { CreationDialog, NameField } from '../../components/creation-dialog.tsx';
import { DialogButton } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { TabList } from '../../components/tab-list.tsx';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../queries.ts';
import { useIsAdmin, useSession, useSignInWays } from '../../session.ts';
import { AccountMenu } from './account-menu.tsx';
import { RoleSelect, roleColumn } from './role.tsx';
import { AddToken, TokenList } from './tokens.tsx';

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
    <Loaded query={accounts}>
      {(data) => (
        <Rows
          label="Accounts"
          rows={data.accounts.filter(({ revokedAt, hasPassword }) => revokedAt === undefined || !hasPassword)}
          keyOf={({ id }) => id}
          columns={session?.role === 'admin' ? [...columns, menu] : columns}
          empty="There is no account."
        />
      )}
    </Loaded>
  );
}

const columns: Column<AdminAccount>[] = [
  { label: 'Name', cell: ({ name }) => name },
  roleColumn,
  { label: 'Signs in with', cell: ({ issuer }) => issuer ?? 'password' },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    label: 'Last sign-in',
    cell: ({ lastSignInAt }) => (lastSignInAt ? <Time at={lastSignInAt} /> : 'never'),
  },
];

/** Creates an account and shows its password once. */
function AddAccount({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  return (
    <CreationDialog
      title="Add an account"
      action="Add the account"
      create={async () => (await call('createAccount', { name, role })).password}
      refreshes={['listAccounts']}
      secretText={`${name} signs in with this password. It is shown only now; the account can change it after signing in.`}
      onClose={onClose}
    >
      <NameField description="A name or an email address" value={name} onChange={setName} />
      <RoleSelect value={role} onChange={setRole} />
    </CreationDialog>
  );
}

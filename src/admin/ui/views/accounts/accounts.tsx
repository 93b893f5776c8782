import { Button, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminAccount } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { useSession, useSignInWays } from '../../session.ts';
import { AccountMenu } from './account-menu.tsx';
import { AddAccount } from './add-account.tsx';
import { roleColumn } from './role.tsx';
import { AddToken, TokenList } from './tokens.tsx';

/** The view of the accounts of admins, and of the tokens with which scripts call the admin API. */
export function AccountsView() {
  const [location, navigate] = useLocation();
  const tab = location.startsWith('/tokens') ? 'tokens' : 'accounts';
  const [isAdding, setAdding] = useState(false);
  const canChange = useSession()?.role === 'admin';
  const ways = useSignInWays();
  // An account is added with a password; those of the OpenID provider appear by themselves.
  const canAdd = canChange && (tab === 'tokens' || ways?.password === true);
  const close = () => setAdding(false);
  return (
    <>
      <ViewHead
        title="Accounts"
        actions={
          canAdd && (
            <Button aria-haspopup="dialog" onClick={() => setAdding(true)}>
              {tab === 'tokens' ? 'Create a token…' : 'Add an account…'}
            </Button>
          )
        }
      >
        Who may sign in here, and the tokens of scripts. A viewer sees everything and changes nothing.
      </ViewHead>
      <Tabs value={tab} onChange={(chosen) => navigate(chosen === 'tokens' ? '/tokens' : '/')}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="accounts">Accounts</Tabs.Tab>
          <Tabs.Tab value="tokens">Tokens of scripts</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="accounts">
          <AccountList />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <TokenList />
        </Tabs.Panel>
      </Tabs>
      {isAdding && (tab === 'tokens' ? <AddToken onClose={close} /> : <AddAccount onClose={close} />)}
    </>
  );
}

function AccountList() {
  const session = useSession();
  const accounts = useQuery({ queryKey: ['accounts'], queryFn: () => call('listAccounts') });
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

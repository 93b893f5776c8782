import { Badge, Button, NumberInput, Select, Tabs } from '@mantine/core';
import { parse } from 'bowser';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminToken, ListedSession } from '../../../sign-in/sign-in.ts';
import { CreationDialog, DialogButton, revokeColumn } from '../../components/dialogs.tsx';
import { Failure } from '../../components/loading.tsx';
import { type Column, LoadedRows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { TabList, ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

/** The view of the browsers in which admins are signed in, and of the tokens with which scripts call the admin API. */
export function AccessView() {
  const [location, navigate] = useLocation();
  const tab = location.startsWith('/tokens') ? 'tokens' : 'sessions';
  const canAdd = useIsAdmin() && tab === 'tokens';
  return (
    <>
      <ViewHead
        title="Access"
        actions={
          canAdd && (
            <DialogButton size="sm" variant="filled" label="Create a token…">
              {(close) => <AddToken onClose={close} />}
            </DialogButton>
          )
        }
      >
        Who is signed in here, and the tokens of scripts. A viewer sees everything and changes nothing.
      </ViewHead>
      <Tabs value={tab} onChange={(chosen) => navigate(chosen === 'tokens' ? '/tokens' : '/')}>
        <TabList labels={{ sessions: 'Sessions', tokens: 'Tokens of scripts' }} />
        <Tabs.Panel value="sessions">
          <SessionList />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <TokenList />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** Lists the sessions of everybody, or a viewer's own, and ends them one by one, or all own ones but this one. */
function SessionList() {
  // A session may have ended since the list was open last.
  const sessions = useRead('listSessions', {}, { staleTime: 0 });
  const others = sessions.data?.sessions.filter(({ isOwn, isCurrent }) => isOwn && !isCurrent) ?? [];
  const end = useChange(async (ended: ListedSession[]) => {
    for (const { id } of ended) await call('endSession', { id });
  });
  const button: Column<ListedSession> = {
    label: 'End',
    cell: (session) =>
      session.isCurrent ? (
        <Badge variant="default" tt="none">
          this one
        </Badge>
      ) : (
        <Button
          size="compact-xs"
          disabled={end.isPending}
          aria-label={`End the session of ${session.name} in ${browserName(session)}`}
          onClick={() => end.mutate([session])}
        >
          End
        </Button>
      ),
  };
  return (
    <>
      <Failure error={end.error} />
      <LoadedRows
        query={sessions}
        rowsOf={(data) => data.sessions}
        label="Sessions"
        columns={[...sessionColumns, button]}
        empty="There is no session."
      />
      {others.length > 0 && (
        <Button size="sm" mt="sm" disabled={end.isPending} onClick={() => end.mutate(others)}>
          Sign out everywhere else
        </Button>
      )}
    </>
  );
}

type Role = AdminToken['role'];

/** The column of the role of sessions and tokens. */
const roleColumn = {
  label: 'Role',
  cell: ({ role }: { role: Role }) => (
    <Badge variant="default" tt="none">
      {role}
    </Badge>
  ),
};

const sessionColumns: Column<ListedSession>[] = [
  { label: 'Name', cell: ({ name }) => name },
  roleColumn,
  { label: 'Browser', cell: (session) => browserName(session) },
  { label: 'From', cell: ({ address }) => address ?? 'not known' },
  { label: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Last used', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
];

/** Returns the name of a browser and its system, e.g. "Firefox on Linux", as far as the header tells them. */
function browserName({ userAgent = '' }: ListedSession): string {
  // The library throws if the text is empty.
  if (userAgent === '') return 'not known';
  const { browser, os } = parse(userAgent);
  const name = browser.name || userAgent.slice(0, 40);
  return os.name ? `${name} on ${os.name}` : name;
}

/** The tokens of scripts that are not revoked. */
function TokenList() {
  const tokens = useRead('listAdminTokens', {});
  const canChange = useIsAdmin();
  return (
    <LoadedRows
      query={tokens}
      rowsOf={(data) => data.tokens.filter(({ revokedAt }) => revokedAt === undefined)}
      label="Tokens of scripts"
      columns={canChange ? [...tokenColumns, revocation] : tokenColumns}
      empty={
        <>
          There is no token. A script sends one as <code>Authorization: Bearer …</code> and can do what its
          role allows; the session menu has the description of the API.
        </>
      }
    />
  );
}

const tokenColumns: Column<AdminToken>[] = [
  { label: 'Name', cell: ({ name }) => name },
  roleColumn,
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Made by', cell: ({ maker }) => maker },
  { label: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
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

/** Chooses the role of a token. */
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

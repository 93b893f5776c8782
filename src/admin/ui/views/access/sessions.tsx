import { Button } from '@mantine/core';
import { parse } from 'bowser';
import type { ListedSession } from '../../../sign-in/sign-in.ts';
import { Failure } from '../../components/loading.tsx';
import { type Column, LoadedRows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';

/** Lists the sessions of everybody, or a viewer's own, and ends them one by one, or all own ones but this one. */
export function SessionsView() {
  // A session may have ended since the list was open last.
  const sessions = useRead('listSessions', {}, { staleTime: 0 });
  const others = sessions.data?.sessions.filter(({ isOwn, isCurrent }) => isOwn && !isCurrent) ?? [];
  const end = useChange(async (ended: ListedSession[]) => {
    for (const { id } of ended) await call('endSession', { id });
  });
  const button: Column<ListedSession> = {
    label: 'End',
    isAction: true,
    cell: (session) =>
      session.isCurrent ? (
        'this one'
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
      <ViewHead
        title="Sessions"
        actions={
          others.length > 0 && (
            <Button disabled={end.isPending} onClick={() => end.mutate(others)}>
              Sign out everywhere else
            </Button>
          )
        }
      >
        The browsers in which somebody is signed in. A viewer sees everything and changes nothing.
      </ViewHead>
      <Failure error={end.error} />
      <LoadedRows
        query={sessions}
        rowsOf={(data) => data.sessions}
        label="Sessions"
        columns={[...sessionColumns, button]}
        empty="There is no session."
      />
    </>
  );
}

const sessionColumns: Column<ListedSession>[] = [
  { label: 'Name', cell: ({ name }) => name },
  { label: 'Role', cell: ({ role }) => role },
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

import { Badge, Button, Stack, Text } from '@mantine/core';
import { parse } from 'bowser';
import type { OwnSession } from '../contract/accounts.ts';
import { call } from './api.ts';
import { Dialog } from './components/dialogs.tsx';
import { Failure } from './components/loading.tsx';
import { type Column, LoadedRows } from './components/rows.tsx';
import { Time } from './components/text.tsx';
import { useChange, useRead } from './queries.ts';

/** Lists the sessions of the signed-in account, and ends them one by one or all but this one. */
export function OwnSessions({ onClose }: { onClose: () => void }) {
  // A session may have ended since the dialog was open last.
  const sessions = useRead('listOwnSessions', {}, { staleTime: 0 });
  const others = sessions.data?.sessions.filter(({ isCurrent }) => !isCurrent) ?? [];
  const endAll = async (ended: OwnSession[]) => {
    for (const { id } of ended) await call('endOwnSession', { id });
  };
  const end = useChange(endAll);
  const button: Column<OwnSession> = {
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
          aria-label={`End the session in ${browserName(session)}`}
          onClick={() => end.mutate([session])}
        >
          End
        </Button>
      ),
  };
  return (
    <Dialog onClose={onClose} title="Your sessions" size="lg">
      <Stack>
        <Text>
          The browsers in which you are signed in. End those that you do not know, and change your password.
        </Text>
        <Failure error={end.error} />
        <LoadedRows
          query={sessions}
          rowsOf={(data) => data.sessions}
          label="Your sessions"
          columns={[...columns, button]}
          empty="There is no session."
        />
        {others.length > 1 && (
          <Button size="sm" ml="auto" onClick={() => end.mutate(others)}>
            End all others
          </Button>
        )}
      </Stack>
    </Dialog>
  );
}

const columns: Column<OwnSession>[] = [
  { label: 'Browser', cell: (session) => browserName(session) },
  { label: 'From', cell: ({ address }) => address ?? 'not known' },
  { label: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
];

/** Returns the name of a browser and its system, e.g. "Firefox on Linux", as far as the header tells them. */
function browserName({ userAgent = '' }: OwnSession): string {
  // The library throws if the text is empty.
  if (userAgent === '') return 'not known';
  const { browser, os } = parse(userAgent);
  const name = browser.name || userAgent.slice(0, 40);
  return os.name ? `${name} on ${os.name}` : name;
}

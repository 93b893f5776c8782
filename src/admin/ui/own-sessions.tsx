import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { parse } from 'bowser';
import type { OwnSession } from '../contract/accounts.ts';
import { call } from './api.ts';
import { Dialog } from './components/dialog.tsx';
import { Loaded } from './components/loading.tsx';
import { type Column, Rows } from './components/rows.tsx';
import { Time } from './components/time.tsx';
import { queryClient } from './session.ts';

const sessionsKey = ['own-sessions'];

/** Lists the sessions of the signed-in account, and ends them one by one or all but this one. */
export function OwnSessions({ onClose }: { onClose: () => void }) {
  const sessions = useQuery({
    queryKey: sessionsKey,
    queryFn: () => call('listOwnSessions'),
    // A session may have ended since the dialog was open last.
    staleTime: 0,
  });
  const end = useMutation({
    mutationFn: async (ended: OwnSession[]) => {
      for (const { id } of ended) await call('endOwnSession', { id });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: sessionsKey }),
  });
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
          variant="default"
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
        <Text size="sm">
          The browsers in which you are signed in. End those that you do not know, and change your password.
        </Text>
        {end.error && (
          <Alert color="red" role="alert">
            {end.error.message}
          </Alert>
        )}
        <Loaded query={sessions}>
          {(data) => <SessionRows sessions={data.sessions} button={button} onEnd={end.mutate} />}
        </Loaded>
      </Stack>
    </Dialog>
  );
}

function SessionRows({
  sessions,
  button,
  onEnd,
}: {
  sessions: OwnSession[];
  button: Column<OwnSession>;
  onEnd: (ended: OwnSession[]) => void;
}) {
  const others = sessions.filter(({ isCurrent }) => !isCurrent);
  return (
    <>
      <Rows
        label="Your sessions"
        rows={sessions}
        keyOf={({ id }) => id}
        columns={[...columns, button]}
        empty="There is no session."
      />
      {others.length > 1 && (
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onEnd(others)}>
            End all others
          </Button>
        </Group>
      )}
    </>
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

import { Anchor, Button, Card, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ConnectionHealth } from '../../../contract/overview.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Time } from '../../components/time.tsx';
import { useSession } from '../../session.ts';

type Paused = NonNullable<ConnectionHealth['paused']>;

/** What waits in a connection that is paused because the database was restored, and the button with which it goes on. */
export function PausedConnection({ id, paused }: { id: string; paused: Paused }) {
  const total = countOf(paused);
  return (
    <Card
      withBorder
      padding="sm"
      role="status"
      style={{ borderInlineStart: '3px solid var(--mantine-color-red-filled)' }}
    >
      <Group justify="space-between" gap="xs">
        <div style={{ flex: '1 1 300px' }}>
          <Text size="sm" fw={600}>
            The connection {id} is paused
          </Text>
          <Text size="sm" component="div">
            The database was restored, <Time at={paused.since} />. Only people whom the identity provider
            sends again are provisioned: start a full synchronization there, then let the connection go on.{' '}
            <Anchor
              component={Link}
              href={`~/admin/people?connection=${encodeURIComponent(id)}&state=dirty`}
              inherit
              underline="always"
            >
              {total === 0 ? 'No changes wait' : `The changes of ${peopleText(total)} wait`}
            </Anchor>
            {total > 0 && `: ${changesText(paused)}`}.
          </Text>
        </div>
        <ResumeButton id={id} paused={paused} />
      </Group>
    </Card>
  );
}

function ResumeButton({ id, paused }: { id: string; paused: Paused }) {
  const [isAsking, setIsAsking] = useState(false);
  const queries = useQueryClient();
  const resume = useMutation<void, Error, void>({
    mutationFn: () => call('resumeConnection', { id }),
    onSuccess: async () => {
      setIsAsking(false);
      await queries.invalidateQueries();
    },
  });
  if (useSession()?.role !== 'admin') return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsAsking(true)}>
        Let it go on
      </Button>
      {isAsking && (
        <Confirm
          title={`Let ${id} go on?`}
          action={`Let ${id} go on`}
          mutation={resume}
          isDestructive
          onClose={() => setIsAsking(false)}
        >
          <Text size="sm">
            {countOf(paused) === 0
              ? 'No changes wait.'
              : `The travelers of ${peopleText(countOf(paused))} are read again, and the stored values are sent where they differ: ${changesText(paused)}.`}
          </Text>
          {!paused.isImported && (
            <Text size="sm" fw={600}>
              No import has ended since the pause, so more people may be concerned. Wait for it if you can.
            </Text>
          )}
        </Confirm>
      )}
    </>
  );
}

function countOf({ people: { create, reactivate, end, change } }: Paused): number {
  return create + reactivate + end + change;
}

function peopleText(count: number): string {
  return count === 1 ? '1 person' : `${count.toLocaleString()} people`;
}

function changesText({ people: { create, reactivate, end, change } }: Paused): string {
  const parts: [number, string][] = [
    [create, 'would be created'],
    [reactivate, 'activated again'],
    [end, 'archived or deleted'],
    [change, 'changed in another way'],
  ];
  return parts
    .flatMap(([count, text]) => (count > 0 ? [`${count.toLocaleString()} ${text}`] : []))
    .join(', ');
}

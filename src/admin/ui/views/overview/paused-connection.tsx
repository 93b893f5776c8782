import { Text } from '@mantine/core';
import type { ConnectionHealth } from '../../../contract/overview.ts';
import { call } from '../../api.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { ViewLink } from '../../components/text.tsx';
import { countText, numberText } from '../../components/texts.ts';
import { Time } from '../../components/time.tsx';
import { useIsAdmin } from '../../session.ts';
import { Notice } from './panel.tsx';

type Paused = NonNullable<ConnectionHealth['paused']>;

/** What waits in a paused connection, and the button with which it goes on. */
export function PausedConnection({ id, paused }: { id: string; paused: Paused }) {
  const total = countOf(paused);
  const waiting = `~/admin/people?connection=${encodeURIComponent(id)}&state=dirty`;
  return (
    <Notice
      title={`The connection ${id} is paused`}
      color="color-red"
      action={<ResumeButton id={id} paused={paused} />}
    >
      Paused <Time at={paused.since} />, by an admin or because the database was restored. Only people whom
      the identity provider sends since then are provisioned. After a restore, start a full synchronization
      there, then let the connection go on.{' '}
      <ViewLink href={waiting} inherit isInText>
        {total === 0 ? 'No changes wait' : `The changes of ${peopleText(total)} wait`}
      </ViewLink>
      {total > 0 && `: ${changesText(paused)}`}.
    </Notice>
  );
}

function ResumeButton({ id, paused }: { id: string; paused: Paused }) {
  if (!useIsAdmin()) return null;
  return (
    <ConfirmButton
      label="Let it go on"
      title={`Let ${id} go on?`}
      action={`Let ${id} go on`}
      change={() => call('resumeConnection', { id })}
      refreshes="all"
      isDestructive
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
    </ConfirmButton>
  );
}

function countOf({ people: { create, reactivate, end, change } }: Paused): number {
  return create + reactivate + end + change;
}

function peopleText(count: number): string {
  return countText(count, 'person', 'people');
}

function changesText({ people: { create, reactivate, end, change } }: Paused): string {
  const parts: [number, string][] = [
    [create, 'would be created'],
    [reactivate, 'activated again'],
    [end, 'archived or deleted'],
    [change, 'changed in another way'],
  ];
  return parts.flatMap(([count, text]) => (count > 0 ? [`${numberText(count)} ${text}`] : [])).join(', ');
}

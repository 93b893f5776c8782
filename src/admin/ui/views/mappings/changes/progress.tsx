import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ViewLink } from '../../../components/text.tsx';
import { countText } from '../../../components/texts.ts';
import type { Result } from '../../../requests/api.ts';
import { useRead } from '../../../requests/queries.ts';

/** A mapping that this admin has just put in force. */
export interface Applied {
  version: number;
  /** The people who are translated again, as the preview has counted them. */
  people: number;
}

/** The intervals at which the progress is read: while people follow, and otherwise. In milliseconds. */
const BUSY_MS = 1_000;
const IDLE_MS = 15_000;

/** The number up to which the service counts the people who are left. */
const MAX_LEFT = 10_000;

interface MappingProgressProps {
  connection: string;
  applied: Applied | undefined;
  onClose: () => void;
}

/** Says what happens after a mapping was applied, here or elsewhere: how many people follow, and where to look. */
export function MappingProgress({ connection, applied, onClose }: MappingProgressProps) {
  const { data } = useRead(
    'readMappingProgress',
    { connection },
    { refetchInterval: ({ state: { data: read } }) => (read?.state === 'running' ? BUSY_MS : IDLE_MS) },
  );
  if (!data || (data.state === 'done' && !applied)) return null;
  const { color, text } = look(data, applied);
  return (
    <Alert
      {...{ color, onClose }}
      role="status"
      mb="md"
      withCloseButton={data.state === 'done'}
      title={applied ? `Version ${applied.version} is in force for ${connection}` : undefined}
    >
      <Text component="div">
        {text} <Places connection={connection} state={data.state} />
      </Text>
    </Alert>
  );
}

type Progress = Result<'readMappingProgress'>;

function look({ state, left }: Progress, applied: Applied | undefined): { color: string; text: string } {
  switch (state) {
    case 'done':
      return {
        color: 'green',
        text: `✓ Done: ${countText(applied?.people ?? 0, 'person is', 'people are')} translated with it.`,
      };
    case 'running':
      return { color: 'blue', text: runningText(left, applied) };
  }
}

function runningText(left: number, applied: Applied | undefined): string {
  const rest = `${left === MAX_LEFT ? 'at least ' : ''}${countText(left, 'person', 'people')}`;
  const whole = applied
    ? `${countText(applied.people, 'person is', 'people are')} translated again`
    : 'Everybody is translated again';
  return `↻ ${whole}; ${rest} left. A call is sent only for those whose values change.`;
}

/** Where the admin sees the effect. */
function Places({ connection, state }: { connection: string; state: Progress['state'] }) {
  const id = encodeURIComponent(connection);
  const link = (href: string, children: ReactNode) => (
    <ViewLink href={`~/admin${href}`} isInText>
      {children}
    </ViewLink>
  );
  return (
    <>
      {state === 'running' && <>{link(`/people?connection=${id}&state=dirty`, 'Who waits')} · </>}
      {link(`/traffic?connection=${id}&direction=travel`, 'What is sent')} ·{' '}
      {link(`/people/findings?connection=${id}`, 'What was left out')}
    </>
  );
}

import { Text } from '@mantine/core';
import type { PersonExplanation } from '../../api-client.ts';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';

type Exchange = PersonExplanation['exchanges'][number];

/** The last requests of the identity provider about the person, and the calls for them, newest first. */
export function Timeline({ person: { exchanges } }: { person: PersonExplanation }) {
  return (
    <Rows
      label="Timeline"
      rows={exchanges}
      keyOf={({ position }) => position}
      columns={columns}
      empty="The log of exchanges has nothing about this person: it keeps requests for some days."
    />
  );
}

const columns = [
  { label: 'When', cell: ({ at }: Exchange) => <Time at={at} /> },
  {
    label: 'Who',
    cell: ({ direction }: Exchange) => (direction === 'scim' ? '← identity provider' : '→ travel service'),
  },
  {
    label: 'Request',
    cell: ({ method, path }: Exchange) => (
      <Text span size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {method} {path}
      </Text>
    ),
  },
  { label: 'Answer', cell: answerText },
  { label: 'Duration', cell: ({ ms }: Exchange) => `${Math.round(ms)} ms` },
];

function answerText({ status, error }: Exchange): string {
  const isFailed = status === undefined || status >= 400;
  return [isFailed ? '✗' : '✓', status ?? 'no answer', error ?? ''].join(' ').trim();
}

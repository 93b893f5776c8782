import type { Mark } from '../../components/texts.ts';
import type { Result } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';

/** The interval at which the numbers are read again, in milliseconds. */
export const READ_EVERY_MS = 10_000;
/** The same while the demo day is played. */
const FOLLOW_EVERY_MS = 500;

/** The state of the service. */
export function useOverview() {
  return useRead(
    'readOverview',
    {},
    {
      refetchInterval: ({ state: { data } }) =>
        data?.demoDay === 'playing' ? FOLLOW_EVERY_MS : READ_EVERY_MS,
    },
  );
}

/** The answer of the operation `readOverview`. */
export type Overview = Result<'readOverview'>;

/** The symbol says the same as the colour. */
export const stateMarks: Record<Overview['state'], Required<Mark>> = {
  inStep: { symbol: '✓', color: 'gray', label: 'Well' },
  working: { symbol: '↻', color: 'blue', label: 'At work' },
  attention: { symbol: '!', color: 'yellow', label: 'Needs attention' },
  failing: { symbol: '✗', color: 'red', label: 'Failing' },
  empty: { symbol: '○', color: 'gray', label: 'Not in use yet' },
};

/** The marks of conditions, and of the cards of connections that have one. */
export const conditionMarks = {
  failing: stateMarks.failing,
  warning: stateMarks.attention,
} satisfies Record<Overview['conditions'][number]['severity'], unknown>;

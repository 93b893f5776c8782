import { useRead } from '../../queries.ts';

/** The interval at which the numbers are read again, in milliseconds. */
const READ_EVERY_MS = 10_000;
/** The same while the demo day is played. */
const FOLLOW_EVERY_MS = 500;

/** The same while the log is being counted. */
const READ_SOON_MS = 1_000;

/** The state of the service. */
export function useOverview() {
  return useRead(
    'readOverview',
    {},
    {
      refetchInterval: ({ state: { data } }) =>
        data?.demoDay.phase === 'playing' ? FOLLOW_EVERY_MS : READ_EVERY_MS,
    },
  );
}

/** The numbers of the charts. */
export function useActivity() {
  return useRead(
    'readActivity',
    {},
    {
      refetchInterval: ({ state: { data } }) =>
        data && isPartial(data.day, data.completeSince) ? READ_SOON_MS : READ_EVERY_MS,
    },
  );
}

/** True if the log is not counted yet from the second span on. The first one begins before the day does. */
export function isPartial([first, second]: { from: string }[], completeSince: string): boolean {
  return first !== undefined && completeSince > (second ?? first).from;
}

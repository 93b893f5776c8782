import { useRead } from '../../requests/queries.ts';

/** The interval at which what waits is read again, in milliseconds. */
const READ_EVERY_MS = 10_000;

/** Reads what waits for a decision: the groups of held people, one for each connection and cause, and proposed rules. */
export function useHolds() {
  return useRead('listHolds', {}, { refetchInterval: READ_EVERY_MS });
}

/** The number of held people and of proposed rules, for the navigation. */
export function useWaitingCount(): number | undefined {
  const { data } = useHolds();
  return data && data.people + data.proposed.length;
}

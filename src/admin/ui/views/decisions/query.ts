import { useRead } from '../../requests/queries.ts';

/** The interval at which the groups are read again, in milliseconds. */
const READ_EVERY_MS = 10_000;

/** Reads the groups of held people, one for each connection and cause. */
export function useHolds() {
  return useRead('listHolds', {}, { refetchInterval: READ_EVERY_MS });
}

/** The number of held people, for the navigation. */
export function useWaitingCount(): number | undefined {
  return useHolds().data?.people;
}

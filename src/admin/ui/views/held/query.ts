import { useRead } from '../../queries.ts';

/** The interval at which the groups are read again, in milliseconds. */
const READ_EVERY_MS = 10_000;

/** Reads the groups of held people, one for each connection and cause. */
export function useHolds() {
  return useRead('listHolds', {}, { refetchInterval: READ_EVERY_MS });
}

/** The number of held people, for the navigation. Nobody is asked to decide about the people of the demo day. */
export function useHeldCount(): number | undefined {
  const { data } = useHolds();
  const invented = (data?.groups ?? []).filter(({ connection }) => connection === 'demo');
  return data && data.people - invented.reduce((sum, { people }) => sum + people, 0);
}

import { useQuery } from '@tanstack/react-query';
import { api, call } from '../../session.ts';

/** The key of everything that is read about held changes. */
export const holdsKey = ['holds'];

/** How often the groups are read again, in milliseconds. */
const READ_EVERY_MS = 10_000;

/** What is held, by connection and cause. */
export function useHolds() {
  return useQuery({
    queryKey: holdsKey,
    queryFn: () => call(api.holds.listHolds()),
    refetchInterval: READ_EVERY_MS,
  });
}

/** The number of held people, for the navigation. */
export function useHeldCount(): number | undefined {
  return useHolds().data?.people;
}

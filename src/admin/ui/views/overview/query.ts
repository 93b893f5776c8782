import { useQuery } from '@tanstack/react-query';
import { api, call } from '../../session.ts';

/** How often the numbers are read again, in milliseconds. */
const READ_EVERY_MS = 10_000;
/** The same while the demo day is played. */
const FOLLOW_EVERY_MS = 500;

/** The state of the service. */
export function useOverview() {
  return useQuery({
    queryKey: ['overview'],
    queryFn: () => call(api.overview.readOverview()),
    refetchInterval: ({ state: { data } }) =>
      data?.demoDay.phase === 'playing' ? FOLLOW_EVERY_MS : READ_EVERY_MS,
  });
}

/** The numbers of the charts. */
export function useActivity() {
  return useQuery({
    queryKey: ['activity'],
    queryFn: () => call(api.overview.readActivity()),
    refetchInterval: READ_EVERY_MS,
  });
}

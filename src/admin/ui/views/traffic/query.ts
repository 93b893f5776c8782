import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import { useAddressFilter } from '../../components/filters.tsx';
import { call, type Input } from '../../requests/api.ts';
import { queryClient, usePages, useRead } from '../../requests/queries.ts';

const queryNames = [
  'connection',
  'person',
  'direction',
  'method',
  'status',
  'path',
  'since',
  'until',
] as const;
const names = [...queryNames, 'polls'] as const;

/** The filters, as they are in the address. */
export type TrafficFilter = Pick<Input<'listExchanges'>, (typeof queryNames)[number]> & {
  /** Shows also the calls that the bridge makes at an interval. */
  polls?: 'true';
};

/** The filters of the address, and a function that changes some of them. */
export function useTrafficFilter() {
  return useAddressFilter<TrafficFilter>(names);
}

function toInput({ polls, ...filter }: TrafficFilter): Input<'listExchanges'> {
  return polls === 'true' ? filter : { ...filter, hidesPolls: 'true' };
}

/** The interval at which new exchanges are read from the log, in milliseconds. */
const POLL_MS = 2_000;
const PAGE = 100;
const MAX_NEW = 200;

/** The exchanges of a filter that came after the first page was read, the newest first. */
interface News {
  exchanges: Exchange[];
  head: string;
}

/** The newest exchanges, read on in both directions: older ones in pages, new ones every two seconds unless it is paused. */
export function useTraffic(filter: TrafficFilter, isPaused: boolean) {
  const input = toInput(filter);
  const first = { ...input, limit: PAGE };
  const pages = usePages('listExchanges', first, {
    ...{ cursor: 'before', staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  });
  const newest = pages.data?.pages[0]?.head;
  const newsKey = ['new exchanges', filter, newest];
  const news = useQuery({
    queryKey: newsKey,
    enabled: newest !== undefined && !isPaused && filter.until === undefined,
    refetchInterval: POLL_MS,
    gcTime: 0,
    queryFn: async (): Promise<News> => {
      const known = queryClient.getQueryData<News>(newsKey) ?? { exchanges: [], head: newest ?? '0' };
      const page = await call('listExchanges', { ...input, limit: MAX_NEW, after: known.head });
      // There are more than a page can have: the list begins anew with the newest.
      if (page.next !== undefined) void queryClient.resetQueries({ queryKey: ['listExchanges', first] });
      return { exchanges: [...page.exchanges, ...known.exchanges], head: page.head };
    },
  });
  useLookFurther(pages);
  // Behind a page that is not full, a filter selects so little that looking further is the choice of the admin.
  const hasFullPage = pages.data?.pages.at(-1)?.exchanges.length === PAGE;
  const readOlder = () => {
    if (hasFullPage && pages.hasNextPage && !pages.isFetching && !pages.isError) void pages.fetchNextPage();
  };
  return { pages, news, hasFullPage, readOlder };
}

/** The number of pages that are read at once for a filter that selects little. */
const MAX_PAGES = 20;

/** A page looks at a limited part of the log: while nothing is found, the next one is read. */
function useLookFurther({
  data,
  hasNextPage,
  isFetching,
  fetchNextPage,
}: ReturnType<typeof useTraffic>['pages']) {
  const found = data?.pages.reduce((sum, page) => sum + page.exchanges.length, 0) ?? 0;
  const isSearching = hasNextPage && !isFetching && found < PAGE / 2 && (data?.pages.length ?? 0) < MAX_PAGES;
  useEffect(() => {
    if (isSearching) void fetchNextPage();
  }, [isSearching, fetchNextPage]);
}

/** Reads the retention time of the log of exchanges, and its connections. */
export function useExchangeLog() {
  return useRead('describeExchangeLog', {});
}

import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';

/** The parameters of a page; `after` is the `next` of the page before. */
interface PageParameters {
  limit: number;
  after?: string;
}

/** Reads a list of the travel service page by page. */
export function usePages<Page extends { next?: string | undefined }>(
  queryKey: QueryKey,
  read: (page: PageParameters) => Promise<Page>,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read({ limit: 50, ...(pageParam && { after: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
}

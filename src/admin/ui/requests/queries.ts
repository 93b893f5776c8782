import {
  type InfiniteData,
  QueryClient,
  type QueryKey,
  type UseInfiniteQueryOptions,
  type UseQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { type Input, type OperationName, RequestFailure, type Result, request } from './api.ts';

/** The cache of what was read. A failure that the caller can correct is not repeated. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) =>
        count < 2 && !(error instanceof RequestFailure && error.status in clientErrors),
    },
  },
});

const clientErrors = { 400: true, 401: true, 403: true, 404: true, 409: true, 422: true };

type ReadOptions<T> = Pick<
  UseQueryOptions<T>,
  'enabled' | 'gcTime' | 'placeholderData' | 'refetchInterval' | 'staleTime'
>;

/** Reads the result of an operation. The name of the operation and its input are the key of the query. */
export function useRead<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: ReadOptions<Result<Name>> = {},
) {
  return useQuery<Result<Name>>({
    queryKey: [name, input],
    queryFn: ({ signal }) => request(name, input, signal),
    ...options,
  });
}

type PageOptions<Page> = Pick<
  UseInfiniteQueryOptions<Page, Error, InfiniteData<Page>, QueryKey, string>,
  'gcTime' | 'refetchInterval' | 'refetchOnWindowFocus' | 'staleTime'
>;

/** The operations that return a list page by page. */
type PagedOperation = {
  [Name in OperationName]: Result<Name> extends { next?: string | number | undefined } ? Name : never;
}[OperationName];

/** Reads a list page by page. `cursor` is the parameter that gets the `next` of the page before. */
export function usePages<Name extends PagedOperation>(
  name: Name,
  input: Input<Name>,
  { cursor = 'after', ...options }: PageOptions<Result<Name>> & { cursor?: 'before' | 'after' } = {},
) {
  return useInfiniteQuery<Result<Name>, Error, InfiniteData<Result<Name>>, QueryKey, string>({
    // A single page of the same list may be read elsewhere.
    queryKey: [name, input, 'pages'],
    queryFn: ({ pageParam }) => request(name, { ...input, [cursor]: pageParam || undefined }),
    initialPageParam: '',
    // Every page of these operations has `next`, which the compiler does not see in all of them at once.
    getNextPageParam: (page) => Object(page).next?.toString(),
    ...options,
  });
}

/** Reads again what is shown of the results of these operations, or everything that is shown. */
export function refresh(names?: OperationName[]): Promise<void> {
  const isMeant = (name: unknown) => names === undefined || names.some((one) => one === name);
  return queryClient.invalidateQueries({ predicate: ({ queryKey: [name] }) => isMeant(name) });
}

/**
 * A change by an admin. Afterwards, and also after a refusal, what is shown is read again, because it may be out of date: the results of
 * `refreshes`, or everything.
 */
export function useChange<T, Subject = void>(
  change: (subject: Subject) => Promise<T>,
  { refreshes, onDone }: { refreshes?: OperationName[] | undefined; onDone?: (result: T) => void } = {},
) {
  return useMutation<T, Error, Subject>({
    mutationFn: change,
    ...(onDone && { onSuccess: onDone }),
    onSettled: () => refresh(refreshes),
  });
}

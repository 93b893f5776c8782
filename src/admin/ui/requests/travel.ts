import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { RequestFailure, send } from './api.ts';

/** A resource of the travel service, as its API answers it. */
export interface TravelResource extends Record<string, unknown> {
  id: string;
  type: string;
  createdAt: string;
}

/** Calls the API of the embedded travel service on the session of the page, and returns the `data` of its answer. `path` is that below `/api`. */
export async function callTravel(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  data?: object,
): Promise<TravelResource> {
  const headers: Record<string, string> = data ? { 'Content-Type': 'application/json' } : {};
  const body = data ? JSON.stringify({ data }) : null;
  return Object(await send(travelUrl(path), { method, headers, body })).data;
}

function travelUrl(path: string): string {
  return `/admin/api/travel-api${path}`;
}

/** Reads something of the travel API: a resource, or its description. */
export function useTravel<T>(path: string, options: { enabled?: boolean; staleTime?: number } = {}) {
  return useQuery<T>({
    queryKey: ['travel-api', path],
    queryFn: ({ signal }) => get<T>(path, signal),
    ...options,
  });
}

function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  // The API's own description says what the answer is.
  return send(travelUrl(path), { method: 'GET', headers: {}, body: null }, signal) as Promise<T>;
}

/** A page of a list. */
export interface TravelPage {
  data: TravelResource[];
  meta: { total?: number; offset?: number; limit: number; nextAfter?: string };
}

const LIMIT = 100;

/** Reads a list page by page, at most `maxPages`. */
export function useTravelPages(
  path: string,
  query: Record<string, string>,
  { maxPages = Number.POSITIVE_INFINITY, enabled = true } = {},
) {
  return useInfiniteQuery<TravelPage, Error, InfiniteData<TravelPage>, unknown[], Record<string, string>>({
    queryKey: ['travel-api', path, query],
    queryFn: ({ pageParam, signal }) => {
      const all = new URLSearchParams({ ...query, limit: String(LIMIT), ...pageParam });
      return get<TravelPage>(`${path}?${all}`, signal);
    },
    initialPageParam: {},
    getNextPageParam: ({ meta }, pages) => (pages.length < maxPages ? nextPage(meta) : undefined),
    refetchOnWindowFocus: false,
    enabled,
  });
}

function nextPage({ total, offset = 0, limit, nextAfter }: TravelPage['meta']) {
  if (total === undefined) return nextAfter === undefined ? undefined : { after: nextAfter };
  return offset + limit < total ? { offset: String(offset + limit) } : undefined;
}

/** True if the travel service has no such resource, e.g. because it was deleted. */
export function isGone(error: Error | null): boolean {
  return error instanceof RequestFailure && error.status === 404;
}

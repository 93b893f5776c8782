import type { Query } from './context.ts';
import { badRequest } from './scim-error.ts';

/** The largest page; ServiceProviderConfig says the same of filters. */
export const MAX_COUNT = 200;

/** Which part of a list is wanted; `startIndex` counts from 1. */
export interface Paging {
  startIndex: number;
  count: number;
}

/**
 * Reads startIndex and count (RFC 7644 §3.4.2.4): "A value less than 1 SHALL be interpreted as 1", "A negative value
 * SHALL be interpreted as "0"".
 */
export function pagingOf({ startIndex, count }: Query): Paging {
  return {
    startIndex: Math.max(1, integerIn('startIndex', startIndex) ?? 1),
    count: Math.min(MAX_COUNT, Math.max(0, integerIn('count', count) ?? MAX_COUNT)),
  };
}

function integerIn(name: string, parameter: unknown): number | undefined {
  if (parameter === undefined) return undefined;
  if (typeof parameter !== 'string' || !/^[+-]?\d{1,100}$/.test(parameter)) {
    throw badRequest('invalidValue', `${name} must be an integer.`);
  }
  return Math.min(Number(parameter), Number.MAX_SAFE_INTEGER);
}

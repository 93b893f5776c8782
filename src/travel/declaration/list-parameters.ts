import { z } from 'zod';
import { foldCase } from '../../schema/case-fold.ts';
import { deliveryStatuses } from '../webhooks/ports.ts';

/** The features of a list, which decide its query parameters (specification, "Collection endpoints"). */
export interface ListFeatures {
  /** If true, cursor pages are available. */
  cursor?: boolean;
  /** The sortable fields besides `createdAt`, each of them required. If empty, the list has no parameter `sortBy`. */
  sortBy?: string[];
  filters?: ('archived' | 'emails' | 'status')[];
}

/** The field by which every list can be sorted. */
export const CREATED = 'createdAt';

/** The schema of the query parameters of one list. */
export type ListParameters = ReturnType<typeof listParameters>;

/**
 * Makes the schema of the query parameters of a list, in the order of the OpenAPI document (specification, "Pagination, sorting and filters
 * for collections"). The error of each parameter names the values that it may have.
 */
export function listParameters(
  { cursor = false, sortBy = [], filters = [] }: ListFeatures,
  others: z.ZodRawShape = {},
) {
  const all = {
    pageKind: word(cursor ? ['offset', 'cursor'] : ['offset'])
      .default('offset')
      .describe('The kind of pagination.'),
    limit: wholeNumber({ minimum: 1, maximum: 100, otherwise: 10 }).describe('The size of a page.'),
    offset: wholeNumber({ minimum: 0, otherwise: 0 }).describe(
      'The number of items to skip; only with offset pages.',
    ),
    after: cursorText.describe('The cursor of the first item; with cursor pages only, not with `before`.'),
    before: cursorText.describe('The cursor of the last item; with cursor pages only, not with `after`.'),
    order: word(['asc', 'desc']).default('asc').describe('Ascending or descending.'),
    sortBy: z
      .enum([CREATED, ...sortBy], { error: `one of ${[CREATED, ...sortBy].join(', ')}` })
      .default(CREATED)
      .describe('The field that the list is sorted by.'),
    archived: word(['true', 'false'])
      .transform((text) => text === 'true')
      .optional()
      .describe('Only archived resources, or only others.'),
    emails: addresses.describe('Only the users with these addresses, separated by commas.'),
    status: z
      .enum(deliveryStatuses, { error: `one of ${deliveryStatuses.join(', ')}` })
      .optional()
      .describe('Only deliveries in this state.'),
  };
  const absent = [
    ...(cursor ? [] : ['after', 'before']),
    ...(sortBy.length > 0 ? [] : ['sortBy']),
    ...['archived', 'emails', 'status'].filter((name) => !filters.some((filter) => filter === name)),
  ];
  const offered = Object.entries(all).filter(([name]) => !absent.includes(name));
  // The members that are left out are optional or have a default in `parsePageQuery`.
  return z.strictObject({ ...(Object.fromEntries(offered) as typeof all), ...others });
}

/** The description of a valid cursor, for errors. */
export const CURSOR = 'a cursor of this list, in the same order';

const cursorText = z.string(CURSOR).optional();

function word<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: words.join(' or ') });
}

/** The largest value of an `int32`. */
const MAX_INTEGER = 2 ** 31 - 1;

function wholeNumber({ otherwise, ...range }: { minimum: number; maximum?: number; otherwise: number }) {
  const { minimum, maximum = MAX_INTEGER } = range;
  const error = `a whole number from ${minimum} to ${maximum}`;
  const isAllowed = (digits: string) =>
    /^\d{1,10}$/.test(digits) && Number(digits) >= minimum && Number(digits) <= maximum;
  return z
    .string(error)
    .refine(isAllowed, error)
    .transform(Number)
    .default(otherwise)
    .meta({ type: 'integer', format: 'int32', ...range });
}

/** Maximum number of emails in one filter; more would hardly fit into a request line. */
const MAX_ADDRESSES = 500;
const ADDRESSES = `at most ${MAX_ADDRESSES} email addresses, separated by commas`;

const addresses = z
  .string(ADDRESSES)
  .transform(parseAddresses)
  .refine((emails) => emails.length <= MAX_ADDRESSES, ADDRESSES)
  .optional();

function parseAddresses(list: string): string[] {
  // An email has no inner spaces: a space here is an unencoded plus sign.
  const normalize = (address: string) => foldCase(address.trim().replaceAll(' ', '+'));
  const emails = [...new Set(list.split(',').map(normalize))];
  // SQLite compares strings only up to a NUL, and PostgreSQL refuses NUL.
  return emails.filter((address) => address !== '' && !address.includes('\0'));
}

/** The parameters of a short list, which has neither sorting nor cursor pages nor filters. */
export const plainParameters = listParameters({});

import type { CustomField, NamedResource, ScimUserMapping } from '../model/translation.ts';
import type { FeedPage, InvalidField } from '../model/travel-ports.ts';
import type { TravelerChange, TravelUser } from '../model/traveler.ts';
import type { JsonRecord } from './json.ts';

/** The parameters of a query. */
export type Query = Record<string, string | number>;

/**
 * Describes a travel API: everything in which one differs from another. The rest of this folder works with any profile, and
 * knows HTTP only. docs/travel-apis.md says how to add one.
 */
export interface TravelProfile {
  paths: TravelPaths;
  /** Returns the resource in the body of a response, e.g. the content of its envelope; undefined if there is none. */
  unwrap(body: JsonRecord): unknown;
  /** Returns the body of a request that sends a resource. */
  wrap(resource: object): object;
  /** Returns the id of any resource, even if the rest of it cannot be read. */
  readId(item: unknown): string | undefined;
  pages: PageForm;
  travelers: TravelerForm;
  errors: ErrorForm;
  lookups: LookupForm;
  /** The feed of events; undefined if there is none. Changes in the travel service are then found by the hourly import. */
  feed?: FeedForm;
}

/** The paths that every travel API has, below its base URL. */
export interface TravelPaths {
  /** Whose credential it is. */
  whoami: string;
  users: string;
  customFields: string;
  costCenters: string;
  billingProfiles: string;
  travelPolicies: string;
}

/** Where a page begins: the number of items before it, and the token that leads to it if the travel API has tokens. */
export interface PageStart {
  offset: number;
  token?: string | undefined;
}

/** How a list is read in pages. */
export interface PageForm {
  /** Returns the query for a page. A search has no start, because its result is one page. */
  query(limit: number, start?: PageStart): Query;
  /** Reads the body of a page; undefined if it is none. */
  read(body: JsonRecord, limit: number, start?: PageStart): PageContent | undefined;
}

/** The content of a page. */
export interface PageContent {
  items: unknown[];
  /** The number of items of the whole list; undefined if the travel API does not tell it. */
  total?: number | undefined;
  isLast: boolean;
  /** The token of the next page, if the travel API has tokens. */
  nextToken?: string | undefined;
}

/** How travelers are read and written. */
export interface TravelerForm {
  /** Reads a traveler; undefined if the item is none (`toTravelUser` in traveler.ts). */
  read(item: unknown): TravelUser | undefined;
  /** Returns the query for the travelers, archived ones included, that have one of the addresses. */
  emailQuery(emails: string[]): Query;
  /** Returns the resource that a request sends for a change. `before` is the traveler that a PUT replaces, as received; empty in a create. */
  toResource(change: TravelerChange, before: JsonRecord): object;
  /**
   * How a change is sent. `PATCH`: a merge patch (RFC 7396), in the first of the media types that the travel API takes. `PUT`: the
   * traveler is read and replaced whole, on the condition that it has still the same `ETag`.
   */
  update: { method: 'PATCH'; mediaTypes: readonly string[] } | { method: 'PUT' };
  /** The last segments of the paths to which an empty POST archives a traveler and its opposite; undefined if a change says `archived`. */
  archiving?: { archive: string; restore: string };
  /** The header of a create with a key that is equal when the create is repeated; undefined if only the unique address prevents a second traveler. */
  idempotencyHeader?: string;
}

/** How errors are told. What a status means is common to all travel APIs: the table is in docs/architecture.md, Answers of the travel API. */
export interface ErrorForm {
  /** True if a 403 or 404 about one traveler comes from the travel API itself, as far as one can see, and not from a gateway. */
  isOwn(status: 403 | 404, body: JsonRecord | undefined): boolean;
  /** Reads the fields that a 400 or 422 refuses, by their names in the bridge, e.g. `address.city`, `customFields.<id>`. */
  readInvalidFields(body: JsonRecord): InvalidField[];
}

/** How the collections are read to which travelers and rules refer. */
export interface LookupForm {
  /** Reads a custom field, or undefined if it is none of travelers. Its options are included unless they have a path of their own. */
  readCustomField(item: unknown): CustomField | undefined;
  /** The options of a custom field, if they are a collection; `{id}` in the path is replaced by the id of the custom field. */
  options?: { path: string; read(item: unknown): CustomField['options'][number] | undefined };
  /** Reads a cost center, billing profile or travel policy. */
  readNamed(item: unknown): NamedResource | undefined;
  /** The mapping rules that admins keep in the travel service, if it has them. */
  mappings?: { path: string; read(item: unknown): ScimUserMapping | undefined };
}

/** How the feed of events is read, the newest first. */
export interface FeedForm {
  path: string;
  query(limit: number, from: string | undefined): Query;
  /** Reads a page; `none` if it is not of the requested kind, or has an unreadable event. */
  read(body: JsonRecord): FeedPage | 'none';
}

/** The settings of a connection that change its profile. */
export interface ProfileSettings {
  /** Paths that differ from those of the profile. */
  paths?: { [name: string]: string | undefined };
}

/** Returns the paths of a profile, with those that the settings change. Other paths of the settings have no meaning in this profile. */
export function pathsOf<Paths extends { [name: string]: string }>(
  defaults: Paths,
  { paths = {} }: ProfileSettings,
): Paths {
  const entries = Object.entries(defaults).map(([name, path]) => [name, paths[name] ?? path]);
  return Object.fromEntries(entries) as Paths; // The names are those of `defaults`.
}

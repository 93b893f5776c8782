import type { Mapping } from '../translator/mapping.ts';
import type { TravelFeed, TravelLookups, TravelUsers } from './ports.ts';

/** What a connection decides about travelers, apart from their fields. */
export interface Policies {
  /** What becomes of a joiner whose address an unlinked traveler has. */
  onExistingUser: 'link' | 'refuse';
  /** What a SCIM DELETE does to the traveler. A deactivation always archives, so that it can be undone. */
  deprovision: 'archive' | 'delete';
}

/** One IdP feeding one travel account. */
export interface Connection {
  id: string;
  /** The travel account: connections with the same one share its travelers. */
  account: string;
  mapping: Mapping;
  policies: Policies;
  travel: TravelUsers;
  lookups: TravelLookups;
  /** What the travel API tells of changes, and how often it is asked; undefined: it is not. */
  feed?: { everyMs: number; source: TravelFeed } | undefined;
}

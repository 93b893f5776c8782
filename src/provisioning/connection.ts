import type { Mapping } from '../translator/mapping-file.ts';
import type { Policies } from './policies.ts';
import type { TravelFeed, TravelLookups, TravelUsers } from './travel-ports.ts';

/** One IdP feeding one travel account. */
export interface Connection {
  id: string;
  /** The travel account: connections with the same one share its travelers. */
  account: string;
  mapping: Mapping;
  policies: Policies;
  /** The domain of the addresses that people take for a moment while they swap theirs; undefined: nobody does. */
  parkingDomain: string | undefined;
  /** The part of the known travelers that an import must see before it concludes anything from absence, from 0 to 1. */
  minimumShare: number;
  /** How long after we gave up the travel API may still carry a call out, in milliseconds. */
  lateMs: number;
  /** How long tombstones are kept that have nothing left to do, in days. */
  tombstoneDays: number;
  travel: TravelUsers;
  lookups: TravelLookups;
  /** What the travel API tells of changes, and how often it is asked; undefined: it is not. */
  feed?: { everyMs: number; source: TravelFeed } | undefined;
}

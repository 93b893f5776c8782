import type { Policies } from './policies.ts';
import type { TravelFeed, TravelLookups, TravelUsers } from './travel-ports.ts';

/** The settings of a connection. */
export interface ConnectionSettings {
  id: string;
  /** The name of the travel account. Connections with the same account share its travelers. */
  account: string;
  policies: Policies;
  /**
   * The domain of the temporary addresses that travelers get while users swap their email addresses; undefined disables
   * them.
   */
  parkingDomain: string | undefined;
  /** The share of the known travelers, from 0 to 1, that an import must read before missing travelers count as deleted. */
  minimumShare: number;
  /** The number of travelers at which an import ends; undefined: twice the known people, at least 100,000. */
  maxImported: number | undefined;
  /** The time limit of one call to the travel API, in milliseconds. */
  callTimeoutMs: number;
  /** The time after its time-out during which the travel API may still carry out a call, in milliseconds. */
  lateMs: number;
  /** The time for which a tombstone without pending work is kept, in days. */
  tombstoneDays: number;
}

/** One IdP that provisions one travel account, with its settings and its access to the travel API. */
export interface Connection extends ConnectionSettings {
  travel: TravelUsers;
  lookups: TravelLookups;
  /** The event feed of the travel API and its polling interval in milliseconds; undefined if no feed is read. */
  feed?: { everyMs: number; source: TravelFeed } | undefined;
}

import type { TravelUser } from '../translator/traveler.ts';
import type { Identity } from './identity.ts';

/** The stored state of a traveler's identity, for an import to detect whether the traveler has changed. */
export type KnownTraveler = Pick<
  Identity,
  'id' | 'travelId' | 'claimed' | 'observed' | 'rulesGeneration' | 'deletedAt'
>;

/** An identity whose traveler an import did not find in the list. */
export interface MissingTraveler {
  id: string;
  travelId: string;
  claimed: boolean;
}

/** An identity, and its traveler as an import or the event feed has read it. */
export interface SeenTraveler {
  id: string;
  /** Undefined if the state is not certain: the traveler must then be read before the next plan. */
  observed: TravelUser | undefined;
  /** The observed value when the reading began. If it has changed since, the reading is not saved. */
  before?: TravelUser;
}

/** The part of the store that imports and the event feed use. */
export interface Imports {
  /** Returns the identities of this connection for these travelers, claimed or not. */
  findKnown(connection: string, travelIds: string[]): Promise<KnownTraveler[]>;
  /** Returns the travelers that a claimed identity of another connection of the account has. */
  findLinkedElsewhere(connection: string, account: string, travelIds: string[]): Promise<string[]>;
  /** Returns the travelers whose person was erased (GDPR). */
  findErased(account: string, travelIds: string[]): Promise<ReadonlySet<string>>;
  /** Returns the keys (`addressKey`) of the addresses that creates in the account have reserved. */
  findOpenCreates(account: string): Promise<string[]>;
  /**
   * Inserts or refreshes unclaimed identities. Skips those whose userName is taken or whose traveler was linked
   * meanwhile.
   */
  saveUnclaimed(identities: Identity[], seenAt: number): Promise<void>;
  /** Deletes those of these unclaimed identities whose traveler another connection of the account has linked. */
  deleteLinkedElsewhere(connection: string, ids: string[]): Promise<void>;
  /**
   * Saves the observed travelers of claimed identities and makes these dirty. If an identity has a lease, or its observed
   * value differs from `before`, the observed value is cleared instead, so that the next reconciliation reads the traveler.
   */
  saveObserved(connection: string, seen: SeenTraveler[], seenAt: number): Promise<void>;
  /**
   * Records that the travelers of these identities were listed at this time, without changing their observed values.
   */
  markSeen(connection: string, ids: string[], seenAt: number): Promise<void>;
  /**
   * Returns the identities whose traveler was not listed since this time, without the tombstones of users whom the IdP has sent.
   */
  findMissing(connection: string, since: number): Promise<MissingTraveler[]>;
  /**
   * Deletes the unclaimed identities whose traveler was not listed since this time, and returns the ids of the claimed
   * ones, tombstones included.
   */
  deleteStale(connection: string, since: number): Promise<string[]>;
}

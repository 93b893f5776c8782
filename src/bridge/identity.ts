import type { ScimResource } from '../schema/resource.ts';
import type { Applied, Finding, Refused, TraceEntry } from '../translator/result.ts';
import type { TravelUser } from '../translator/travel-user.ts';

/**
 * `synced`: the travel service agrees; `dirty`: it may not yet; `pending`: too little data to make a traveler;
 * `refused`: the travel API will not have it; `held`: an admin must decide.
 */
export type IdentityState = 'synced' | 'dirty' | 'pending' | 'refused' | 'held';

/** One SCIM user of one connection: what the IdP wants, what was sent, what was seen, and the link between the two. */
export interface Identity {
  connection: string;
  /** The SCIM id. */
  id: string;
  /** The SCIM resource without `id`, `meta` and `schemas`; the IdP's values verbatim. */
  desired: ScimResource;
  /** False while no IdP has written it: it was imported, and follows the travel service. */
  claimed: boolean;
  state: IdentityState;
  /** Raised by every effective write of an IdP; the ETag. */
  version: number;
  /** Raised by every reason to reconcile, writes included: an outcome reached under an older revision leaves it dirty. */
  revision: number;
  /** The rules it was last translated with. */
  rulesVersion: string | undefined;
  /** The linked travel user. */
  travelId: string | undefined;
  applied: Applied;
  refused: Refused;
  /** The travel user as last seen; undefined when it must be read before the next plan. */
  observed: TravelUser | undefined;
  /** The address of a create that was announced and whose outcome is not known. */
  creating: string | undefined;
  /** The address, lower-cased, that it wants and another traveler holds. */
  waitingFor: string | undefined;
  findings: Finding[];
  trace: TraceEntry[];
  /** While a reconciler holds it; what it is doing at the travel API may still arrive until then. */
  leasedUntil: number | undefined;
  /** Failed attempts in a row. */
  attempts: number;
  nextAttemptAt: number | undefined;
  /** Epoch milliseconds, as are all times here. */
  createdAt: number;
  lastModified: number;
  /** Set on a tombstone: gone for the IdP, kept so that the person can return. */
  deletedAt: number | undefined;
}

/** What one reconciliation leaves behind; it replaces these parts of the identity. */
export type Outcome = Pick<
  Identity,
  | 'travelId'
  | 'applied'
  | 'refused'
  | 'observed'
  | 'creating'
  | 'waitingFor'
  | 'findings'
  | 'trace'
  | 'rulesVersion'
  | 'state'
  | 'attempts'
  | 'nextAttemptAt'
>;

import type { Translation } from '../translator/result.ts';
import { toTravel } from '../translator/to-travel.ts';
import { archiveTraveler } from './archive-traveler.ts';
import type { Connection } from './connection.ts';
import { isInactive } from './email-conflicts.ts';
import { findings } from './findings.ts';
import type { Identity } from './identity.ts';
import { removeLateTravelers } from './late-creates.ts';
import { linkOrCreateTraveler } from './link-or-create.ts';
import { isLateCheckDue, withoutLateCalls } from './observation.ts';
import { isReturnHeld } from './ownership.ts';
import { type Resolved, resolveReferences } from './references.ts';
import type { RulesSnapshot, RulesSnapshots } from './rules-snapshot.ts';
import type { Identities, References } from './store-ports.ts';
import {
  type Draft,
  draftOf,
  endInFailure,
  endInState,
  type Fields,
  type ReconcileResult,
  type Task,
  withFinding,
  withHold,
  withKnownOutcome,
} from './task.ts';
import type { TravelFailure } from './travel-ports.ts';
import { updateTraveler } from './update-traveler.ts';

/** What a translation needs of the store. */
export interface TranslateDeps {
  identities: Pick<Identities, 'byId' | 'find'>;
  references: Pick<References, 'of' | 'save' | 'decide'>;
}

/** A translation with all that it rested on. */
export interface Translated {
  basis: RulesSnapshot;
  resolved: Resolved;
  translation: Translation;
  /** What the rules make of the user as imported, for an identity that has a baseline. */
  baseline: Fields | undefined;
}

/**
 * Translates an identity under the connection's present rules and lookups; what is not found is looked up once more in
 * fresh ones. A failure when the travel API could never be read.
 */
export async function translate(
  directory: TranslateDeps,
  of: RulesSnapshots,
  { connection, identity }: { connection: Connection; identity: Identity },
): Promise<Translated | TravelFailure> {
  const basis = await of.current(connection);
  if ('kind' in basis) return basis;
  const first = await translateWith(directory, identity, basis);
  if (!first.translation.missed) return first;
  const fresh = await of.refreshed(connection);
  if ('kind' in fresh || fresh.version === basis.version) return first;
  const again = await translateWith(directory, identity, fresh);
  return { ...again, resolved: { ...again.resolved, before: first.resolved.before } };
}

async function translateWith(
  directory: TranslateDeps,
  identity: Identity,
  basis: RulesSnapshot,
): Promise<Translated> {
  const resolved = await resolveReferences(directory, identity, basis.rules);
  const snapshot = { lookups: basis.lookups, references: resolved.references, applied: identity.applied };
  const { desired, origin } = identity;
  const baseline = origin.baseline && toTravel(basis.rules, origin.baseline, snapshot).fields;
  return { basis, resolved, translation: toTravel(basis.rules, desired, snapshot), baseline };
}

/** Makes the travel service agree with one identity, whatever it takes; safe to run any number of times. */
export async function reconcileTraveler(task: Task): Promise<ReconcileResult> {
  const { identity } = task;
  const draft = draftOf(identity, task.translation);
  if (!identity.claimed) return endInState({ ...draft, findings: [] }, 'synced');
  if (identity.deletedAt !== undefined) return archiveTraveler(task, draft);
  const { movedFrom } = identity.origin;
  const begun = movedFrom === undefined ? draft : withFinding(draft, findings.movedFrom(movedFrom));
  if (isReturnHeld(identity))
    return endInState(withHold(task, withFinding(begun, findings.heldReturn()), 'return'), 'held');
  const first =
    begun.travelId === undefined ? await reconcileActive(task, begun) : await updateTraveler(task, begun);
  if (first !== 'gone') return first;
  const unlinked: Draft = { ...withKnownOutcome(begun), travelId: undefined, observed: undefined };
  if (isInactive(identity)) return endInState(unlinked, 'synced');
  const again = await reconcileActive(task, unlinked);
  if (again !== 'gone') return again;
  return endInFailure(unlinked, {
    kind: 'unavailable',
    text: 'the traveler was deleted while it was being made',
  });
}

/** An inactive person whose traveler is gone needs none; anybody else gets one. */
async function reconcileActive(task: Task, begun: Draft): Promise<ReconcileResult | 'gone'> {
  const isDue = isLateCheckDue(task, begun);
  const failure = isDue ? await removeLateTravelers(task, begun) : undefined;
  if (failure) return endInFailure(begun, failure);
  const isOpen = begun.creating !== undefined && begun.progress.reservation !== undefined;
  if (isOpen) return linkOrCreateTraveler(task, begun);
  const draft = isDue ? withoutLateCalls(begun) : begun;
  const hadTraveler = Object.keys(draft.applied).length > 0;
  if (isInactive(task.identity) && hadTraveler)
    return endInState({ ...draft, creating: undefined }, 'synced');
  return linkOrCreateTraveler(task, { ...draft, applied: {} });
}

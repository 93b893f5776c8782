import type { Translation } from '../translator/result.ts';
import { toTravel } from '../translator/to-travel.ts';
import { amend } from './amend.ts';
import type { Bases, Basis } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import { join } from './join.ts';
import { leave } from './leave.ts';
import type { Identities, References, TravelFailure } from './ports.ts';
import { type Resolved, resolveReferences } from './references.ts';
import { type Draft, draftOf, failed, type Settled, settled, type Task } from './task.ts';

/** What a translation needs of the store. */
export interface Directory {
  identities: Pick<Identities, 'byId' | 'find'>;
  references: Pick<References, 'of' | 'save' | 'decide'>;
}

/** A translation with all that it rested on. */
export interface Translated {
  basis: Basis;
  resolved: Resolved;
  translation: Translation;
}

/**
 * Translates an identity under the connection's present rules and lookups; what is not found is looked up once more in
 * fresh ones. A failure when the travel API could never be read.
 */
export async function translate(
  directory: Directory,
  of: Bases,
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

async function translateWith(directory: Directory, identity: Identity, basis: Basis): Promise<Translated> {
  const resolved = await resolveReferences(directory, identity, basis.rules);
  const snapshot = { lookups: basis.lookups, references: resolved.references, applied: identity.applied };
  return { basis, resolved, translation: toTravel(basis.rules, identity.desired, snapshot) };
}

/** Makes the travel service agree with one identity, whatever it takes; safe to run any number of times. */
export async function settle(task: Task): Promise<Settled> {
  const draft = draftOf(task.identity, task.translation);
  if (!task.identity.claimed) return settled({ ...draft, findings: [] }, 'synced');
  if (task.identity.deletedAt !== undefined) return leave(task, draft);
  const first = draft.travelId === undefined ? await arrive(task, draft) : await amend(task, draft);
  if (first !== 'gone') return first;
  const unlinked: Draft = { ...draft, travelId: undefined, observed: undefined };
  if (isInactive(task)) return settled(unlinked, 'synced');
  const again = await arrive(task, unlinked);
  if (again !== 'gone') return again;
  return failed(unlinked, { kind: 'unavailable', text: 'the traveler was deleted while it was being made' });
}

/** An inactive person whose traveler is gone needs none; anybody else gets one. */
async function arrive(task: Task, draft: Draft): Promise<Settled | 'gone'> {
  if (draft.creating !== undefined) return join(task, draft);
  const hadTraveler = Object.keys(draft.applied).length > 0;
  if (isInactive(task) && hadTraveler) return settled(draft, 'synced');
  return join(task, { ...draft, applied: {} });
}

function isInactive(task: Task): boolean {
  return task.identity.desired.active === false;
}

import type { ScimResource } from '../schema/resource.ts';
import type { Connection } from './connection.ts';
import { addressKey } from './email-conflicts.ts';
import { isAdministrator } from './guard.ts';
import type { Identity, Outcome } from './identity.ts';
import { managerChain, managerOf, type ReadRows } from './references.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, ReconcileQueue, ReferenceRow, References } from './store-ports.ts';

/** What spreading the news of an outcome takes. */
interface NotifyDeps {
  identities: Pick<Identities, 'find' | 'findHolder'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'markEmailWaitersDirty'>;
  references: Pick<References, 'findRows' | 'findReferrers'>;
  wake(): void;
  runtime: Pick<Runtime, 'now'>;
}

/**
 * Makes those dirty who waited for what this outcome changed: an address that is free now, be it a traveler's or that of
 * a create that came to nothing; a traveler to refer to.
 */
export async function notifyDependents(
  deps: NotifyDeps,
  connection: Connection,
  { before, after, announced }: { before: Identity; after: Outcome; announced: string[] },
): Promise<void> {
  const now = deps.runtime.now();
  // One that it announced in vain, and now waits for itself, is not free.
  const { observed, creating, waitingFor } = after;
  const has = [observed?.email, creating].filter((one) => one !== undefined).map(addressKey);
  if (waitingFor !== undefined) has.push(waitingFor);
  // What was answered last stands in for what was seen, where that is not known.
  const answered = before.travelId === undefined ? undefined : before.applied.email?.answered;
  // Calls without a known outcome may have given it an address that it has no more.
  const { announced: unknown, late } = before.progress;
  const sent = [unknown?.email?.value, ...(late?.sent.email ?? [])];
  const had = [before.observed?.email, answered, ...announced, ...sent].filter(
    (one) => typeof one === 'string',
  );
  // By key, so that an address in two spellings is touched once.
  const freed = new Map(had.map((email) => [addressKey(email), email]));
  for (const key of has) freed.delete(key);
  for (const email of freed.values()) {
    await deps.reconcileQueue.markEmailWaitersDirty(connection.account, email, now);
    deps.wake();
  }
  for (const email of emailsNoLongerAwaited(before, after)) {
    await deps.reconcileQueue.markEmailWaitersDirty(connection.account, email, now);
    deps.wake();
  }
  if (before.travelId !== after.travelId || freed.size > 0)
    await notifyReferrers(deps, before, [after.travelId, after.observed?.email, ...had]);
}

/**
 * The addresses that others wait for in vain from now on: of somebody who waits for no address any more, or must wait for an
 * admin, so that a swap does not come about; of an administrator, who does not give the address up.
 */
function emailsNoLongerAwaited(before: Identity, { hold, observed, waitingFor }: Outcome): string[] {
  const isAdmin = (one: Outcome['observed']) => one !== undefined && isAdministrator(one);
  // Only news is told: who waits for the same address is touched too, and that is also the identity itself.
  const isNewlyHeld = hold !== undefined && hold.cause !== before.hold?.cause;
  const isStopped = before.waitingFor !== undefined && (waitingFor === undefined || isNewlyHeld);
  const isKept = before.origin.givesEmailUp === true && isAdmin(observed) && !isAdmin(before.observed);
  const addresses = [
    isStopped ? before.waitingFor : undefined,
    isStopped || isKept ? observed?.email : undefined,
  ];
  return addresses.filter((one) => one !== undefined);
}

/** The references of an identity before a reconciliation, and what that left behind. */
interface ReferenceChange {
  identity: Identity;
  before: ReferenceRow[];
  after: Outcome;
}

/**
 * Makes those dirty whom a circle kept from their manager, and who may have that manager now. A circle opens when one of
 * its members gets another manager or none. Whoever was left out of it has no manager, and so stands at the end of the
 * chain of managers that began with the one that the member had before.
 */
export async function notifyLeftOutOfCycle(deps: NotifyDeps, relinked: ReferenceChange): Promise<void> {
  const { connection } = relinked.identity;
  const of = (id: string) => deps.references.findRows(connection, id);
  const leftOut = new Set<string>();
  for (const manager of await formerManagers(deps, relinked)) {
    for (const id of await managerChain(of, manager)) {
      if (await canFollowAgain(of, id)) leftOut.add(id);
    }
  }
  await markDirty(deps, connection, [...leftOut]);
}

/** By the references, and by the traveler: an attempt that died may have kept the new references already. */
async function formerManagers(
  deps: NotifyDeps,
  { identity, before, after }: ReferenceChange,
): Promise<Set<string>> {
  const { connection, id, applied } = identity;
  const former = new Set<string>();
  const linked = managerOf(before);
  if (linked !== undefined && managerOf(await deps.references.findRows(connection, id)) !== linked)
    former.add(linked);
  const sent = applied.managerId?.sent;
  if (typeof sent === 'string' && sent !== after.applied.managerId?.sent) {
    for (const one of await deps.identities.find(connection, { by: 'travelId', value: sent }))
      former.add(one.id);
  }
  return former;
}

/** True when a manager was left out whose chain of managers does not lead back any more. */
async function canFollowAgain(of: ReadRows, id: string): Promise<boolean> {
  for (const { target, travelId } of await of(id)) {
    const isLeftOut = target !== undefined && target !== id && travelId === undefined;
    if (isLeftOut && !(await managerChain(of, target)).includes(id)) return true;
  }
  return false;
}

async function notifyReferrers(
  deps: NotifyDeps,
  before: Identity,
  others: (string | undefined)[],
): Promise<void> {
  const values = [...referenceValuesOf(before), before.travelId, ...others].filter(
    (value) => value !== undefined,
  );
  const all = await deps.references.findReferrers(before.connection, before.id, values);
  // Who names itself has just looked.
  const referrers = all.filter((id) => id !== before.id);
  await markDirty(deps, before.connection, referrers);
}

/** Whoever took the traveler over meanwhile waits for what was under way here; that is over now. */
export async function notifySuccessor(
  deps: NotifyDeps,
  connection: Connection,
  identity: Identity,
): Promise<void> {
  const { travelId, desired } = identity;
  const heirs = travelId
    ? [await deps.identities.findHolder(connection.account, { travelId })]
    : await deps.identities.find(connection.id, { by: 'userName', value: String(desired.userName) });
  for (const heir of heirs) {
    if (heir && heir.id !== identity.id && heir.deletedAt === undefined)
      await markDirty(deps, heir.connection, [heir.id]);
  }
}

/** Makes identities of a connection dirty, and wakes whoever works them off. */
export async function markDirty(
  deps: { reconcileQueue: Pick<ReconcileQueue, 'markDirty'>; wake(): void; runtime: Pick<Runtime, 'now'> },
  connection: string,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  await deps.reconcileQueue.markDirty(connection, ids, deps.runtime.now());
  deps.wake();
}

/** Every value by which others may refer to an identity (docs/architecture.md, References). */
export function referenceValuesOf({
  id,
  desired,
  travelId,
}: Pick<Identity, 'id' | 'desired' | 'travelId'>): string[] {
  return [id, travelId, desired.userName, desired.externalId, ...emailsOf(desired)].filter(
    (value) => typeof value === 'string',
  );
}

/** The values of a user's email addresses. */
export function emailsOf({ emails }: ScimResource): string[] {
  if (!Array.isArray(emails)) return [];
  return emails
    .map((email) => (typeof email === 'object' && email && !Array.isArray(email) ? email.value : undefined))
    .filter((value) => typeof value === 'string');
}

import { addressKey } from '../../../model/addresses.ts';
import type { Connection } from '../../../model/connection.ts';
import {
  type Identity,
  isInactive,
  isSamePerson,
  type Outcome,
  wasInPilot,
} from '../../../model/identity.ts';
import type { Runtime } from '../../../model/runtime-ports.ts';
import type { Identities, ReconcileQueue, ReferenceRow, References } from '../../../model/store-ports.ts';
import { isAdministrator } from '../../../model/traveler.ts';
import { emailsOf, employeeNumberOf, type Json } from '../../../schema/resource.ts';
import { managerChain, managerOf, type ReadRows } from '../wanted/manager-chains.ts';

/** Dependencies for finding the identities that the outcome of a reconciliation affects, and for making them dirty. */
interface NotifyDeps {
  identities: Pick<Identities, 'find' | 'findHolder'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'markEmailWaitersDirty'>;
  references: Pick<References, 'findRows' | 'findReferrers'>;
  wake(): void;
  runtime: Pick<Runtime, 'now'>;
}

/**
 * Makes the identities dirty that the outcome of a reconciliation affects: those that wait for an address which is now
 * free, and those whose manager is the traveler. An address becomes free when a traveler loses it, or when an announced
 * create made no traveler. `former`: the addresses that the attempt has announced, and those with which it has read the traveler.
 */
export async function notifyDependents(
  deps: NotifyDeps,
  connection: Connection,
  { before, after, former: known }: { before: Identity; after: Outcome; former: string[] },
): Promise<void> {
  const now = deps.runtime.now();
  const { observed, creating, travelId, applied } = after;
  // A traveler that the attempt has not read has the email of the last response.
  const email = observed?.email ?? (travelId === undefined ? undefined : applied.email?.seen);
  const current = [email, creating?.email].filter((one) => typeof one === 'string').map(addressKey);
  // A traveler that no attempt had read before the lease has the email of the last response, too.
  const answered = before.travelId === undefined ? undefined : before.applied.email?.seen;
  // A call without an answer may have set an address that the traveler does not have when the call can no longer be carried out. An attempt
  // before that frees none, and neither does a record without a call, as after a restore: two people could have each other tried again and again.
  const isSettled = before.readAgainAt !== undefined && after.readAgainAt === undefined;
  const sent = isSettled ? [before.applied.email?.sent] : [];
  const former = [before.observed?.email ?? answered, ...known, ...sent].filter(
    (one) => typeof one === 'string',
  );
  // Compare by key, so that two spellings of an address count once.
  const freed = new Map(former.map((email) => [addressKey(email), email]));
  for (const key of current) freed.delete(key);
  const others = [...emailNoLongerAwaited(before, after), ...emailOfNewLeaver(before, after)];
  for (const email of new Set([...freed.values(), ...others])) {
    await deps.reconcileQueue.markEmailWaitersDirty(connection.account, email, now, before);
    deps.wake();
  }
  // The write has notified the reports of a manager who becomes inactive, unless the process died then.
  const isArchiveChanged = knownAccess(before) !== knownAccess(after);
  if (before.travelId !== after.travelId || freed.size > 0)
    await notifyReferrers(deps, before, [after.travelId, after.observed?.email, ...former]);
  else if (isArchiveChanged && before.travelId !== undefined) await notifyReferrers(deps, before, []);
  // The reports follow the same person, and lose another one.
  else if (before.travelId === undefined && isSucceeded(before)) await notifyReferrers(deps, before, []);
}

/**
 * Makes the other users of an address dirty if the plan in shadow mode gives it to this user, or no longer, or if this user of the pilot gets
 * or loses it: whether another user gets it decides what is planned for them, whose waits are not stored.
 */
export async function notifyOfPlannedEmail(
  deps: NotifyDeps,
  before: Identity,
  after: Outcome,
): Promise<void> {
  const [former, planned] = [plannedEmail(before), plannedEmail(after)];
  if (former === planned) return;
  for (const value of [former, planned].filter((one) => one !== undefined)) {
    const holders = await deps.identities.find(before.connection, { by: 'email', value });
    const others = holders.filter(({ id }) => id !== before.id).map(({ id }) => id);
    if (others.length > 0) await markDirty(deps, before.connection, others);
  }
}

/** Returns the address that a user is about to get in shadow mode, or has got by the pilot. */
function plannedEmail(outcome: Outcome): string | undefined {
  const sent = wasInPilot(outcome) ? outcome.applied.email?.sent : undefined;
  return outcome.progress.shadow?.email ?? (typeof sent === 'string' ? sent : undefined);
}

/** Whether the traveler was archived by the last call; undefined while its outcome is not known. */
function knownAccess({ applied: { archived } }: Pick<Identity, 'applied'>): Json | undefined {
  return archived?.seen === undefined ? undefined : archived.sent;
}

/** True for a leaver whose traveler another user has taken over. The takeover makes the leaver dirty. */
function isSucceeded({ origin: { successor } }: Identity): boolean {
  return successor !== undefined && isSamePerson(successor);
}

/**
 * Returns the address for which this identity has stopped to wait: somebody may have stepped aside for it, and gets it back as the userName.
 */
function emailNoLongerAwaited({ waitingFor }: Identity, after: Outcome): string[] {
  return waitingFor === undefined || waitingFor === after.waitingFor ? [] : [waitingFor];
}

/**
 * Returns the address of a leaver who keeps it, as those learn who wait for it: the departure is held, the traveler was archived or has become
 * an administrator, or a parking address was refused.
 */
function emailOfNewLeaver(before: Identity, { hold, observed, refused }: Outcome): string[] {
  if (!isInactive(before) || !observed) return [];
  const isNewlyHeld = hold !== undefined && hold.cause !== before.hold?.cause;
  const isNewlyAdmin = isAdministrator(observed) && !(before.observed && isAdministrator(before.observed));
  const isNewlyRefused = refused.email !== undefined && before.refused.email === undefined;
  // A traveler that the next attempt is to read was archived if the last answer says so.
  const wasArchived = before.observed?.archived ?? before.applied['archived']?.seen;
  const isNewlyArchived = observed.archived && wasArchived !== true;
  return isNewlyHeld || isNewlyAdmin || isNewlyRefused || isNewlyArchived ? [observed.email] : [];
}

/** The references of an identity before a reconciliation, and the outcome of the reconciliation. */
interface ReferenceChange {
  identity: Identity;
  before: ReferenceRow[];
  after: Outcome;
}

/**
 * Makes identities dirty whose manager was omitted because of a cycle and can now be set. A cycle ends when one of its
 * members gets another manager or none. The identity without its manager is the last one in the chain of managers that
 * begins with the former manager of that member.
 */
export async function notifyLeftOutOfCycle(deps: NotifyDeps, relinked: ReferenceChange): Promise<void> {
  const { connection } = relinked.identity;
  const readRows = (id: string) => deps.references.findRows(connection, id);
  const leftOut = new Set<string>();
  for (const manager of await formerManagers(deps, relinked)) {
    for (const id of await managerChain(readRows, manager)) {
      if (await canFollowAgain(readRows, id)) leftOut.add(id);
    }
  }
  await markDirty(deps, connection, [...leftOut]);
}

/**
 * Returns the former managers, from the references and from the traveler: an interrupted attempt may have saved
 * the new references already.
 */
async function formerManagers(
  deps: NotifyDeps,
  { identity, before, after }: ReferenceChange,
): Promise<Set<string>> {
  const { connection, id, observed } = identity;
  const former = new Set<string>();
  const linked = managerOf(before);
  if (linked !== undefined && managerOf(await deps.references.findRows(connection, id)) !== linked)
    former.add(linked);
  const shown = observed?.managerId;
  if (shown !== undefined && shown !== after.observed?.managerId) {
    for (const one of await deps.identities.find(connection, { by: 'travelId', value: shown }))
      former.add(one.id);
  }
  return former;
}

/**
 * True if a manager of the identity was omitted because of a cycle, and the chain of that manager no longer leads back
 * to the identity.
 */
async function canFollowAgain(readRows: ReadRows, id: string): Promise<boolean> {
  for (const { target, travelId } of await readRows(id)) {
    const isLeftOut = target !== undefined && target !== id && travelId === undefined;
    if (isLeftOut && !(await managerChain(readRows, target)).includes(id)) return true;
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
  // Leave out a reference of the identity to itself: it has just been reconciled.
  const referrers = all.filter((id) => id !== before.id);
  await markDirty(deps, before.connection, referrers);
}

/** Makes the identity dirty that took over this traveler during the attempt: it has waited for the attempt to end. */
export async function notifySuccessor(
  deps: NotifyDeps,
  connection: Connection,
  identity: Identity,
): Promise<void> {
  const { travelId, desired } = identity;
  const successors = travelId
    ? [await deps.identities.findHolder(connection.account, { travelId })]
    : await deps.identities.find(connection.id, { by: 'userName', value: String(desired.userName) });
  for (const successor of successors) {
    if (successor && successor.id !== identity.id && successor.deletedAt === undefined)
      await markDirty(deps, successor.connection, [successor.id]);
  }
}

interface MarkDeps {
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  wake(): void;
  runtime: Pick<Runtime, 'now'>;
}

/** Makes identities of a connection dirty, and wakes the loop that reconciles them. */
export async function markDirty(deps: MarkDeps, connection: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await deps.reconcileQueue.markDirty(connection, ids, deps.runtime.now());
  deps.wake();
}

/** The values by which other users may refer to an identity as their manager (docs/architecture.md, References). */
export function referenceValuesOf({
  id,
  desired,
  travelId,
}: Pick<Identity, 'id' | 'desired' | 'travelId'>): string[] {
  const number = employeeNumberOf(desired);
  return [id, travelId, desired.userName, desired.externalId, ...emailsOf(desired), number].filter(
    (value) => typeof value === 'string',
  );
}

/** Marks the identities dirty that refer to this user, if it was deactivated or reactivated, or by a value that was added or removed. */
export async function markReferrersDirty(
  deps: MarkDeps & { references: Pick<References, 'findReferrers'> },
  before: Identity,
  after: Identity,
): Promise<void> {
  const [old, now] = [new Set(referenceValuesOf(before)), new Set(referenceValuesOf(after))];
  const changed = [...old]
    .filter((value) => !now.has(value))
    .concat([...now].filter((value) => !old.has(value)));
  const isDeleted = after.deletedAt !== undefined;
  const isNewOrRestored = before === after;
  // The reports of a manager who becomes inactive get a finding, or lose the manager. Who is active also decides among several users whom a
  // value names.
  const isActivityChanged = isInactive(before) !== isInactive(after);
  if (changed.length === 0 && !isDeleted && !isNewOrRestored && !isActivityChanged) return;
  const isChosenAnew = isDeleted || isNewOrRestored || isActivityChanged;
  const values = isChosenAnew ? [...new Set([...old, ...now])] : changed;
  const referrers = await deps.references.findReferrers(after.connection, after.id, values);
  await markDirty(deps, after.connection, referrers);
}

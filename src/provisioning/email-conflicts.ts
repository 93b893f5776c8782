import { foldCase } from '../schema/case-fold.ts';
import type { Finding, WantedField } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import type { Connection } from './connection.ts';
import { findings } from './findings.ts';
import { isGuarded, isPrivileged } from './guard.ts';
import type { Identity } from './identity.ts';
import { type Draft, type Fields, type Task, withFinding } from './reconcile-context.ts';
import type { Identities } from './store-ports.ts';

/** How far a chain of people who wait for each other's addresses is followed. */
const LONGEST_CHAIN = 50;

/** A draft with the fields that may be sent for it. */
export interface WithAddress {
  draft: Draft;
  fields: Fields;
}

/** The key of an address: equal for addresses that are the same. It is made once; the key of a key may be another one. */
export function addressKey(email: string): string {
  return foldCase(email);
}

/** True for an address that somebody has for a moment only, while addresses are swapped or given up. */
export function isParkingAddress(
  { parkingDomain }: Pick<Connection, 'parkingDomain'>,
  email: string,
): boolean {
  return parkingDomain !== undefined && addressKey(email).endsWith(`@${parkingDomain}`);
}

/**
 * The wanted fields without an address that somebody else of the account is known to hold: the applied one stays, and
 * the identity waits. In a cycle of people who wait for each other, this one steps aside: to its userName if that is a free
 * address, else to a parking address. An archived leaver gives an address up that somebody else waits for, where the
 * connection says so.
 */
export async function withFreeAddress(
  task: Task,
  { draft: before, fields }: WithAddress,
): Promise<WithAddress> {
  const draft = withPlaceToReturn(task, before);
  const email = fields.email;
  if (email?.kind !== 'value' || typeof email.value !== 'string') return { draft, fields };
  const given = await addressGivenUp(task, draft);
  if (given !== undefined)
    return { draft, fields: { ...fields, email: { kind: 'value', value: given, source: email.source } } };
  if (isParkingAddress(task.connection, email.value))
    return {
      draft: withFinding(draft, findings.reservedEmail(email.value)),
      fields: { ...fields, email: { kind: 'kept' } },
    };
  const has = (address: string) =>
    draft.observed !== undefined && addressKey(draft.observed.email) === addressKey(address);
  if (has(email.value) || !(await obstacleTo(task, draft, email.value))) return { draft, fields };
  // Noted before the second look: whoever moves away from now on makes this one dirty, and whoever closes a cycle sees it.
  await task.store.leases.waitFor(task.connection.id, task.identity.id, task.token, email.value);
  const holder = await obstacleTo(task, draft, email.value);
  if (!holder) return { draft, fields };
  return withoutHeldAddress(task, { draft, fields }, { email: email.value, holder });
}

/** An address, and the identity whose traveler has it. */
interface HeldAddress {
  email: string;
  holder: Identity;
}

/** The fields without an address that the holder has; in a cycle, with another address to take meanwhile. */
export async function withoutHeldAddress(
  task: Task,
  { draft, fields }: WithAddress,
  held: HeldAddress,
): Promise<WithAddress> {
  const waiting = await withWaitingForHolder(task, draft, held);
  const step = await stepAside(task, waiting, held);
  const source = fields.email?.kind === 'value' ? fields.email.source : held.email;
  const email: WantedField =
    step.email === undefined ? { kind: 'kept' } : { kind: 'value', value: step.email, source };
  return { draft: step.draft, fields: { ...fields, email } };
}

/** The claimed identity, other than the task's own, of the first of these travelers that has one. */
export async function identityOf(
  { connection, identity, store }: Task,
  travelers: TravelUser[],
): Promise<Identity | undefined> {
  for (const { id } of travelers) {
    const holder = await store.identities.findHolder(connection.account, { travelId: id });
    if (holder && holder.id !== identity.id) return holder;
  }
  return undefined;
}

/** The draft that remembers, while the traveler has a parking address, which address it had before. */
function withPlaceToReturn({ connection }: Task, draft: Draft): Draft {
  const { observed, progress } = draft;
  if (progress.parkedFrom === undefined || !observed || isParkingAddress(connection, observed.email))
    return draft;
  const { parkedFrom: _, ...others } = progress;
  return { ...draft, progress: others };
}

/** What becomes of an identity whose address another has: the address to take meanwhile, if there is to be another one. */
async function stepAside(
  task: Task,
  draft: Draft,
  { email, holder }: HeldAddress,
): Promise<{ draft: Draft; email?: string | undefined }> {
  const { observed } = draft;
  if (!observed || isGuarded(observed, draft.applied)) return { draft };
  const { members, end } = await chainFrom(task, draft, holder);
  if (isParkingAddress(task.connection, observed.email)) {
    const isStuck = end === 'blocked' && draft.progress.parkedFrom !== undefined;
    return { draft, email: isStuck ? await placeToReturn(task, draft) : undefined };
  }
  if (end !== 'cycle') return { draft };
  const free = await freeUserName(task, draft);
  if (free !== undefined || task.connection.parkingDomain === undefined) return { draft, email: free };
  if (isPrivileged(observed)) return { draft: await leavingItToOthers(task, draft, { email, members }) };
  const parked = parkingAddress(task, draft);
  if (parked === undefined)
    return { draft: withFinding(draft, findings.swapBlocked(email, members.map(userNameOf))) };
  return { draft: { ...draft, progress: { ...draft.progress, parkedFrom: observed.email } }, email: parked };
}

/** An administrator gets no parking address: another one of the cycle steps aside. */
async function leavingItToOthers(
  task: Task,
  draft: Draft,
  { email, members }: { email: string; members: Identity[] },
): Promise<Draft> {
  const other = members.find(({ observed }) => observed && !isPrivileged(observed));
  if (!other) return withFinding(draft, findings.swapBlocked(email, members.map(userNameOf)));
  await task.enqueue(other);
  return draft;
}

/** The address that a traveler had before it was parked, else its userName, if one of them is free. */
async function placeToReturn(task: Task, draft: Draft): Promise<string | undefined> {
  for (const address of [draft.progress.parkedFrom, task.translation.fallbackEmail]) {
    if (address === undefined || isParkingAddress(task.connection, address)) continue;
    if (!(await obstacleTo(task, draft, address))) return address;
  }
  return undefined;
}

/** Who keeps an identity from an address: its holder, or somebody who needs it for a swap that has begun. */
async function obstacleTo(task: Task, draft: Draft, email: string): Promise<Identity | undefined> {
  const holder = await holderOf(task, email);
  if (holder) return holder;
  const { connection, identity, store } = task;
  const claimant = await claimantOf(store, connection, { email, except: identity.id });
  return claimant && !(await isInSwap(task, draft)) ? claimant : undefined;
}

/** True for somebody who has a parking address, or whose address is needed for a swap that has begun. */
async function isInSwap(
  { connection, identity, store }: Task,
  { observed, progress }: Draft,
): Promise<boolean> {
  if (!observed) return false;
  if (progress.parkedFrom !== undefined && isParkingAddress(connection, observed.email)) return true;
  return (await claimantOf(store, connection, { email: observed.email, except: identity.id })) !== undefined;
}

/**
 * The person for whom an address is kept free while addresses are swapped: who has a parking address until they get this one,
 * or who waits for it and has an address that is kept for another one of the swap.
 */
export async function claimantOf(
  store: { identities: Pick<Identities, 'findWaiters'> },
  connection: Connection,
  { email, except }: { email: string; except?: string },
  depth = 0,
): Promise<Identity | undefined> {
  if (depth === LONGEST_CHAIN) return undefined;
  for (const one of await store.identities.findWaiters(connection.account, email)) {
    if (one.id === except || !mayMove(one)) continue;
    if (isParked(connection, one)) return one;
    const own = one.observed?.email;
    if (own !== undefined && (await claimantOf(store, connection, { email: own }, depth + 1))) return one;
  }
  return undefined;
}

/** True while somebody has a parking address to let others move, or is just getting one. */
function isParked(connection: Connection, { observed, progress }: Identity): boolean {
  if (progress.parkedFrom === undefined) return false;
  const emails = [observed?.email, progress.announced?.email?.value];
  return observed === undefined || emails.some((one) => isParkingAddress(connection, String(one)));
}

/** The claimed identity, other than the task's own, whose traveler has the address, or is just being made with it. */
export async function holderOf(task: Task, email: string): Promise<Identity | undefined> {
  const { account } = task.connection;
  const holders = [
    await task.store.identities.findHolder(account, { travelEmail: email }),
    await task.store.identities.findHolder(account, { creating: email }),
  ];
  return holders.find((holder) => holder && holder.id !== task.identity.id);
}

/** The draft of an identity that wants an address which another traveler has. */
export function withWaiting(
  draft: Draft,
  email: string,
  finding: Finding = findings.emailTaken(email),
): Draft {
  if (draft.waitingFor !== undefined) return draft;
  return { ...withFinding(draft, finding), waitingFor: addressKey(email) };
}

/** The same where the holder is known: a leaver gives the address up if the connection says so. */
export async function withWaitingForHolder(
  task: Task,
  draft: Draft,
  { email, holder }: HeldAddress,
): Promise<Draft> {
  if (!isInactive(holder)) return withWaiting(draft, email);
  if (task.connection.policies.reclaimEmail) await task.enqueue(holder);
  return withWaiting(draft, email, findings.heldByLeaver(email));
}

/** A new address that nobody has, for a moment; undefined where the connection has no domain for it, or it was refused. */
export function parkingAddress(task: Task, { refused }: Pick<Draft, 'refused'>): string | undefined {
  const { parkingDomain } = task.connection;
  const before = refused.email;
  const isRefused =
    before?.basis === task.basis.version && isParkingAddress(task.connection, String(before.value));
  return parkingDomain === undefined || isRefused ? undefined : `parked-${task.newId()}@${parkingDomain}`;
}

/** True for a person who is not to travel: deactivated, or deleted by the IdP. */
export function isInactive({ desired, deletedAt }: Pick<Identity, 'desired' | 'deletedAt'>): boolean {
  return desired.active === false || deletedAt !== undefined;
}

/** The parking address of a leaver whose own address goes to somebody else; it is left again once the own one is free. */
async function addressGivenUp(task: Task, draft: Draft): Promise<string | undefined> {
  const { observed } = draft;
  if (!observed || !isInactive(task.identity) || isParkingAddress(task.connection, observed.email))
    return undefined;
  return (await mustGiveUp(task, observed.email)) ? parkingAddress(task, draft) : undefined;
}

/** True when a leaver's address goes to somebody else. */
export async function mustGiveUp({ connection, identity, store }: Task, email: string): Promise<boolean> {
  if (identity.origin.givesEmailUp) return true;
  return (
    connection.policies.reclaimEmail &&
    (await store.identities.isWaitedFor(connection.account, email, identity.id))
  );
}

/** The userName, if it is another address, and nobody has it. */
async function freeUserName(task: Task, draft: Draft): Promise<string | undefined> {
  const aside = task.translation.fallbackEmail;
  if (aside === undefined || isParkingAddress(task.connection, aside)) return undefined;
  const isOwn = draft.observed && addressKey(aside) === addressKey(draft.observed.email);
  return isOwn || (await obstacleTo(task, draft, aside)) ? undefined : aside;
}

/** People who wait for each other's addresses, from the holder of the address that an identity wants. */
interface Chain {
  members: Identity[];
  /**
   * `cycle`: the last of them waits for the address that this identity has, or had before it was parked; `open`: for one that
   * is free; `blocked`: the last of them will not move.
   */
  end: 'cycle' | 'open' | 'blocked';
}

async function chainFrom(task: Task, { observed, progress }: Draft, holder: Identity): Promise<Chain> {
  const members: Identity[] = [];
  // Not as the store has it, which does not know the address after a process died in the middle of a call.
  const own =
    observed && [observed.email, progress.parkedFrom].flatMap((one) => (one ? [addressKey(one)] : []));
  let next: Identity | undefined = holder;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    if (next.waitingFor === undefined || !mayMove(next)) return { members, end: 'blocked' };
    members.push(next);
    if (own?.includes(next.waitingFor)) return { members, end: 'cycle' };
    next = await task.store.identities.findHolder(task.connection.account, {
      travelEmailKey: next.waitingFor,
    });
    if (next?.id === task.identity.id) return { members, end: 'cycle' };
  }
  return { members, end: next ? 'blocked' : 'open' };
}

/** False for somebody whose address stays as it is. */
function mayMove({ applied, deletedAt, hold, observed }: Identity): boolean {
  if (deletedAt !== undefined || (hold !== undefined && hold.cause !== 'safetyValve')) return false;
  return observed === undefined || !isGuarded(observed, applied);
}

function userNameOf({ desired }: Identity): string {
  return String(desired.userName);
}

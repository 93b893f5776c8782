import { foldCase } from '../schema/fold.ts';
import type { Finding } from '../translator/result.ts';
import type { Connection } from './connection.ts';
import { findings } from './findings.ts';
import type { Identity } from './identity.ts';
import { type Draft, type Fields, noting, type Task } from './task.ts';

/** How far a chain of people who wait for each other's addresses is followed. */
const LONGEST_CHAIN = 50;

/** A draft with the fields that may be sent for it. */
export interface Addressed {
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
export async function withFreeAddress(task: Task, { draft, fields }: Addressed): Promise<Addressed> {
  const email = fields.email;
  if (email?.kind !== 'value' || typeof email.value !== 'string') return { draft, fields };
  const given = await addressGivenUp(task, draft);
  if (given !== undefined)
    return { draft, fields: { ...fields, email: { kind: 'value', value: given, source: email.source } } };
  const has = (address: string) =>
    draft.observed !== undefined && addressKey(draft.observed.email) === addressKey(address);
  if (has(email.value) || !(await holderOf(task, email.value))) return { draft, fields };
  // Noted before the second look: whoever moves away from now on makes this one dirty, and whoever closes a cycle sees it.
  await task.store.leases.waitFor(task.connection.id, task.identity.id, task.token, email.value);
  const holder = await holderOf(task, email.value);
  if (!holder) return { draft, fields };
  const waiting = await awaitingHolder(task, draft, { email: email.value, holder });
  const cycle = await cycleFrom(task, draft, holder);
  const aside = cycle && !(draft.observed && isParkingAddress(task.connection, draft.observed.email));
  const free = aside ? await freeAddress(task, draft) : undefined;
  if (free !== undefined)
    return {
      draft: waiting,
      fields: { ...fields, email: { kind: 'value', value: free, source: email.source } },
    };
  const isBlocked = aside && task.connection.parkingDomain !== undefined;
  const told = isBlocked
    ? noting(waiting, findings.swapBlocked(email.value, cycle.map(userNameOf)))
    : waiting;
  return { draft: told, fields: { ...fields, email: { kind: 'kept' } } };
}

/** The claimed identity, other than the task's own, whose traveler has the address, or is just being made with it. */
export async function holderOf(task: Task, email: string): Promise<Identity | undefined> {
  const { account } = task.connection;
  const holders = [
    await task.store.identities.holder(account, { travelEmail: email }),
    await task.store.identities.holder(account, { creating: email }),
  ];
  return holders.find((holder) => holder && holder.id !== task.identity.id);
}

/** The draft of an identity that wants an address which another traveler has. */
export function awaiting(draft: Draft, email: string, finding: Finding = findings.emailTaken(email)): Draft {
  if (draft.waitingFor !== undefined) return draft;
  return { ...noting(draft, finding), waitingFor: addressKey(email) };
}

/** The same where the holder is known: a leaver gives the address up if the connection says so. */
export async function awaitingHolder(
  task: Task,
  draft: Draft,
  { email, holder }: { email: string; holder: Identity },
): Promise<Draft> {
  if (!isInactive(holder)) return awaiting(draft, email);
  if (task.connection.policies.reclaimEmail) await task.enqueue(holder);
  return awaiting(draft, email, findings.heldByLeaver(email));
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

/** The userName, if it is an address that nobody has, else a parking address. */
async function freeAddress(task: Task, draft: Draft): Promise<string | undefined> {
  const aside = task.translation.fallbackEmail;
  const isOwn =
    aside !== undefined && draft.observed && addressKey(aside) === addressKey(draft.observed.email);
  if (aside !== undefined && !isOwn && !(await holderOf(task, aside))) return aside;
  return parkingAddress(task, draft);
}

/** Those who wait for each other's addresses in a cycle that this identity closes; undefined: there is no cycle. */
async function cycleFrom(task: Task, draft: Draft, holder: Identity): Promise<Identity[] | undefined> {
  // The present address may be of a moment ago, so the store may not know it yet.
  const own = draft.observed && addressKey(draft.observed.email);
  const members: Identity[] = [];
  let next: Identity | undefined = holder;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    const { waitingFor } = next;
    if (waitingFor === undefined) return undefined;
    members.push(next);
    if (waitingFor === own) return members;
    next = await task.store.identities.holder(task.connection.account, { travelEmailKey: waitingFor });
    if (next?.id === task.identity.id) return members;
  }
  return undefined;
}

function userNameOf({ desired }: Identity): string {
  return String(desired.userName);
}

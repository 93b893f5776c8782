import { foldCase } from '../schema/case-fold.ts';
import type { Finding, WantedField } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import type { Connection } from './connection.ts';
import { findings } from './findings.ts';
import { isAdministrator, isGuarded } from './guard.ts';
import type { Identity } from './identity.ts';
import {
  type OutcomeDraft,
  type ReconcileContext,
  type SendableFields,
  withFinding,
} from './reconcile-context.ts';
import type { Identities } from './store-ports.ts';

/** How far a chain of people who wait for each other's addresses is followed. */
const LONGEST_CHAIN = 50;

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
export async function resolveEmailConflict(
  context: ReconcileContext,
  { draft: before, fields }: SendableFields,
): Promise<SendableFields> {
  const draft = withParkedFromUpdated(context, before);
  const email = fields.email;
  if (email?.kind !== 'value' || typeof email.value !== 'string') return { draft, fields };
  const given = await addressForLeaver(context, draft);
  if (given !== undefined)
    return { draft, fields: { ...fields, email: { kind: 'value', value: given, source: email.source } } };
  if (isParkingAddress(context.connection, email.value))
    return {
      draft: withFinding(draft, findings.reservedEmail(email.value)),
      fields: { ...fields, email: { kind: 'kept' } },
    };
  const has = (address: string) =>
    draft.observed !== undefined && addressKey(draft.observed.email) === addressKey(address);
  if (has(email.value) || !(await findEmailObstacle(context, draft, email.value))) return { draft, fields };
  // Noted before the second look: whoever moves away from now on makes this one dirty, and whoever closes a cycle sees it.
  await context.saveEmailWait(email.value);
  const holder = await findEmailObstacle(context, draft, email.value);
  if (!holder) return { draft, fields };
  return withoutHeldEmail(context, { draft, fields }, { email: email.value, holder });
}

/** An address, and the identity whose traveler has it. */
interface HeldEmail {
  email: string;
  holder: Identity;
}

/** The fields without an address that the holder has; in a cycle, with another address to take meanwhile. */
export async function withoutHeldEmail(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  held: HeldEmail,
): Promise<SendableFields> {
  const waiting = await withEmailWaitForHolder(context, draft, held);
  const step = await chooseTemporaryEmail(context, waiting, held);
  const source = fields.email?.kind === 'value' ? fields.email.source : held.email;
  const email: WantedField =
    step.email === undefined ? { kind: 'kept' } : { kind: 'value', value: step.email, source };
  return { draft: step.draft, fields: { ...fields, email } };
}

/** The claimed identity, other than the context's own, of the first of these travelers that has one. */
export async function findIdentityAmong(
  { connection, identity, identities }: ReconcileContext,
  travelers: TravelUser[],
): Promise<Identity | undefined> {
  for (const { id } of travelers) {
    const holder = await identities.findHolder(connection.account, { travelId: id });
    if (holder && holder.id !== identity.id) return holder;
  }
  return undefined;
}

/** The draft that remembers, while the traveler has a parking address, which address it had before. */
function withParkedFromUpdated({ connection }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (progress.parkedFrom === undefined || !observed || isParkingAddress(connection, observed.email))
    return draft;
  const { parkedFrom: _, ...others } = progress;
  return { ...draft, progress: others };
}

/** What becomes of an identity whose address another has: the address to take meanwhile, if there is to be another one. */
async function chooseTemporaryEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, holder }: HeldEmail,
): Promise<{ draft: OutcomeDraft; email?: string | undefined }> {
  const { observed } = draft;
  if (!observed || isGuarded(observed, draft.applied)) return { draft };
  const { members, end } = await followWaitChain(context, draft, holder);
  if (isParkingAddress(context.connection, observed.email)) {
    const isStuck = end === 'blocked' && draft.progress.parkedFrom !== undefined;
    return { draft, email: isStuck ? await freeEmailToReturnTo(context, draft) : undefined };
  }
  if (end !== 'cycle') return { draft };
  const free = await freeUserName(context, draft);
  if (free !== undefined || context.connection.parkingDomain === undefined) return { draft, email: free };
  if (isAdministrator(observed))
    return { draft: await letAnotherMemberStepAside(context, draft, { email, members }) };
  const parked = newParkingAddress(context, draft);
  if (parked === undefined)
    return { draft: withFinding(draft, findings.swapBlocked(email, members.map(userNameOf))) };
  return { draft: { ...draft, progress: { ...draft.progress, parkedFrom: observed.email } }, email: parked };
}

/** An administrator gets no parking address: another one of the cycle steps aside. */
async function letAnotherMemberStepAside(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, members }: { email: string; members: Identity[] },
): Promise<OutcomeDraft> {
  const other = members.find(({ observed }) => observed && !isAdministrator(observed));
  if (!other) return withFinding(draft, findings.swapBlocked(email, members.map(userNameOf)));
  await context.enqueue(other);
  return draft;
}

/** The address that a traveler had before it was parked, else its userName, if one of them is free. */
async function freeEmailToReturnTo(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<string | undefined> {
  for (const address of [draft.progress.parkedFrom, context.translation.fallbackEmail]) {
    if (address === undefined || isParkingAddress(context.connection, address)) continue;
    if (!(await findEmailObstacle(context, draft, address))) return address;
  }
  return undefined;
}

/** Who keeps an identity from an address: its holder, or somebody who needs it for a swap that has begun. */
async function findEmailObstacle(
  context: ReconcileContext,
  draft: OutcomeDraft,
  email: string,
): Promise<Identity | undefined> {
  const holder = await findEmailHolder(context, email);
  if (holder) return holder;
  const { connection, identity, identities } = context;
  const claimant = await findClaimant({ identities }, connection, { email, except: identity.id });
  return claimant && !(await isPartOfSwap(context, draft)) ? claimant : undefined;
}

/** True for somebody who has a parking address, or whose address is needed for a swap that has begun. */
async function isPartOfSwap(
  { connection, identity, identities }: ReconcileContext,
  { observed, progress }: OutcomeDraft,
): Promise<boolean> {
  if (!observed) return false;
  if (progress.parkedFrom !== undefined && isParkingAddress(connection, observed.email)) return true;
  return (
    (await findClaimant({ identities }, connection, { email: observed.email, except: identity.id })) !==
    undefined
  );
}

/**
 * The person for whom an address is kept free while addresses are swapped: who has a parking address until they get this one,
 * or who waits for it and has an address that is kept for another one of the swap.
 */
export async function findClaimant(
  deps: { identities: Pick<Identities, 'findWaiters'> },
  connection: Connection,
  { email, except }: { email: string; except?: string },
  depth = 0,
): Promise<Identity | undefined> {
  if (depth === LONGEST_CHAIN) return undefined;
  for (const one of await deps.identities.findWaiters(connection.account, email)) {
    if (one.id === except || !mayMove(one)) continue;
    if (isParked(connection, one)) return one;
    const own = one.observed?.email;
    if (own !== undefined && (await findClaimant(deps, connection, { email: own }, depth + 1))) return one;
  }
  return undefined;
}

/** True while somebody has a parking address to let others move, or is just getting one. */
function isParked(connection: Connection, { observed, progress }: Identity): boolean {
  if (progress.parkedFrom === undefined) return false;
  const emails = [observed?.email, progress.announced?.email?.value];
  return observed === undefined || emails.some((one) => isParkingAddress(connection, String(one)));
}

/** The claimed identity, other than the context's own, whose traveler has the address, or is just being made with it. */
export async function findEmailHolder(
  context: ReconcileContext,
  email: string,
): Promise<Identity | undefined> {
  const { account } = context.connection;
  const holders = [
    await context.identities.findHolder(account, { travelEmail: email }),
    await context.identities.findHolder(account, { creating: email }),
  ];
  return holders.find((holder) => holder && holder.id !== context.identity.id);
}

/** The draft of an identity that wants an address which another traveler has. */
export function withEmailWait(
  draft: OutcomeDraft,
  email: string,
  finding: Finding = findings.emailTaken(email),
): OutcomeDraft {
  if (draft.waitingFor !== undefined) return draft;
  return { ...withFinding(draft, finding), waitingFor: addressKey(email) };
}

/** The same where the holder is known: a leaver gives the address up if the connection says so. */
export async function withEmailWaitForHolder(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, holder }: HeldEmail,
): Promise<OutcomeDraft> {
  if (!isInactive(holder)) return withEmailWait(draft, email);
  if (context.connection.policies.reclaimEmail) await context.enqueue(holder);
  return withEmailWait(draft, email, findings.heldByLeaver(email));
}

/** A new address that nobody has, for a moment; undefined where the connection has no domain for it, or it was refused. */
export function newParkingAddress(
  context: ReconcileContext,
  { refused }: Pick<OutcomeDraft, 'refused'>,
): string | undefined {
  const { parkingDomain } = context.connection;
  const before = refused.email;
  const isRefused =
    before?.basis === context.rulesSnapshot.version &&
    isParkingAddress(context.connection, String(before.value));
  return parkingDomain === undefined || isRefused ? undefined : `parked-${context.newId()}@${parkingDomain}`;
}

/** True for a person who is not to travel: deactivated, or deleted by the IdP. */
export function isInactive({ desired, deletedAt }: Pick<Identity, 'desired' | 'deletedAt'>): boolean {
  return desired.active === false || deletedAt !== undefined;
}

/** The parking address of a leaver whose own address goes to somebody else; it is left again once the own one is free. */
async function addressForLeaver(context: ReconcileContext, draft: OutcomeDraft): Promise<string | undefined> {
  const { observed } = draft;
  if (!observed || !isInactive(context.identity) || isParkingAddress(context.connection, observed.email))
    return undefined;
  return (await mustGiveEmailUp(context, observed.email)) ? newParkingAddress(context, draft) : undefined;
}

/** True when a leaver's address goes to somebody else. */
export async function mustGiveEmailUp(
  { connection, identity, identities }: ReconcileContext,
  email: string,
): Promise<boolean> {
  if (identity.origin.givesEmailUp) return true;
  return (
    connection.policies.reclaimEmail && (await identities.isWaitedFor(connection.account, email, identity.id))
  );
}

/** The userName, if it is another address, and nobody has it. */
async function freeUserName(context: ReconcileContext, draft: OutcomeDraft): Promise<string | undefined> {
  const aside = context.translation.fallbackEmail;
  if (aside === undefined || isParkingAddress(context.connection, aside)) return undefined;
  const isOwn = draft.observed && addressKey(aside) === addressKey(draft.observed.email);
  return isOwn || (await findEmailObstacle(context, draft, aside)) ? undefined : aside;
}

/** People who wait for each other's addresses, from the holder of the address that an identity wants. */
interface WaitChain {
  members: Identity[];
  /**
   * `cycle`: the last of them waits for the address that this identity has, or had before it was parked; `open`: for one that
   * is free; `blocked`: the last of them will not move.
   */
  end: 'cycle' | 'open' | 'blocked';
}

async function followWaitChain(
  context: ReconcileContext,
  { observed, progress }: OutcomeDraft,
  holder: Identity,
): Promise<WaitChain> {
  const members: Identity[] = [];
  // Not as the store has it, which does not know the address after a process died in the middle of a call.
  const own =
    observed && [observed.email, progress.parkedFrom].flatMap((one) => (one ? [addressKey(one)] : []));
  let next: Identity | undefined = holder;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    if (next.waitingFor === undefined || !mayMove(next)) return { members, end: 'blocked' };
    members.push(next);
    if (own?.includes(next.waitingFor)) return { members, end: 'cycle' };
    next = await context.identities.findHolder(context.connection.account, {
      travelEmailKey: next.waitingFor,
    });
    if (next?.id === context.identity.id) return { members, end: 'cycle' };
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

import type { WantedField } from '../../../translator/translation.ts';
import type { TravelUser } from '../../../translator/traveler.ts';
import type { ConnectionSettings } from '../../connection.ts';
import { findings } from '../../findings.ts';
import { type Identity, isInactive, userNameOf } from '../../identity.ts';
import {
  type OutcomeDraft,
  type ReconcileContext,
  type SendableFields,
  type WantedFields,
  withFinding,
  withProgress,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { isAdministrator, isGuarded } from '../guard.ts';
import {
  addressKey,
  findEmailHolder,
  isParkingAddress,
  isStaying,
  isTakenByStranger,
  newParkingAddress,
  withEmailWait,
} from './addresses.ts';
import { chooseLeaverEmail } from './leaver-email.ts';

/**
 * Replaces the wanted address if another traveler of the account has it: the traveler keeps its current address, and
 * the identity waits for the wanted one. In a cycle of identities that wait for each other, one of them temporarily
 * takes its userName (if that is a free address) or a parking address. If the other traveler is archived and the policy
 * `reclaimEmail` is set, that traveler gives the address up.
 */
export function* resolveEmailConflict(
  context: ReconcileContext,
  { draft: before, fields }: SendableFields,
): Program<SendableFields> {
  const draft = withParkedFromUpdated(context, before);
  const email = fields.email;
  if (email?.kind !== 'value' || typeof email.value !== 'string') return { draft, fields };
  const leavers = yield* chooseLeaverEmail(context, draft, email.value);
  if (leavers) return { draft: leavers.draft, fields: withEmailReplaced(fields, leavers.email, email.value) };
  if (isParkingAddress(context.connection, email.value))
    return {
      draft: withFinding(draft, findings.reservedEmail(email.value)),
      fields: { ...fields, email: { kind: 'kept' } },
    };
  const { observed } = draft;
  const isAsWanted = observed !== undefined && addressKey(observed.email) === addressKey(email.value);
  // The guard keeps the address of such a traveler, so nobody is asked to give another one up for it.
  const isKept = observed !== undefined && isGuarded(observed, draft.applied);
  // The travel service has another address in its place, which is reported and not corrected.
  const { email: applied } = draft.applied;
  const isParked = observed !== undefined && isParkingAddress(context.connection, observed.email);
  const isDriftKept = !isParked && applied?.unsure !== true && applied?.sent === email.value;
  if (isAsWanted || isKept || isDriftKept || !(yield* findEmailObstacle(context, draft, email.value)))
    return { draft, fields };
  // The wait is saved before the second lookup: an address that is freed from now on makes this identity dirty, and an
  // identity
  // that closes a cycle finds the wait.
  yield* perform('waitForEmail', email.value);
  const holder = yield* findEmailObstacle(context, draft, email.value);
  if (!holder) return { draft, fields };
  return yield* withoutHeldEmail(context, { draft, fields }, { email: email.value, holder });
}

/** Returns the fields with another address in place of the wanted one; undefined: the traveler keeps its address. */
export function withEmailReplaced(
  fields: WantedFields,
  email: string | undefined,
  wanted: string,
): WantedFields {
  const source = fields.email?.kind === 'value' ? fields.email.source : wanted;
  const field: WantedField = email === undefined ? { kind: 'kept' } : { kind: 'value', value: email, source };
  return { ...fields, email: field };
}

/** An address, and the identity whose traveler has it at present. */
interface HeldEmail {
  email: string;
  holder: Identity;
  /** True if the travel API has refused the userName of this identity, because another traveler has it as its address. */
  isUserNameTaken?: true;
}

/**
 * Replaces an address that another identity's traveler has: by a temporary address if the identities wait for each
 * other in a cycle, else by the traveler's current address.
 */
export function* withoutHeldEmail(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  held: HeldEmail,
): Program<SendableFields> {
  const waiting = yield* withEmailWaitForHolder(context, draft, held);
  const temporary = yield* chooseTemporaryEmail(context, waiting, held);
  return { draft: temporary.draft, fields: withEmailReplaced(fields, temporary.email, held.email) };
}

/** Finds the first claimed identity, other than this one, that is linked to one of these travelers. */
export function* findIdentityAmong(
  { identity }: ReconcileContext,
  travelers: TravelUser[],
): Program<Identity | undefined> {
  for (const { id } of travelers) {
    const holder = yield* perform('findHolder', { travelId: id });
    if (holder && holder.id !== identity.id) return holder;
  }
  return undefined;
}

/** Drops the record of the address from before the parking address, once the traveler has left the parking address. */
function withParkedFromUpdated({ connection }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (progress.parkedFrom === undefined || !observed || isParkingAddress(connection, observed.email))
    return draft;
  return withProgress(draft, { parkedFrom: undefined });
}

/**
 * Chooses a temporary address for the traveler while it waits for another one; undefined if it keeps the current
 * address.
 */
function* chooseTemporaryEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, holder, isUserNameTaken }: HeldEmail,
): Program<{ draft: OutcomeDraft; email?: string | undefined }> {
  const { observed } = draft;
  if (!observed || isGuarded(observed, draft.applied)) return { draft };
  const { members, end } = yield* followWaitChain(context, draft, holder);
  if (isParkingAddress(context.connection, observed.email)) {
    // A leaver who is back, or stays, does not wait with an address that receives no mail.
    const isInUse = !isInactive(context.identity) || isStaying(context.identity, observed);
    const mustReturn = end === 'blocked' && (isInUse || draft.progress.parkedFrom !== undefined);
    // The address from before, else the userName.
    const earlier = [draft.progress.parkedFrom, context.translation.fallbackEmail];
    return { draft, email: mustReturn ? yield* firstFreeEmail(context, draft, earlier) : undefined };
  }
  if (end !== 'cycle') return { draft };
  const free = isUserNameTaken ? undefined : yield* freeUserName(context, draft);
  if (free !== undefined || context.connection.parkingDomain === undefined) return { draft, email: free };
  if (isAdministrator(observed))
    return { draft: yield* letAnotherMemberStepAside(draft, { email, members }) };
  const parked = yield* newParkingAddress(context, draft);
  if (parked === undefined)
    return { draft: withFinding(draft, findings.swapBlocked(email, members.map(userNameOf))) };
  return { draft: withProgress(draft, { parkedFrom: observed.email }), email: parked };
}

/**
 * Makes another member of the cycle take a temporary address: this traveler is an administrator, which never gets a
 * parking address.
 */
function* letAnotherMemberStepAside(
  draft: OutcomeDraft,
  { email, members }: { email: string; members: Identity[] },
): Program<OutcomeDraft> {
  const other = members.find(({ observed }) => observed && !isAdministrator(observed));
  if (!other?.observed) return withFinding(draft, findings.swapBlocked(email, members.map(userNameOf)));
  yield* perform('askForEmail', other, other.observed.email);
  return draft;
}

/** Returns the first of these addresses that is free and no parking address; undefined if there is none. */
export function* firstFreeEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  addresses: (string | undefined)[],
): Program<string | undefined> {
  for (const address of addresses) {
    if (address === undefined || isParkingAddress(context.connection, address)) continue;
    if (yield* findEmailObstacle(context, draft, address)) continue;
    if (!(yield* isTakenByStranger(context, draft, address))) return address;
  }
  return undefined;
}

/** Finds the identity that has the address, or that needs it to complete a swap in progress. */
function* findEmailObstacle(
  context: ReconcileContext,
  draft: OutcomeDraft,
  email: string,
): Program<Identity | undefined> {
  const holder = yield* findEmailHolder(context, email);
  if (holder) return holder;
  const { connection, identity } = context;
  const claimant = yield* findClaimant(connection, { email, except: identity.id });
  return claimant && !(yield* isPartOfSwap(context, draft)) ? claimant : undefined;
}

/**
 * True if a swap is in progress that involves this traveler: it has a parking address, or another member needs its
 * address.
 */
function* isPartOfSwap(
  { connection, identity }: ReconcileContext,
  { observed, progress }: OutcomeDraft,
): Program<boolean> {
  if (!observed) return false;
  if (progress.parkedFrom !== undefined && isParkingAddress(connection, observed.email)) return true;
  return (yield* findClaimant(connection, { email: observed.email, except: identity.id })) !== undefined;
}

/**
 * Finds the identity for which the address is reserved during a swap. This identity waits for the address; its traveler
 * has a parking address, or its own address is reserved for another member of the swap.
 */
export function* findClaimant(
  connection: ConnectionSettings,
  { email, except }: { email: string; except?: string },
  depth = 0,
): Program<Identity | undefined> {
  if (depth === LONGEST_CHAIN) return undefined;
  const waiters = yield* perform('findWaiters', email);
  return yield* findClaimantAmong(connection, { waiters, except }, depth);
}

/** Finds the claimant among the identities that wait for the address. */
export function* findClaimantAmong(
  connection: ConnectionSettings,
  { waiters, except }: { waiters: Identity[]; except?: string | undefined },
  depth = 0,
): Program<Identity | undefined> {
  for (const one of waiters) {
    if (one.id === except || !mayMove(one)) continue;
    if (isParked(connection, one)) return one;
    const own = one.observed?.email;
    if (own !== undefined && (yield* findClaimant(connection, { email: own }, depth + 1))) return one;
  }
  return undefined;
}

/** True if the traveler has a parking address for a swap, or if a call that sets one is announced. */
function isParked(connection: ConnectionSettings, { observed, progress }: Identity): boolean {
  if (progress.parkedFrom === undefined) return false;
  const emails = [observed?.email, progress.announced?.email?.value];
  return observed === undefined || emails.some((one) => isParkingAddress(connection, String(one)));
}

/**
 * Records that the identity waits for an address and which identity has it. If that identity is inactive and gives its address up, by the
 * policy `reclaimEmail` or for its successor, it becomes dirty so that it does.
 */
export function* withEmailWaitForHolder(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, holder }: HeldEmail,
): Program<OutcomeDraft> {
  if (!isInactive(holder)) return withEmailWait(draft, email);
  if (context.connection.policies.reclaimEmail || holder.origin.successor)
    yield* perform('askForEmail', holder, email);
  return withEmailWait(draft, email, findings.heldByLeaver(email));
}

/** Returns the userName if it is an email address that is free and not the current one. */
function* freeUserName(context: ReconcileContext, draft: OutcomeDraft): Program<string | undefined> {
  const userName = context.translation.fallbackEmail;
  const isOwn =
    userName !== undefined && draft.observed && addressKey(userName) === addressKey(draft.observed.email);
  return isOwn ? undefined : yield* firstFreeEmail(context, draft, [userName]);
}

/** The search for a cycle of identities that wait for each other's addresses stops after this many identities. */
const LONGEST_CHAIN = 50;

/**
 * A chain of identities, each of which waits for the address of the next. It begins with the identity that has the
 * wanted address.
 */
interface WaitChain {
  members: Identity[];
  /**
   * The end of the chain. `cycle`: its last member waits for the address that this identity has, or had before its
   * parking address. `open`: its last member waits for a free address. `blocked`: its last member keeps its address.
   */
  end: 'cycle' | 'open' | 'blocked';
}

function* followWaitChain(
  context: ReconcileContext,
  { observed, progress }: OutcomeDraft,
  holder: Identity,
): Program<WaitChain> {
  const members: Identity[] = [];
  // Use the addresses of the draft: if a process died during a call, the store may not have the current address.
  const own =
    observed && [observed.email, progress.parkedFrom].flatMap((one) => (one ? [addressKey(one)] : []));
  let next: Identity | undefined = holder;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    if (next.waitingFor === undefined || !mayMove(next)) return { members, end: 'blocked' };
    members.push(next);
    if (own?.includes(next.waitingFor)) return { members, end: 'cycle' };
    next = yield* perform('findHolder', { travelEmailKey: next.waitingFor });
    if (next?.id === context.identity.id) return { members, end: 'cycle' };
  }
  return { members, end: next ? 'blocked' : 'open' };
}

/**
 * False for an identity whose address cannot change without an admin or the IdP: a tombstone, a held identity, or a
 * guarded traveler.
 */
function mayMove({ applied, deletedAt, hold, observed }: Identity): boolean {
  if (deletedAt !== undefined || (hold !== undefined && hold.cause !== 'safetyValve')) return false;
  return observed === undefined || !isGuarded(observed, applied);
}

import { isInactive } from '../../identity.ts';
import { type OutcomeDraft, type ReconcileContext, withProgress } from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { isAdministrator } from '../guard.ts';
import {
  addressKey,
  findEmailHolder,
  isParkingAddress,
  isStaying,
  newParkingAddress,
  withEmailDoubted,
} from './addresses.ts';

/** The address that the traveler of a leaver gets; `email` is undefined if it keeps the present one. */
export interface LeaverEmail {
  draft: OutcomeDraft;
  email: string | undefined;
}

/**
 * Chooses the address of the traveler of a leaver whose address another identity has or needs: the own one if it has another one and that is free,
 * else a parking address. Returns undefined if the address is the leaver's, as that of a person whose departure is held or was discarded. The leaver then waits for the own address,
 * without a finding.
 */
export function* chooseLeaverEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  own: string,
): Program<LeaverEmail | undefined> {
  const { observed, progress } = draft;
  const { connection, identity } = context;
  if (!observed || !isInactive(identity) || isStaying(identity, observed)) return undefined;
  const waiting = { ...draft, waitingFor: draft.waitingFor ?? addressKey(own) };
  if (isParkingAddress(connection, observed.email)) {
    // In the middle of a swap, the traveler takes part in it as before.
    const isSwapping = progress.parkedFrom !== undefined && identity.deletedAt === undefined;
    const isNeeded = !isSwapping && (yield* mustWaitForOwnEmail(context, own));
    return isNeeded ? { draft: waiting, email: undefined } : undefined;
  }
  if (isAdministrator(observed) || !mayGiveEmailUp(context)) return undefined;
  if (!(yield* isNeededByOthers(context, observed.email))) return undefined;
  // A traveler that gives up another address than the own one takes the own one, if that is free.
  const hasOwn = addressKey(observed.email) === addressKey(own);
  if (!hasOwn && (yield* canTakeOwnEmail(context, own)))
    return { draft: withEmailDoubted(draft), email: own };
  if (!(yield* isNeededAfterWait(context, observed.email, own))) return undefined;
  const email = yield* newParkingAddress(context, draft);
  // A swap that was under way at the departure is over: the leaver waits behind all others.
  return email === undefined ? undefined : { draft: withProgress(waiting, { parkedFrom: undefined }), email };
}

/** True if no other identity has or needs the own address of a leaver, and no traveler that the store does not know has it. */
function* canTakeOwnEmail(context: ReconcileContext, own: string): Program<boolean> {
  if (isParkingAddress(context.connection, own) || (yield* mustWaitForOwnEmail(context, own))) return false;
  const found = yield* perform('findTravelers', [own]);
  return found.kind !== 'ok' || found.value.length === 0;
}

/** True if others need the own address of a leaver. */
function* mustWaitForOwnEmail(context: ReconcileContext, own: string): Program<boolean> {
  return (yield* isNeededByOthers(context, own)) && (yield* isNeededAfterWait(context, own, own));
}

/**
 * True if others still need the address. The wait for the own one is saved before this look: whoever frees it or stops to need it from now on
 * makes this identity dirty.
 */
function* isNeededAfterWait(context: ReconcileContext, email: string, own: string): Program<boolean> {
  yield* perform('waitForEmail', own);
  return yield* isNeededByOthers(context, email);
}

function mayGiveEmailUp({ connection, identity }: ReconcileContext): boolean {
  return identity.origin.successor !== undefined || connection.policies.reclaimEmail;
}

/** True if the traveler of another identity has the address, or if an active user waits for it or is the successor who wants it. */
function* isNeededByOthers(context: ReconcileContext, email: string): Program<boolean> {
  const { identity } = context;
  const { successor } = identity.origin;
  if (yield* findEmailHolder(context, email)) return true;
  if (yield* perform('isWaitedFor', email)) return true;
  if (!successor) return false;
  const users = yield* perform('findIdentities', successor.connection, { by: 'email', value: email });
  return users.some((one) => one.id === successor.id && !isInactive(one));
}

import { addressKey, isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { type Identity, isInactive } from '../../../model/identity.ts';
import type { WantedField } from '../../../model/translation.ts';
import { isAdministrator, type TravelUser } from '../../../model/traveler.ts';
import {
  type OutcomeDraft,
  type ReconcileContext,
  type SendableFields,
  type WantedFields,
  withFinding,
} from '../context.ts';
import { isDepartureOpen, isGuarded } from '../departure/guard.ts';
import { type Program, perform } from '../effects.ts';
import { isInPilot } from '../pilot.ts';
import {
  canGiveEmailUp,
  findEmailHolder,
  isStaying,
  isTakenByStranger,
  newParkingAddress,
  withEmailWait,
} from './addresses.ts';
import { chooseLeaverEmail } from './leaver-email.ts';

/**
 * Replaces the wanted address if the traveler of another identity of the account has it: the identity waits for it. Meanwhile its traveler
 * keeps the present address, unless somebody else waits for that one. A leaver gives its address to whoever needs it.
 */
export function* resolveEmailConflict(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
): Program<SendableFields> {
  const email = fields.email;
  if (email?.kind !== 'value' || typeof email.value !== 'string') return { draft, fields };
  const { observed } = draft;
  const isLeaver =
    observed !== undefined && isInactive(context.identity) && !isStaying(context.identity, observed);
  const leavers = isLeaver ? yield* chooseLeaverEmail(context, draft) : 'own';
  if (leavers !== 'own') return { draft, fields: withEmailReplaced(fields, leavers, email.value) };
  if (isParkingAddress(context.connection, email.value))
    return {
      draft: withFinding(draft, findings.reservedEmail(email.value)),
      fields: { ...fields, email: { kind: 'kept' } },
    };
  const isAsWanted = observed !== undefined && addressKey(observed.email) === addressKey(email.value);
  // The guard keeps the address of such a traveler, so nobody is asked to give another one up for it.
  const isKept = observed !== undefined && isGuarded(observed, draft.applied);
  // The travel service has another address in its place, which is reported and not corrected.
  const { email: applied } = draft.applied;
  const isParked = observed !== undefined && isParkingAddress(context.connection, observed.email);
  const isDriftKept = !isParked && applied?.seen !== undefined && applied.sent === email.value;
  if (isAsWanted || isKept || isDriftKept || !(yield* findEmailHolder(context, email.value)))
    return { draft, fields };
  // The wait is saved before the second lookup: an address that is freed from now on makes this identity dirty.
  yield* perform('waitForEmail', email.value);
  const holder = yield* findEmailHolder(context, email.value);
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

/** An address, and the identity whose traveler has it at present; undefined if the store knows of none. */
interface HeldEmail {
  email: string;
  holder: Identity | undefined;
  /** True if the travel API has refused the userName of this identity, because another traveler has it as its address. */
  isUserNameTaken?: true;
}

/** Replaces an address that another traveler has by one that the traveler may have while it waits. */
export function* withoutHeldEmail(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  held: HeldEmail,
): Program<SendableFields> {
  const waiting = yield* withEmailWaitForHolder(context, draft, held);
  const email = yield* chooseWaitingEmail(context, waiting, held);
  return { draft: waiting, fields: withEmailReplaced(fields, email, held.email) };
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

/**
 * Chooses the address of a traveler that waits for another one; undefined if it keeps the present one. One that has a parking address, or that
 * others wait for, takes the userName if that is free, else a parking address.
 */
function* chooseWaitingEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { isUserNameTaken }: Pick<HeldEmail, 'isUserNameTaken'>,
): Program<string | undefined> {
  const { observed } = draft;
  if (!observed || isGuarded(observed, draft.applied)) return undefined;
  const isParked = isParkingAddress(context.connection, observed.email);
  if (!isParked && !(yield* perform('isWaitedFor', observed.email))) return undefined;
  const free = isUserNameTaken ? undefined : yield* freeUserName(context, draft);
  if (free !== undefined || isParked || isAdministrator(observed)) return free;
  return yield* newParkingAddress(context, draft);
}

/**
 * Records that the identity waits for an address, and asks for it: a leaver gives it up, and so does a traveler that waits for another address.
 * Two active people who cannot move ask each other only once, when the wait begins.
 */
export function* withEmailWaitForHolder(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, holder }: HeldEmail,
): Program<OutcomeDraft> {
  if (!holder) return withEmailWait(draft, email);
  const { connection, identity } = context;
  // Who has left asks nobody, so that the wait begins again with the return.
  const isNew = identity.waitingFor !== addressKey(email) || identity.applied['archived']?.sent === true;
  const isAsked = isInactive(holder)
    ? !isInactive(identity)
    : isNew && holder.waitingFor !== undefined && holder.waitingFor !== addressKey(email);
  if (isAsked) yield* perform('askForEmail', holder, email);
  const isLeaver = isInactive(holder) && !isInactive(identity) && !isDepartureOpen(holder);
  const isFreedSoon = isLeaver && canGiveEmailUp(holder, connection);
  const isPlanned = isInPilot(context) && holder.progress.shadow?.email !== undefined;
  const tellTaken = isPlanned ? findings.plannedEmail : findings.emailTaken;
  return withEmailWait(draft, email, isFreedSoon ? findings.heldByLeaver(email) : tellTaken(email));
}

/** Returns the userName if it is an email address that is free, that nobody waits for, and not the current one. */
function* freeUserName(context: ReconcileContext, draft: OutcomeDraft): Program<string | undefined> {
  const { connection, translation } = context;
  const userName = translation.fallbackEmail;
  if (userName === undefined || isParkingAddress(connection, userName)) return undefined;
  if (draft.observed && addressKey(userName) === addressKey(draft.observed.email)) return undefined;
  if (yield* findEmailHolder(context, userName)) return undefined;
  if (yield* perform('isWaitedFor', userName)) return undefined;
  return (yield* isTakenByStranger(context, draft, userName)) ? undefined : userName;
}

import { addressKey, isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import {
  endInFailure,
  type ReconcileContext,
  type ReconcileResult,
  type SendableFields,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { findEmailHolder, withEmailWait } from './addresses.ts';
import { findIdentityAmong, withEmailReplaced, withoutHeldEmail } from './conflicts.ts';

/** An address that the travel API has refused as taken, and whether it was sent a second time. */
interface RefusedEmail {
  email: string;
  isSentAgain: boolean;
}

/**
 * Replaces the address that another traveler has, as the travel API says. The wait is saved before the lookup: an address that was freed before
 * is sent again (`free`), and one that is freed later makes this identity dirty.
 */
export function* withoutTakenEmail(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  { email, isSentAgain }: RefusedEmail,
): Program<SendableFields | ReconcileResult | 'free'> {
  const awaited = awaitedInPlaceOf(context, { draft, fields }, email);
  if (awaited === undefined) yield* perform('waitForEmail', email);
  const holders = yield* perform('findTravelers', [email]);
  if (holders.kind !== 'ok') return endInFailure(withEmailWait(draft, email), holders);
  const isFree = holders.value.length === 0;
  if (isFree && !isSentAgain) return 'free';
  const awaitedHolder = awaited === undefined ? undefined : yield* findEmailHolder(context, awaited);
  if (awaited !== undefined && awaitedHolder)
    return yield* withoutHeldEmail(
      context,
      { draft, fields },
      { email: awaited, holder: awaitedHolder, isUserNameTaken: true },
    );
  const holder = yield* findIdentityAmong(context, holders.value);
  if (holder) return yield* withoutHeldEmail(context, { draft, fields }, { email, holder });
  const finding = isFree ? findings.unfindableEmail(email) : findings.emailTaken(email);
  return {
    draft: withEmailWait(draft, email, finding),
    fields: withEmailReplaced(fields, undefined, email),
  };
}

/**
 * Returns the wanted address, if the refused one is the userName that the traveler was to have while it waits. A traveler with a parking address
 * has what it needs for that.
 */
function awaitedInPlaceOf(
  { connection, translation: { fields, fallbackEmail } }: ReconcileContext,
  { draft }: SendableFields,
  email: string,
): string | undefined {
  const wanted = fields.email;
  if (wanted?.kind !== 'value' || typeof wanted.value !== 'string' || fallbackEmail === undefined)
    return undefined;
  const isUserName = addressKey(email) === addressKey(fallbackEmail);
  const isParked = draft.observed !== undefined && isParkingAddress(connection, draft.observed.email);
  const isAwaited = draft.waitingFor === addressKey(wanted.value) && draft.waitingFor !== addressKey(email);
  return isUserName && isAwaited && !isParked ? wanted.value : undefined;
}

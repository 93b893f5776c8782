import { addressKey } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import {
  endInFailure,
  type ReconcileContext,
  type ReconcileResult,
  type SendableFields,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { findEmailHolder, withEmailWait } from './addresses.ts';
import { findIdentityAmong, withoutHeldEmail } from './conflicts.ts';

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
  if (awaited !== undefined) {
    const held = {
      email: awaited,
      holder: yield* findEmailHolder(context, awaited),
      isUserNameTaken: true,
    } as const;
    return yield* withoutHeldEmail(context, { draft, fields }, held);
  }
  const holder = yield* findIdentityAmong(context, holders.value);
  const told = isFree ? withEmailWait(draft, email, findings.unfindableEmail(email)) : draft;
  return yield* withoutHeldEmail(context, { draft: told, fields }, { email, holder });
}

/** Returns the wanted address, if the refused one is the userName that the traveler was to have while it waits. */
function awaitedInPlaceOf(
  { translation: { fields, fallbackEmail } }: ReconcileContext,
  { draft }: SendableFields,
  email: string,
): string | undefined {
  const wanted = fields.email;
  if (wanted?.kind !== 'value' || typeof wanted.value !== 'string' || fallbackEmail === undefined)
    return undefined;
  const isUserName = addressKey(email) === addressKey(fallbackEmail);
  const isAwaited = draft.waitingFor === addressKey(wanted.value) && draft.waitingFor !== addressKey(email);
  return isUserName && isAwaited ? wanted.value : undefined;
}

import { emptyPlan, type Plan } from '../translator/plan.ts';
import {
  addressKey,
  chooseLeaverEmail,
  firstFreeEmail,
  isParkingAddress,
  type LeaverEmail,
  withEmailWait,
} from './email-conflicts.ts';
import { findings } from './findings.ts';
import { isAdministrator } from './guard.ts';
import { isKeptActive } from './kept-active.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';
import { patchTraveler, readTraveler } from './traveler-calls.ts';

/**
 * Gives the traveler of a tombstone a parking address if another identity needs its address, and the own address back once nobody has or
 * needs it. An administrator keeps the address.
 */
export async function settleTombstoneEmail(
  context: ReconcileContext,
  { draft: before, end }: ReconcileResult,
  { travelId, isFresh }: { travelId: string; isFresh: boolean },
): Promise<ReconcileResult> {
  const { draft, email } = await chooseTombstoneEmail(context, before);
  if (email === undefined) return { draft, end };
  if (isFresh) return sendEmail(context, { draft, end }, { travelId, email });
  // The traveler may have become an administrator in the travel service.
  const current = await readTraveler(context, before, travelId);
  if (current === 'gone') return endInState(withoutLink(before), 'synced');
  if ('end' in current) return current;
  return settleTombstoneEmail(context, { draft: current, end }, { travelId, isFresh: true });
}

async function chooseTombstoneEmail(context: ReconcileContext, draft: OutcomeDraft): Promise<LeaverEmail> {
  const { connection, identity } = context;
  const { observed } = draft;
  const unchanged = { draft, email: undefined };
  const isKept = isKeptActive(identity) && observed?.archived === false;
  if (!observed || isAdministrator(observed) || (!observed.archived && !isKept)) return unchanged;
  const own = ownEmail(context) ?? observed.email;
  const chosen = await chooseLeaverEmail(context, draft, own);
  if (chosen) return chosen;
  if (!isParkingAddress(connection, observed.email) || isParkingAddress(connection, own)) return unchanged;
  if (!isKept) return { draft, email: own };
  const email = await firstFreeEmail(context, draft, [own, context.translation.fallbackEmail]);
  return { draft: email === own ? draft : withEmailWait(draft, own), email };
}

/** The address that the traveler had by the rules. */
function ownEmail({ translation: { fields, fallbackEmail } }: ReconcileContext): string | undefined {
  const { email } = fields;
  return email?.kind === 'value' && typeof email.value === 'string' ? email.value : fallbackEmail;
}

async function sendEmail(
  context: ReconcileContext,
  { draft, end }: ReconcileResult,
  { travelId, email: value }: { travelId: string; email: string },
): Promise<ReconcileResult> {
  const plan: Plan = { ...emptyPlan, set: { email: { value, source: value } } };
  const sent = await patchTraveler(context, draft, { travelId, plan });
  if (!('failure' in sent)) return { draft: { ...sent.draft, creating: undefined }, end };
  return handlePatchFailure(sent, (known) => ({ draft: withRefusedEmail(context, known, value), end }));
}

/** An address that a traveler without an identity has stays awaited. A refused parking address is recorded. */
function withRefusedEmail(context: ReconcileContext, draft: OutcomeDraft, value: string): OutcomeDraft {
  if (!isParkingAddress(context.connection, value))
    return { ...draft, waitingFor: draft.waitingFor ?? addressKey(value) };
  // Recorded, so that no other parking address is tried under these rules, and the newcomer is held.
  const reason = 'it keeps the address of a leaver';
  const email = { value, basis: context.rulesSnapshot.version, reason };
  return withFinding(
    { ...draft, waitingFor: undefined, refused: { ...draft.refused, email } },
    findings.refused('email', value, reason),
  );
}

/**
 * Ends the reconciliation of a tombstone after a failed PATCH. If the travel API refuses the values, the callback
 * `refused` returns the result.
 */
export function handlePatchFailure(
  { draft, failure }: { draft: OutcomeDraft; failure: TravelFailure },
  refused: (draft: OutcomeDraft) => ReconcileResult,
): ReconcileResult {
  switch (failure.kind) {
    case 'notFound':
      return endInState(withoutLink(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return refused(withoutAnnouncedCall(draft));
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(failure) ? draft : withoutAnnouncedCall(draft), failure);
  }
}

/** Returns the draft of a tombstone whose traveler does not exist any more. */
export function withoutLink(draft: OutcomeDraft): OutcomeDraft {
  return { ...withoutAnnouncedCall(draft), travelId: undefined, observed: undefined, creating: undefined };
}

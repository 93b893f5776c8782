import type { JsonObject } from '../schema/resource.ts';
import { toAnnouncedFields } from '../translator/announced.ts';
import type { Plan } from '../translator/plan.ts';
import { findInvalidFields, makePlan, toAppliedFields, toCreateBody } from '../translator/plan.ts';
import type { Finding } from '../translator/translation.ts';
import {
  addressKey,
  findClaimant,
  findEmailHolder,
  isParkingAddress,
  withEmailWait,
  withEmailWaitForHolder,
} from './email-conflicts.ts';
import { findings } from './findings.ts';
import type { Identity } from './identity.ts';
import { isLateCheckDue, withoutLateCalls } from './late-calls.ts';
import { linkExistingTraveler, linkOwnCreate } from './link-traveler.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type WantedFields,
  withFinding,
  withLinkedTraveler,
  withoutAnnouncedCall,
  withRefusals,
} from './reconcile-context.ts';
import { canBeTakenOver, mustWaitForLeaver } from './takeover.ts';
import type { TravelFailure } from './travel-ports.ts';
import { leaseLostFailure } from './traveler-calls.ts';
import { type TravelerGone, updateTraveler } from './update-traveler.ts';

/** The number of creates in one attempt; each one leaves out what the travel API has refused. */
const ROUNDS = 6;
/** The number of attempts after a 409 with no traveler at the address, while an earlier create may still appear. */
const MAX_CONFLICT_ATTEMPTS = 5;

/**
 * Links an identity to a traveler: the one that an earlier attempt may have made, the one that has the address already, or a
 * new one. The address is announced before a create is sent, so that a crash never leads to a second traveler.
 */
export async function linkOrCreateTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<ReconcileResult | TravelerGone> {
  const { reservation, announced } = draft.progress;
  if (draft.creating === undefined || !reservation)
    return createTraveler(context, { ...draft, applied: {} }, { rounds: ROUNDS, free: undefined });
  const found = await linkOwnCreate(context, draft, { reservation, fields: announced ?? {} });
  if (found === 'gone' || 'end' in found) return found;
  const [first] = candidateEmails(context);
  const isSameAddress = first !== undefined && addressKey(first) === addressKey(reservation.email);
  const isFree = found.found === 'none';
  // A create under the same address may be repeated at once, as addresses are unique; under another it would make a
  // second traveler.
  const checkAt = found.draft.progress.late?.checkAt ?? 0;
  if (isFree && !isSameAddress && context.now() < checkAt)
    return endInFailure(found.draft, {
      kind: 'unavailable',
      text: 'a create was announced under another address and its traveler may still appear',
    });
  const checked = isLateCheckDue(context, found.draft) ? withoutLateCalls(found.draft) : found.draft;
  const next = withoutAnnouncedCall({ ...checked, applied: {} });
  return createTraveler(context, next, { rounds: ROUNDS, free: isFree ? reservation.email : undefined });
}

/** The wanted address, then the userName, which is used if another traveler has the first. */
function candidateEmails(context: ReconcileContext): string[] {
  const email = context.translation.fields.email;
  const first = email?.kind === 'value' && typeof email.value === 'string' ? email.value : undefined;
  return [first, context.translation.fallbackEmail]
    .filter((address) => address !== undefined)
    .filter((address) => !isParkingAddress(context.connection, address));
}

interface CreateRound {
  rounds: number;
  /** The address that no traveler had when it was looked up. */
  free: string | undefined;
}

async function createTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { rounds, free }: CreateRound,
): Promise<ReconcileResult | TravelerGone> {
  const { draft: addressed, email } = await chooseEmail(context, draft);
  if (email === undefined) return endWithoutEmail(context, addressed);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps refusing the create' });
  const wanted = wantedFieldsWithEmail(context, email);
  const next = makePlan({
    applied: {},
    refused: addressed.refused,
    wanted,
    observed: undefined,
    basis: context.rulesSnapshot.version,
    rules: context.rulesSnapshot.rules,
  });
  const announced = withReservation(context, addressed, { email, next, free });
  const announcement = await announceCreate(context, announced, email);
  if (announcement === 'taken')
    return createTraveler(context, withTakenEmail(addressed, email), { rounds: rounds - 1, free });
  if (announcement === 'lost') return endInFailure(addressed, leaseLostFailure);
  context.checkpoint('beforeSend');
  const body = toCreateBody(next);
  const answer = await context.connection.travel.create(body);
  context.checkpoint('afterSend');
  if (answer.kind === 'ok')
    return updateTraveler(
      context,
      withLinkedTraveler(announced, answer.value, toAppliedFields({}, next, answer.value)),
      {
        isFresh: true,
      },
    );
  return handleCreateFailure(context, announced, {
    email,
    wanted,
    failure: answer,
    rounds,
    plan: next,
    body,
  });
}

function withReservation(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, next, free }: { email: string; next: Plan; free: string | undefined },
): OutcomeDraft {
  const wasFree = free !== undefined && addressKey(free) === addressKey(email);
  const reservation = { email, wasFree, reservedAt: context.connection.travel.serverTime() };
  const progress = { ...draft.progress, announced: toAnnouncedFields(next, {}, undefined), reservation };
  return { ...draft, creating: email, progress };
}

/**
 * Announces the create. If another identity is just creating a traveler with this address, saves the wait and tries
 * again.
 */
async function announceCreate(
  context: ReconcileContext,
  { progress, waitingFor }: OutcomeDraft,
  email: string,
): Promise<'done' | 'lost' | 'taken'> {
  const announcement = { creating: email, progress };
  const first = await context.announce(announcement);
  if (first !== 'taken' || waitingFor !== undefined) return first;
  await context.saveEmailWait(email);
  return context.announce(announcement);
}

/** Chooses the first candidate that the travel API has not refused and that no known traveler has. */
export async function chooseEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<{ draft: OutcomeDraft; email: string | undefined }> {
  let waiting = draft;
  for (const email of candidateEmails(context)) {
    const refused = draft.refused.email;
    if (refused?.value === email && refused.basis === context.rulesSnapshot.version) continue;
    if (isKnownTaken(draft, email)) continue;
    const holder = await findObstacleAndWait(context, waiting, email);
    if (!holder) return { draft: waiting, email };
    waiting = await withEmailWaitForHolder(context, waiting, { email, holder });
  }
  return { draft: waiting, email: undefined };
}

/**
 * Finds the identity that has or needs the address. If this identity waits for no other address yet, it saves the wait and
 * looks again, so that it becomes dirty when the address is freed after the second look.
 */
async function findObstacleAndWait(
  context: ReconcileContext,
  { waitingFor }: OutcomeDraft,
  email: string,
): Promise<Identity | undefined> {
  const obstacle = await findObstacle(context, email);
  if (!obstacle || waitingFor !== undefined) return obstacle;
  await context.saveEmailWait(email);
  return findObstacle(context, email);
}

/** The traveler of a tombstone is no obstacle: the create meets a conflict with it and takes it over. */
async function findObstacle(context: ReconcileContext, email: string): Promise<Identity | undefined> {
  const holder = await findEmailHolder(context, email);
  if (holder && (!canBeTakenOver(holder) || mustWaitForLeaver(context, holder))) return holder;
  return findClaimant(context, context.connection, { email, except: context.identity.id });
}

/** True if this attempt has already found out that another traveler has the address. */
function isKnownTaken(draft: OutcomeDraft, email: string): boolean {
  const codes = ['emailTaken', 'erasedTraveler'];
  return draft.findings.some(({ code, value }) => codes.includes(code) && value === email);
}

function endWithoutEmail(context: ReconcileContext, draft: OutcomeDraft): ReconcileResult {
  const refused = draft.refused.email;
  const noted =
    refused && refused.basis === context.rulesSnapshot.version
      ? withFinding(draft, findings.refused('email', refused.value, refused.reason))
      : draft;
  const isUnexplained = noted.waitingFor === undefined && noted === draft;
  return endInState(
    { ...(isUnexplained ? withFinding(noted, findings.noEmail()) : noted), creating: undefined },
    'pending',
  );
}

/** The wanted fields with the chosen address. */
export function wantedFieldsWithEmail(context: ReconcileContext, email: string): WantedFields {
  const wanted = context.translation.fields.email;
  const source = wanted?.kind === 'value' ? wanted.source : email;
  return { ...context.translation.fields, email: { kind: 'value', value: email, source } };
}

interface FailedCreate {
  email: string;
  wanted: WantedFields;
  failure: TravelFailure;
  rounds: number;
  plan: Plan;
  body: JsonObject;
}

async function handleCreateFailure(
  context: ReconcileContext,
  announced: OutcomeDraft,
  tried: FailedCreate,
): Promise<ReconcileResult | TravelerGone> {
  const { failure, wanted, rounds } = tried;
  const draft = withoutAnnouncedCall(announced);
  switch (failure.kind) {
    case 'conflict':
      return handleCreateConflict(context, draft, tried);
    case 'invalid': {
      const named = findInvalidFields(
        failure.fields.map(({ field }) => field),
        tried.plan,
        tried.body,
      );
      const reason = failure.fields.map(({ message }) => message).join('; ');
      if (named.length === 0) {
        const noted = withFinding(draft, findings.refused('*', undefined, reason || 'no field was named'));
        return endInState({ ...noted, creating: undefined }, 'pending');
      }
      const remaining = withRefusals(
        context,
        draft,
        named.map((key) => ({ key, reason, wanted })),
      );
      return createTraveler(context, remaining, { rounds: rounds - 1, free: undefined });
    }
    case 'forbidden':
      return endInState(withFinding({ ...draft, creating: undefined }, findings.forbidden('*')), 'refused');
    case 'notFound':
      return endInFailure(draft, {
        kind: 'unavailable',
        text: 'the travel API does not know its users collection (404)',
      });
    case 'unauthorized':
      return endInFailure(draft, failure);
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(failure) ? announced : draft, failure);
  }
}

/** After a 409: links the traveler of an own create whose answer was lost, or one that existed before; else waits. */
async function handleCreateConflict(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, rounds }: FailedCreate,
): Promise<ReconcileResult | TravelerGone> {
  for (const create of unconfirmedCreatesFor(draft, email)) {
    const own = await linkOwnCreate(context, draft, create);
    if (own === 'gone' || 'end' in own) return own;
  }
  // The wait is saved before the lookup, so that an address which is freed from now on makes this identity dirty.
  if (draft.waitingFor === undefined) await context.saveEmailWait(email);
  const linked = await linkExistingTraveler(context, draft, email);
  if (linked === 'erased') {
    const waiting = withTakenEmail(draft, email, findings.erasedTraveler(email));
    return createTraveler(context, waiting, { rounds: rounds - 1, free: undefined });
  }
  if (linked === 'taken')
    return createTraveler(context, withTakenEmail(draft, email), { rounds: rounds - 1, free: undefined });
  if (linked !== 'none') return linked;
  // The holder may just have lost the address, or the traveler of an own create may not be visible yet.
  const maxAttempts = unconfirmedCreatesFor(draft, email).length > 0 ? MAX_CONFLICT_ATTEMPTS : 2;
  const isKnown = context.identity.waitingFor === addressKey(email);
  if (!isKnown && context.identity.attempts + 1 < maxAttempts)
    return endInFailure(draft, {
      kind: 'unavailable',
      text: 'a create met a conflict, yet nobody has the address',
    });
  const waiting = withTakenEmail(draft, email, findings.unfindableEmail(email));
  return createTraveler(context, waiting, { rounds: rounds - 1, free: undefined });
}

/** The earlier creates with this address whose outcome is unknown. */
function unconfirmedCreatesFor({ progress }: OutcomeDraft, email: string) {
  const creates = progress.late?.creates ?? [];
  return creates.filter(({ reservation }) => addressKey(reservation.email) === addressKey(email));
}

/** Notes that the address is taken. The identity goes on waiting for its first choice. */
function withTakenEmail(draft: OutcomeDraft, email: string, finding?: Finding): OutcomeDraft {
  const noted = withEmailWait({ ...draft, waitingFor: undefined }, email, finding);
  return { ...noted, waitingFor: draft.waitingFor ?? noted.waitingFor };
}

import { toAnnouncedFields } from '../../translator/announced.ts';
import { findInvalidFields, makePlan, type Plan, toAppliedFields } from '../../translator/plan.ts';
import type { Finding } from '../../translator/translation.ts';
import type { TravelerChange } from '../../translator/traveler.ts';
import { toNewTraveler } from '../../translator/traveler-change.ts';
import { findings } from '../findings.ts';
import type { Identity } from '../identity.ts';
import { isLeaver } from '../people/takeover.ts';
import { type CreateAnswer, refusalReason, type TravelFailure } from '../travel-ports.ts';
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
  withProgress,
  withRefusals,
} from './context.ts';
import { type Program, perform } from './effects.ts';
import { addressKey, findEmailHolders, isParkingAddress, withEmailWait } from './email/addresses.ts';
import { withEmailWaitForHolder } from './email/conflicts.ts';
import {
  isLateCheckDue,
  isSameCreate,
  type UnconfirmedCreate,
  withAnnouncedCreate,
  withoutLateCalls,
} from './late-calls.ts';
import { linkExistingTraveler, linkOwnCreate } from './link/link-traveler.ts';
import { leaseLostFailure } from './traveler-calls.ts';
import { withAnsweredValues } from './unconfirmed-values.ts';
import { type TravelerGone, updateTraveler } from './update-traveler.ts';

/** The number of creates in one attempt. Each create omits the fields that the travel API refused in the one before. */
const ROUNDS = 6;
/**
 * The number of attempts after a create got 409 although no traveler has the address: the traveler of an earlier create
 * may still appear.
 */
const MAX_CONFLICT_ATTEMPTS = 5;

/**
 * Links an identity to a traveler. If an earlier create has no known outcome, its traveler is searched first. Otherwise the create is sent
 * without a search; a 409 leads to the traveler that already has the address. The create is announced in the store before it is sent, so
 * that its traveler is found again after a crash; a second one that a repeated create has made is removed at the check for late calls.
 */
export function* linkOrCreateTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<ReconcileResult | TravelerGone> {
  const { reservation, announced } = draft.progress;
  if (draft.creating === undefined || !reservation)
    return yield* createTraveler(context, { ...draft, applied: {} }, { rounds: ROUNDS, free: undefined });
  const found = yield* linkOwnCreate(context, draft, { reservation, fields: announced ?? {} });
  if (found === 'gone' || 'end' in found) return found;
  const [first] = candidateEmails(context);
  const isSameAddress = first !== undefined && addressKey(first) === addressKey(reservation.email);
  const isFree = found.found === 'none';
  // A create with the same address may be repeated at once, because the travel API keeps addresses unique. With another
  // address, the repetition could create a second traveler.
  const checkAt = found.draft.progress.late?.checkAt ?? 0;
  if (isFree && !isSameAddress && context.time.now < checkAt)
    return endInFailure(found.draft, lateCreateFailure, checkAt);
  const checked = isLateCheckDue(context, found.draft) ? withoutLateCalls(found.draft) : found.draft;
  const next = withoutAnnouncedCall({ ...checked, applied: {} });
  return yield* createTraveler(context, next, {
    rounds: ROUNDS,
    free: isFree ? reservation.email : undefined,
  });
}

const lateCreateFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'a create was announced under another address and its traveler may still appear',
};

/** Returns the addresses to try: the wanted one, then the userName in case another traveler has the wanted one. */
/** Returns the addresses of the user that a traveler may have, the wanted one first. */
export function candidateEmails(context: ReconcileContext): string[] {
  const email = context.translation.fields.email;
  const first = email?.kind === 'value' && typeof email.value === 'string' ? email.value : undefined;
  return [first, context.translation.fallbackEmail]
    .filter((address) => address !== undefined)
    .filter((address) => !isParkingAddress(context.connection, address));
}

interface CreateRound {
  rounds: number;
  /** An address that no traveler had when the travel API was last searched. */
  free: string | undefined;
}

function* createTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { rounds, free }: CreateRound,
): Program<ReconcileResult | TravelerGone> {
  const { draft: addressed, email } = yield* chooseEmail(context, draft);
  if (email === undefined) return endWithoutEmail(context, addressed);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps refusing the create' });
  if (free === undefined && wasLinkRefused(context)) {
    const linked = yield* linkExisting(context, addressed, { email, create: undefined, rounds });
    if (linked !== 'none') return linked;
  }
  const wanted = wantedFieldsWithEmail(context, email);
  const next = makePlan({
    applied: {},
    refused: addressed.refused,
    wanted,
    observed: undefined,
    basis: context.rulesSnapshot.version,
    rules: context.rulesSnapshot.rules,
  });
  const begunAt = context.time.now;
  const create = yield* toUnconfirmedCreate(context, addressed, { email, next, free });
  const announced = withAnnouncedCreate(addressed, create);
  const announcement = yield* announceCreate(announced, email);
  if (announcement === 'taken')
    return yield* createTraveler(context, withTakenEmail(addressed, email), { rounds: rounds - 1, free });
  if (announcement === 'lost') return endInFailure(addressed, leaseLostFailure);
  const traveler = toNewTraveler(next);
  const answer = yield* perform('createTraveler', traveler, create.reservation.key);
  if (answer.kind === 'ok') return yield* continueCreated(context, announced, next, answer);
  return yield* handleCreateFailure(context, announced, {
    create,
    wanted,
    failure: answer,
    rounds,
    plan: next,
    traveler,
    begunAt,
  });
}

/** Links the new traveler. If the request failed that should have archived it, the attempt ends, and the next one sends it again. */
function* continueCreated(
  context: ReconcileContext,
  announced: OutcomeDraft,
  next: Plan,
  { value, notArchived }: Extract<CreateAnswer, { kind: 'ok' }>,
): Program<ReconcileResult | TravelerGone> {
  const applied = toAppliedFields({}, next, value);
  if (!notArchived) {
    const linked = withLinkedTraveler(announced, value, applied);
    const checked = withAnsweredValues(context, linked, { plan: next, before: {} });
    return yield* updateTraveler(context, checked, { isFresh: true });
  }
  const { archived: _, ...set } = next.set;
  const open = applied['archived'] && { archived: { ...applied['archived'], unsure: true as const } };
  const linked = withLinkedTraveler(announced, value, { ...applied, ...open });
  return endInFailure(
    withAnsweredValues(context, linked, { plan: { ...next, set }, before: {} }),
    notArchived,
  );
}

/**
 * True if the last attempt has found a traveler with one of the addresses that this identity may not have, or not before an admin decides. A
 * create would be in vain if it still has the address, so the traveler is searched first. The store does not know the address of a traveler
 * that could not be read, or of one that is in no list.
 */
function wasLinkRefused({ identity }: ReconcileContext): boolean {
  const codes = ['privileged', 'emailTaken', 'emailHeldByLeaver'];
  const isRefusal = ({ code }: Finding) => codes.includes(code);
  return identity.waitingFor !== undefined && identity.findings.some(isRefusal);
}

/**
 * Links the traveler that has the address, which an earlier create may have made, or goes on with the next address. Returns `none` if no traveler
 * has the address. `create` is the create that got 409.
 */
function* linkExisting(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, create, rounds }: { email: string; create: UnconfirmedCreate | undefined; rounds: number },
): Program<ReconcileResult | TravelerGone | 'none'> {
  for (const earlier of unconfirmedCreatesFor(draft, email)) {
    const own = yield* linkOwnCreate(context, draft, earlier);
    if (own === 'gone' || 'end' in own) return own;
  }
  const linked = yield* linkExistingTraveler(context, draft, { email, create });
  const next = { rounds: rounds - 1, free: undefined };
  if (linked === 'erased')
    return yield* createTraveler(context, withTakenEmail(draft, email, findings.erasedTraveler(email)), next);
  if (linked === 'taken') return yield* createTraveler(context, withTakenEmail(draft, email), next);
  if (linked === 'none' || linked === 'gone' || 'end' in linked) return linked;
  if (linked.email === 'free') return yield* createTraveler(context, linked.draft, { ...next, free: email });
  const waiting = withTakenEmail(linked.draft, email);
  return yield* createTraveler(context, waiting, next);
}

/**
 * Returns the create that is about to be sent. Its key is that of an earlier one with an unknown outcome, if this one repeats it, else a
 * new one.
 */
function* toUnconfirmedCreate(
  context: ReconcileContext,
  { progress }: OutcomeDraft,
  { email, next, free }: { email: string; next: Plan; free: string | undefined },
): Program<UnconfirmedCreate> {
  const wasFree = free !== undefined && addressKey(free) === addressKey(email);
  const fields = toAnnouncedFields(next, {}, undefined);
  const earlier = progress.late?.creates.find((one) => isSameCreate(one, { reservation: { email }, fields }));
  const key = earlier?.reservation.key ?? (yield* perform('newId'));
  return { reservation: { email, wasFree, reservedAt: context.time.server, key }, fields };
}

/**
 * Announces the create. If another identity is already creating a traveler with this address, saves that this identity
 * waits for the address and ends the attempt.
 */
function* announceCreate(
  { progress, waitingFor }: OutcomeDraft,
  email: string,
): Program<'done' | 'lost' | 'taken'> {
  const announcement = { creating: email, progress };
  const first = yield* perform('announce', announcement);
  if (first !== 'taken' || waitingFor !== undefined) return first;
  yield* perform('waitForEmail', email);
  return yield* perform('announce', announcement);
}

/** Chooses the first address to try that the travel API has not refused and that no known traveler has. */
export function* chooseEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<{ draft: OutcomeDraft; email: string | undefined }> {
  let waiting = draft;
  for (const email of candidateEmails(context)) {
    const refused = draft.refused.email;
    if (refused?.value === email && refused.basis === context.rulesSnapshot.version) continue;
    if (isKnownTaken(draft, email)) continue;
    const holder = yield* findObstacleAndWait(context, waiting, email);
    if (!holder) return { draft: waiting, email };
    waiting = yield* withEmailWaitForHolder(context, waiting, { email, holder });
  }
  return { draft: waiting, email: undefined };
}

/**
 * Finds the identity that has the address. Saves that this identity waits for the address (unless it already
 * waits for another one) and searches again: an address that is freed after the second search makes this identity
 * dirty.
 */
function* findObstacleAndWait(
  context: ReconcileContext,
  { waitingFor }: OutcomeDraft,
  email: string,
): Program<Identity | undefined> {
  const obstacle = yield* findObstacle(context, email);
  if (!obstacle || waitingFor !== undefined) return obstacle;
  yield* perform('waitForEmail', email);
  return yield* findObstacle(context, email);
}

/**
 * Finds the identity that prevents a create with the address. A leaver with a traveler usually does not: the create gets 409, and the
 * identity then takes the traveler over. One whose own create is not known to have failed does.
 */
function* findObstacle(context: ReconcileContext, email: string): Program<Identity | undefined> {
  if (email === context.freeEmail) return undefined;
  const isObstacle = (holder: Identity) =>
    holder.creating !== undefined || !isLeaver(holder) || isOfAnother(context, holder);
  return (yield* findEmailHolders(context, email)).find(isObstacle);
}

/** True for a leaver who is another person, as the write has decided; that decision may not be committed yet. */
function isOfAnother({ identity: { progress } }: ReconcileContext, leaver: Identity): boolean {
  return progress.predecessor?.row === 3 && progress.predecessor.id === leaver.id;
}

/** True if an earlier step of this attempt has found that another traveler has the address. */
function isKnownTaken(draft: OutcomeDraft, email: string): boolean {
  const codes = ['emailTaken', 'emailHeldByLeaver', 'erasedTraveler'];
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

/** Returns the wanted fields with the chosen address in place of the wanted one. */
export function wantedFieldsWithEmail(context: ReconcileContext, email: string): WantedFields {
  const wanted = context.translation.fields.email;
  const source = wanted?.kind === 'value' ? wanted.source : email;
  return { ...context.translation.fields, email: { kind: 'value', value: email, source } };
}

interface FailedCreate {
  create: UnconfirmedCreate;
  wanted: WantedFields;
  failure: TravelFailure;
  rounds: number;
  plan: Plan;
  traveler: TravelerChange;
  /** The time of the reservation by `now`. */
  begunAt: number;
}

function* handleCreateFailure(
  context: ReconcileContext,
  announced: OutcomeDraft,
  tried: FailedCreate,
): Program<ReconcileResult | TravelerGone> {
  const { failure, wanted, rounds } = tried;
  const draft = withoutAnnouncedCall(announced);
  switch (failure.kind) {
    case 'conflict':
      return yield* handleCreateConflict(context, draft, tried);
    case 'invalid': {
      const named = findInvalidFields(
        failure.fields.map(({ field }) => field),
        tried.plan,
        tried.traveler,
      );
      const reason = refusalReason(failure);
      if (named.length === 0) {
        const noted = withFinding(draft, findings.refused('*', undefined, reason || 'no field was named'));
        return endInState({ ...noted, creating: undefined }, 'pending');
      }
      const remaining = withRefusals(
        context,
        draft,
        named.map((key) => ({ key, reason, wanted })),
      );
      return yield* createTraveler(context, remaining, { rounds: rounds - 1, free: undefined });
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
      return endInFailure(
        isOutcomeUnknown(failure) ? withTimeOfReservation(context, announced, tried) : draft,
        failure,
      );
  }
}

/** If the first answer of the travel API is the failure of this create, its time is that of the reservation, except for the wait. */
function withTimeOfReservation(
  { time }: ReconcileContext,
  draft: OutcomeDraft,
  { begunAt }: FailedCreate,
): OutcomeDraft {
  const { reservation } = draft.progress;
  if (!reservation || reservation.reservedAt !== undefined || time.server === undefined) return draft;
  const reservedAt = time.server - (time.now - begunAt);
  return withProgress(draft, { reservation: { ...reservation, reservedAt } });
}

/**
 * After a 409: links the traveler of an earlier create whose answer was lost, or a traveler that already existed. If
 * neither is possible, the identity waits for the address.
 */
function* handleCreateConflict(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { create, rounds }: FailedCreate,
): Program<ReconcileResult | TravelerGone> {
  const { email } = create.reservation;
  // That the address was free before proves nothing here: another system may have created a traveler since.
  const refused = { ...create, reservation: { ...create.reservation, wasFree: false } };
  // Save the wait before the search: if the address is freed from now on, this identity becomes dirty.
  if (draft.waitingFor === undefined) yield* perform('waitForEmail', email);
  const linked = yield* linkExisting(context, draft, { email, create: refused, rounds });
  if (linked !== 'none') return linked;
  // The other traveler may have just lost the address, or the traveler of our own create is not visible yet.
  const maxAttempts = unconfirmedCreatesFor(draft, email).length > 0 ? MAX_CONFLICT_ATTEMPTS : 2;
  const isKnown = context.identity.waitingFor === addressKey(email);
  if (!isKnown && context.identity.attempts + 1 < maxAttempts)
    return endInFailure(draft, {
      kind: 'unavailable',
      text: 'a create met a conflict, yet nobody has the address',
    });
  const waiting = withTakenEmail(draft, email, findings.unfindableEmail(email));
  return yield* createTraveler(context, waiting, { rounds: rounds - 1, free: undefined });
}

/** The earlier creates with this address whose outcome is unknown. */
function unconfirmedCreatesFor({ progress }: OutcomeDraft, email: string) {
  const creates = progress.late?.creates ?? [];
  return creates.filter(({ reservation }) => addressKey(reservation.email) === addressKey(email));
}

/**
 * Records that the address is taken. An identity that already waits for its preferred address keeps waiting for that
 * one.
 */
function withTakenEmail(draft: OutcomeDraft, email: string, finding?: Finding): OutcomeDraft {
  const noted = withEmailWait({ ...draft, waitingFor: undefined }, email, finding);
  return { ...noted, waitingFor: draft.waitingFor ?? noted.waitingFor };
}

import { beforeCall } from '../../translator/field-records.ts';
import { emptyPlan, findInvalidFields, makePlan } from '../../translator/plan.ts';
import type { AppliedFields, Finding, Plan } from '../../translator/translation.ts';
import { toNewTraveler } from '../../translator/traveler-change.ts';
import { findings } from '../findings.ts';
import { type Identity, isInactive } from '../identity.ts';
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
  withRefusals,
} from './context.ts';
import { type Program, perform } from './effects.ts';
import { addressKey, findEmailHolders, isParkingAddress, withEmailWait } from './email/addresses.ts';
import { withEmailWaitForHolder } from './email/conflicts.ts';
import { linkExistingTraveler, linkOwnCreate } from './link/link-traveler.ts';
import { type SentCreate, sentCreateOf } from './own-create.ts';
import { withAnswer, withCallOpen } from './read-again.ts';
import { leaseLostFailure } from './traveler-calls.ts';
import { type TravelerGone, updateTraveler } from './update-traveler.ts';

/** The number of creates in one attempt. Each create omits the fields that the travel API refused in the one before. */
const ROUNDS = 6;
/**
 * Links an identity to a traveler. If an earlier create has no known outcome, its traveler is searched first, and the create is repeated only
 * as it was sent. Otherwise the create is sent without a search; a 409 leads to the traveler that already has the address. The create is
 * committed before it is sent, so that its traveler is found again after a crash.
 */
export function* linkOrCreateTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<ReconcileResult | TravelerGone> {
  const create = sentCreateOf(draft);
  if (!create)
    return yield* createTraveler(context, { ...draft, applied: {} }, { rounds: ROUNDS, isChecked: false });
  const found = yield* linkOwnCreate(context, draft, create);
  if (found === 'gone' || 'end' in found) return found;
  if (isCreateAwaited(context, found.draft)) {
    // For who has left meanwhile no traveler is made that is in use; whether there is one is known once the wait is over.
    const isLeaver = isInactive(context.identity) && create.applied['archived']?.sent !== true;
    if (isLeaver) return endInState(found.draft, 'synced');
    // Whoever has a former address of the person need not be the person.
    const [wanted = ''] = candidateEmails(context);
    if (addressKey(wanted) !== addressKey(create.creating.email))
      return endInFailure(found.draft, lateCreateFailure, found.draft.readAgainAt);
    const again = sentCreateOf(found.draft) ?? create;
    return yield* sendCreate(context, found.draft, { ...again, rounds: ROUNDS });
  }
  const ended = { ...found.draft, applied: {}, creating: undefined, readAgainAt: undefined };
  return yield* createTraveler(context, ended, { rounds: ROUNDS, isChecked: found.found === 'none' });
}

/** True while a create without an answer may still make a traveler. */
function isCreateAwaited({ time }: ReconcileContext, { readAgainAt }: OutcomeDraft): boolean {
  return readAgainAt !== undefined && time.now < readAgainAt;
}

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
  /** True if the travel API was just searched and no traveler has the address. */
  isChecked: boolean;
}

function* createTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { rounds, isChecked }: CreateRound,
): Program<ReconcileResult | TravelerGone> {
  if (draft.creating && isCreateAwaited(context, draft))
    return endInFailure(draft, lateCreateFailure, draft.readAgainAt);
  const { draft: addressed, email } = yield* chooseEmail(context, draft);
  if (email === undefined) return endWithoutEmail(context, addressed);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps refusing the create' });
  if (!isChecked && wasLinkRefused(context)) {
    const linked = yield* linkExisting(context, addressed, { email, create: undefined, rounds });
    if (linked !== 'none') return linked;
  }
  const next = makePlan({
    applied: {},
    refused: addressed.refused,
    wanted: wantedFieldsWithEmail(context, email),
    observed: undefined,
    basis: context.rulesSnapshot.version,
    rules: context.rulesSnapshot.rules,
  });
  const { server: at } = context.time;
  const key = yield* perform('newId');
  const creating = { email, key, ...(at === undefined ? {} : { at }) };
  const applied = beforeCall({}, next, undefined);
  return yield* sendCreate(context, addressed, { creating, applied, rounds });
}

/** Commits a create and sends it. */
function* sendCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  tried: SentCreate & { rounds: number },
): Program<ReconcileResult | TravelerGone> {
  const { creating, applied, rounds } = tried;
  const { email, key } = creating;
  const sent = { ...draft, creating, applied };
  const open = withCallOpen(context, sent);
  const announcement = yield* announceCreate(open, email);
  if (announcement === 'taken')
    return yield* createTraveler(context, withTakenEmail(draft, email), {
      rounds: rounds - 1,
      isChecked: false,
    });
  if (announcement === 'lost') return endInFailure(draft, leaseLostFailure);
  const plan = planOfCreate(applied);
  const answer = yield* perform('createTraveler', toNewTraveler(plan), key);
  if (answer.kind === 'ok') return yield* continueCreated(context, sent, plan, answer);
  if (isOutcomeUnknown(answer)) return endInFailure(open, answer);
  return yield* handleCreateFailure(context, draft, { ...tried, plan, failure: answer });
}

/** The plan of a create, from the records that were committed before it: if it is repeated, it is sent as it was. */
function planOfCreate(applied: AppliedFields): Plan {
  const set = Object.entries(applied).map(
    ([key, { sent, source }]) => [key, { value: sent, source }] as const,
  );
  return { ...emptyPlan, set: Object.fromEntries(set) };
}

/** Links the new traveler. If the request failed that should have archived it, the attempt ends, and the next one sends it again. */
function* continueCreated(
  context: ReconcileContext,
  sent: OutcomeDraft,
  plan: Plan,
  { value: answer, notArchived }: Extract<CreateAnswer, { kind: 'ok' }>,
): Program<ReconcileResult | TravelerGone> {
  const linked = withLinkedTraveler(sent, answer, sent.applied);
  if (!notArchived)
    return yield* updateTraveler(context, withAnswer(context, linked, { plan, answer }), { isFresh: true });
  const { archived: _, ...set } = plan.set;
  return endInFailure(withAnswer(context, linked, { plan: { ...plan, set }, answer }), notArchived);
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
  { email, create, rounds }: { email: string; create: SentCreate | undefined; rounds: number },
): Program<ReconcileResult | TravelerGone | 'none'> {
  const linked = yield* linkExistingTraveler(context, draft, { email, create });
  const next = { rounds: rounds - 1, isChecked: false };
  if (linked === 'erased')
    return yield* createTraveler(context, withTakenEmail(draft, email, findings.erasedTraveler(email)), next);
  if (linked === 'taken') return yield* createTraveler(context, withTakenEmail(draft, email), next);
  if (linked === 'none' || linked === 'gone' || 'end' in linked) return linked;
  if (linked.email === 'free')
    return yield* createTraveler(context, linked.draft, { ...next, isChecked: true });
  const waiting = withTakenEmail(linked.draft, email);
  return yield* createTraveler(context, waiting, next);
}

/**
 * Announces the create. If another identity is already creating a traveler with this address, saves that this identity
 * waits for the address and ends the attempt.
 */
function* announceCreate(
  { creating, applied, readAgainAt, progress, waitingFor }: OutcomeDraft,
  email: string,
): Program<'done' | 'lost' | 'taken'> {
  const call = { isCall: true as const, travelId: undefined };
  const announcement = { ...call, creating, applied, readAgainAt, progress };
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

interface FailedCreate extends SentCreate {
  failure: TravelFailure;
  rounds: number;
  plan: Plan;
}

/** Handles a create that the travel API has answered without making a traveler. `draft` is that before the create. */
function* handleCreateFailure(
  context: ReconcileContext,
  before: OutcomeDraft,
  tried: FailedCreate,
): Program<ReconcileResult | TravelerGone> {
  const { failure, applied, rounds } = tried;
  const draft = { ...before, applied: {}, creating: undefined };
  switch (failure.kind) {
    case 'conflict':
      return yield* handleCreateConflict(context, before, tried);
    case 'invalid': {
      const names = failure.fields.map(({ field }) => field);
      const named = findInvalidFields(names, tried.plan, toNewTraveler(tried.plan));
      const reason = refusalReason(failure);
      if (named.length === 0) {
        const noted = withFinding(draft, findings.refused('*', undefined, reason || 'no field was named'));
        return endInState(noted, 'pending');
      }
      const refusals = named.map((key) => ({ key, reason, value: applied[key]?.sent ?? null }));
      const remaining = withRefusals(context, draft, refusals);
      return yield* createTraveler(context, remaining, { rounds: rounds - 1, isChecked: false });
    }
    case 'forbidden':
      return endInState(withFinding(draft, findings.forbidden('*')), 'refused');
    case 'notFound':
      return endInFailure(draft, {
        kind: 'unavailable',
        text: 'the travel API does not know its users collection (404)',
      });
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(before, failure);
  }
}

/**
 * After a 409: links the traveler that the create has made although its answer was lost, or one that already existed. If neither is possible,
 * the identity waits for the address. While an earlier create without an answer may still make a traveler, no other address is sent.
 */
function* handleCreateConflict(
  context: ReconcileContext,
  before: OutcomeDraft,
  { creating, applied, rounds }: FailedCreate,
): Program<ReconcileResult | TravelerGone> {
  const { email } = creating;
  // Save the wait before the search: if the address is freed from now on, this identity becomes dirty.
  if (before.waitingFor === undefined) yield* perform('waitForEmail', email);
  const { wasFree: _, ...refused } = creating;
  const isOpen = isCreateAwaited(context, before);
  // That the address was free before proves nothing after a single create: another system may have created a traveler since.
  const create = { creating: isOpen ? creating : refused, applied };
  const draft = isOpen ? before : { ...before, applied: {}, creating: undefined };
  const linked = yield* linkExisting(context, draft, { email, create, rounds });
  if (linked !== 'none') return linked;
  if (isOpen) return endInFailure(before, lateCreateFailure, before.readAgainAt);
  // The other traveler may have just lost the address.
  const isKnown = context.identity.waitingFor === addressKey(email);
  if (!isKnown && context.identity.attempts === 0)
    return endInFailure(draft, {
      kind: 'unavailable',
      text: 'a create met a conflict, yet nobody has the address',
    });
  const waiting = withTakenEmail(draft, email, findings.unfindableEmail(email));
  return yield* createTraveler(context, waiting, { rounds: rounds - 1, isChecked: false });
}

const lateCreateFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'a create was sent under this address, and its traveler may still appear',
};

/**
 * Records that the address is taken. An identity that already waits for its preferred address keeps waiting for that
 * one.
 */
function withTakenEmail(draft: OutcomeDraft, email: string, finding?: Finding): OutcomeDraft {
  const noted = withEmailWait({ ...draft, waitingFor: undefined }, email, finding);
  return { ...noted, waitingFor: draft.waitingFor ?? noted.waitingFor };
}

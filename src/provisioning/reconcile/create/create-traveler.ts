import { addressKey, isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { type Identity, isInactive } from '../../../model/identity.ts';
import type { AppliedFields, Finding, Plan } from '../../../model/translation.ts';
import { refusalReason, type TravelFailure } from '../../../model/travel-ports.ts';
import type { TravelUser } from '../../../model/traveler.ts';
import { beforeCall } from '../../../translator/plan/field-records.ts';
import { emptyPlan, findInvalidFields, makePlan } from '../../../translator/plan/plan.ts';
import { toNewTraveler } from '../../../translator/plan/traveler-change.ts';
import { isLeaver } from '../../people/takeover.ts';
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
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { findEmailHolders, withEmailWait } from '../email/addresses.ts';
import { withEmailWaitForHolder } from '../email/conflicts.ts';
import { linkExistingTraveler, linkOwnCreate } from '../link/link-traveler.ts';
import { findPlannedHolder } from '../pilot.ts';
import { withAnswer, withCallOpen } from '../read-again.ts';
import { leaseLostFailure, withSentNoted } from '../traveler-calls.ts';
import { type TravelerGone, updateTraveler } from '../update/update-traveler.ts';
import { type SentCreate, sentCreateOf } from './own-create.ts';

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
  const round = { rounds: ROUNDS, emails: candidateEmails(context) };
  if (!create)
    return yield* createTraveler(context, { ...draft, applied: {} }, { ...round, isChecked: false });
  const found = yield* linkOwnCreate(context, draft, create);
  if (found === 'gone' || 'end' in found) return found;
  if (isCreateAwaited(context, found.draft)) {
    // A user who has left meanwhile gets no traveler in use. Whether the create has made one is known once the wait is over.
    const isLeaver = isInactive(context.identity) && create.applied['archived']?.sent !== true;
    if (isLeaver) return endInState(found.draft, 'synced');
    // The traveler that has a former address of the person may belong to another person.
    const [wanted = ''] = round.emails;
    if (addressKey(wanted) !== addressKey(create.creating.email))
      return endInFailure(found.draft, lateCreateFailure, found.draft.readAgainAt);
    const again = sentCreateOf(found.draft) ?? create;
    return yield* sendCreate(context, found.draft, { ...again, ...round });
  }
  const ended = { ...found.draft, applied: {}, creating: undefined, readAgainAt: undefined };
  return yield* createTraveler(context, ended, { ...round, isChecked: found.found === 'none' });
}

/** True while a create without an answer may still make a traveler. */
function isCreateAwaited({ time }: ReconcileContext, { readAgainAt }: OutcomeDraft): boolean {
  return readAgainAt !== undefined && time.now < readAgainAt;
}

/** Returns the addresses of the user that a traveler may have, the wanted one first. */
export function candidateEmails(context: ReconcileContext): string[] {
  const email = context.translation.fields.email;
  const first = email?.kind === 'value' && typeof email.value === 'string' ? email.value : undefined;
  return [first, context.translation.fallbackEmail]
    .filter((address) => address !== undefined)
    .filter((address) => !isParkingAddress(context.connection, address));
}

interface Attempts {
  /** The number of creates that may still be sent in this attempt. */
  rounds: number;
  /** The addresses that this attempt has not found taken, in order of preference. */
  emails: string[];
}

interface CreateRound extends Attempts {
  /** True if the travel API was just searched and no traveler has the address. */
  isChecked: boolean;
}

/** Returns the next round; `taken` is an address that another traveler has. */
function nextRound({ rounds, emails }: Attempts, taken?: string): CreateRound {
  const isLeft = (email: string) => taken === undefined || addressKey(email) !== addressKey(taken);
  return { rounds: rounds - 1, emails: emails.filter(isLeft), isChecked: false };
}

function* createTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { rounds, emails: candidates, isChecked }: CreateRound,
): Program<ReconcileResult | TravelerGone> {
  if (draft.creating && isCreateAwaited(context, draft))
    return endInFailure(draft, lateCreateFailure, draft.readAgainAt);
  const { draft: addressed, emails } = yield* chooseEmail(context, draft, candidates);
  const [email] = emails;
  if (email === undefined) return endWithoutEmail(context, addressed);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps refusing the create' });
  // The traveler that had one of the addresses at the last attempt may be one that the store does not know.
  const isSearched = !isChecked && context.identity.waitingFor !== undefined;
  if (isSearched) {
    const linked = yield* linkExisting(context, addressed, { email, create: undefined, rounds, emails });
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
  const wasFree = isChecked || isSearched;
  const creating = { email, key, ...(at === undefined ? {} : { at }), ...(wasFree ? { wasFree } : {}) };
  const applied = beforeCall({}, next, undefined);
  return yield* sendCreate(context, addressed, { creating, applied, rounds, emails });
}

/** Commits a create and sends it. */
function* sendCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  tried: SentCreate & Attempts,
): Program<ReconcileResult | TravelerGone> {
  const { creating, applied } = tried;
  const { email, key } = creating;
  const plan = planOfCreate(applied);
  const sent = withSentNoted(context, { ...draft, creating, applied }, plan);
  const open = withCallOpen(context, sent);
  // Many people are created at once when a connection goes live. The addresses become as the report of shadow mode says.
  const hasPlan = context.identity.progress.shadow !== undefined;
  if (hasPlan && (yield* findPlannedHolder(context, email))) return endInFailure(draft, plannedEmailFailure);
  const announcement = yield* announceCreate(open, email);
  if (announcement === 'taken')
    return yield* createTraveler(context, withTakenEmail(draft, email), nextRound(tried, email));
  if (announcement === 'lost') return endInFailure(draft, leaseLostFailure);
  const answer = yield* perform('createTraveler', toNewTraveler(plan), key);
  if (answer.kind === 'ok') return yield* continueCreated(context, sent, plan, answer.value);
  if (isOutcomeUnknown(answer)) return endInFailure(open, answer);
  return yield* handleCreateFailure(context, draft, { ...tried, plan, failure: answer });
}

/** The end of an attempt that would take an address which the report of shadow mode gives to an earlier user. */
export const plannedEmailFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'an earlier user gets this address first, as the report of shadow mode says',
};

/** The plan of a create, from the records that were committed before it: if it is repeated, it is sent as it was. */
function planOfCreate(applied: AppliedFields): Plan {
  const set = Object.entries(applied).map(
    ([key, { sent, source }]) => [key, { value: sent, source }] as const,
  );
  return { ...emptyPlan, set: Object.fromEntries(set) };
}

/** Links the new traveler. If the travel API creates active travelers only, that of an inactive user is archived by the next call. */
function* continueCreated(
  context: ReconcileContext,
  sent: OutcomeDraft,
  plan: Plan,
  answer: TravelUser,
): Program<ReconcileResult | TravelerGone> {
  const linked = withLinkedTraveler(sent, answer, sent.applied);
  const { archived, ...others } = plan.set;
  const answered = archived?.value === answer.archived ? plan : { ...plan, set: others };
  const draft = withAnswer(context, linked, { plan: answered, answer });
  return yield* updateTraveler(context, draft, { isFresh: true });
}

/**
 * Links the traveler that has the address, which an earlier create may have made, or goes on with the next address. Returns `none` if no traveler
 * has the address. `create` is the create that got 409.
 */
function* linkExisting(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, create, ...attempts }: Attempts & { email: string; create: SentCreate | undefined },
): Program<ReconcileResult | TravelerGone | 'none'> {
  const linked = yield* linkExistingTraveler(context, draft, { email, create });
  const next = nextRound(attempts, email);
  if (linked === 'erased')
    return yield* createTraveler(context, withTakenEmail(draft, email, findings.erasedTraveler(email)), next);
  if (linked === 'taken') return yield* createTraveler(context, withTakenEmail(draft, email), next);
  if (linked === 'none' || linked === 'gone' || 'end' in linked) return linked;
  if (linked.email === 'free')
    return yield* createTraveler(context, linked.draft, { ...nextRound(attempts), isChecked: true });
  return yield* createTraveler(context, withTakenEmail(linked.draft, email, linked.email), next);
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

/** Returns the addresses from the first one on that the travel API has not refused and that no known traveler has. */
export function* chooseEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  candidates = candidateEmails(context),
): Program<{ draft: OutcomeDraft; emails: string[] }> {
  let waiting = draft;
  for (const [index, email] of candidates.entries()) {
    const refused = draft.refused.email;
    if (refused?.value === email && refused.basis === context.rulesSnapshot.version) continue;
    const holder = yield* findObstacleAndWait(context, waiting, email);
    if (!holder) return { draft: waiting, emails: candidates.slice(index) };
    waiting = yield* withEmailWaitForHolder(context, waiting, { email, holder });
  }
  return { draft: waiting, emails: [] };
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

interface FailedCreate extends SentCreate, Attempts {
  failure: TravelFailure;
  plan: Plan;
}

/** Handles a create that the travel API has answered without making a traveler. `draft` is that before the create. */
function* handleCreateFailure(
  context: ReconcileContext,
  before: OutcomeDraft,
  tried: FailedCreate,
): Program<ReconcileResult | TravelerGone> {
  const { failure, applied } = tried;
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
      return yield* createTraveler(context, remaining, nextRound(tried));
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
  { creating, applied, rounds, emails }: FailedCreate,
): Program<ReconcileResult | TravelerGone> {
  const { email } = creating;
  // Save the wait before the search: if the address is freed from now on, this identity becomes dirty.
  if (before.waitingFor === undefined) yield* perform('waitForEmail', email);
  const { wasFree: _, ...refused } = creating;
  const isOpen = isCreateAwaited(context, before);
  // That the address was free before proves nothing after a single create: another system may have created a traveler since.
  const create = { creating: isOpen ? creating : refused, applied };
  const draft = isOpen ? before : { ...before, applied: {}, creating: undefined };
  const linked = yield* linkExisting(context, draft, { email, create, rounds, emails });
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
  return yield* createTraveler(context, waiting, nextRound({ rounds, emails }, email));
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

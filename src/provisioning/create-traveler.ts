import type { JsonObject } from '../schema/resource.ts';
import { toAnnouncedFields } from '../translator/announced.ts';
import type { Plan } from '../translator/plan.ts';
import { findInvalidFields, makePlan, toAppliedFields, toCreateBody } from '../translator/plan.ts';
import type { Finding } from '../translator/translation.ts';
import {
  addressKey,
  claimantOf,
  holderOf,
  isParkingAddress,
  withWaiting,
  withWaitingForHolder,
} from './email-conflicts.ts';
import { findings } from './findings.ts';
import type { Identity } from './identity.ts';
import { isLateCheckDue, withoutLateCalls } from './late-calls.ts';
import { linkExistingTraveler, linkOwnCreate } from './link-traveler.ts';
import {
  type Draft,
  endInFailure,
  endInState,
  type Fields,
  isOutcomeUnknown,
  type ReconcileResult,
  type Task,
  withFinding,
  withKnownOutcome,
  withRefusals,
  withTraveler,
} from './reconcile-context.ts';
import { isGivenUp, isNeverGivenTo } from './takeover.ts';
import type { TravelFailure } from './travel-ports.ts';
import { leaseLost } from './traveler-calls.ts';
import { type TravelerGone, updateTraveler } from './update-traveler.ts';

const ROUNDS = 6;
/** How often a create that meets a conflict with nobody is tried again, while an earlier one may just be appearing. */
const TRIES = 5;

/**
 * Gives an identity that has none its traveler: the one that an earlier attempt may have made, the one that already has
 * the address, or a new one. The address is announced before a create is sent, so that no crash makes a second traveler.
 */
export async function linkOrCreateTraveler(
  task: Task,
  draft: Draft,
): Promise<ReconcileResult | TravelerGone> {
  const { reservation, announced } = draft.progress;
  if (draft.creating === undefined || !reservation)
    return createTraveler(task, { ...draft, applied: {} }, { rounds: ROUNDS, free: undefined });
  const found = await linkOwnCreate(task, draft, { reservation, fields: announced ?? {} });
  if (found === 'gone' || 'end' in found) return found;
  const [first] = wantedAddresses(task);
  const isSameAddress = first !== undefined && addressKey(first) === addressKey(reservation.email);
  const isFree = found.found === 'none';
  // Under the same address it may be sent again at once, as an address is unique; under another it would be a second one.
  const checkAt = found.draft.progress.late?.checkAt ?? 0;
  if (isFree && !isSameAddress && task.now() < checkAt)
    return endInFailure(found.draft, {
      kind: 'unavailable',
      text: 'a create was announced under another address and its traveler may still appear',
    });
  const looked = isLateCheckDue(task, found.draft) ? withoutLateCalls(found.draft) : found.draft;
  const next = withKnownOutcome({ ...looked, applied: {} });
  return createTraveler(task, next, { rounds: ROUNDS, free: isFree ? reservation.email : undefined });
}

/** The address that is wanted, then the userName, which serves when another has the first. */
function wantedAddresses(task: Task): string[] {
  const email = task.translation.fields.email;
  const first = email?.kind === 'value' && typeof email.value === 'string' ? email.value : undefined;
  return [first, task.translation.fallbackEmail]
    .filter((address) => address !== undefined)
    .filter((address) => !isParkingAddress(task.connection, address));
}

interface Round {
  rounds: number;
  /** The address that was looked for, and that nobody had. */
  free: string | undefined;
}

async function createTraveler(
  task: Task,
  draft: Draft,
  { rounds, free }: Round,
): Promise<ReconcileResult | TravelerGone> {
  const { draft: addressed, email } = await chooseAddress(task, draft);
  if (email === undefined) return unaddressed(task, addressed);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps refusing the create' });
  const wanted = withEmail(task, email);
  const next = makePlan({
    applied: {},
    refused: addressed.refused,
    wanted,
    observed: undefined,
    basis: task.basis.version,
    rules: task.basis.rules,
  });
  const announced = withReservation(task, addressed, { email, next, free });
  const announcement = await announceCreate(task, announced, email);
  if (announcement === 'taken')
    return createTraveler(task, awaitingTaken(addressed, email), { rounds: rounds - 1, free });
  if (announcement === 'lost') return endInFailure(addressed, leaseLost);
  task.checkpoint('beforeSend');
  const body = toCreateBody(next);
  const answer = await task.connection.travel.create(body);
  task.checkpoint('afterSend');
  if (answer.kind === 'ok')
    return updateTraveler(
      task,
      withTraveler(announced, answer.value, toAppliedFields({}, next, answer.value)),
      {
        isFresh: true,
      },
    );
  return afterFailure(task, announced, { email, wanted, failure: answer, rounds, plan: next, body });
}

function withReservation(
  task: Task,
  draft: Draft,
  { email, next, free }: { email: string; next: Plan; free: string | undefined },
): Draft {
  const wasFree = free !== undefined && addressKey(free) === addressKey(email);
  const reservation = { email, wasFree, reservedAt: task.connection.travel.serverTime() };
  const progress = { ...draft.progress, announced: toAnnouncedFields(next, {}, undefined), reservation };
  return { ...draft, creating: email, progress };
}

/** Announces the create. That another is just making a traveler of the address is waited for, and looked at once more. */
async function announceCreate(
  { connection, identity, token, store: { leases } }: Task,
  { progress, waitingFor }: Draft,
  email: string,
): Promise<'done' | 'lost' | 'taken'> {
  const news = { creating: email, progress };
  const first = await leases.announce(connection.id, identity.id, token, news);
  if (first !== 'taken' || waitingFor !== undefined) return first;
  await leases.waitFor(connection.id, identity.id, token, email);
  return leases.announce(connection.id, identity.id, token, news);
}

/** The first wanted address that the travel API has not refused and nobody known has. */
export async function chooseAddress(
  task: Task,
  draft: Draft,
): Promise<{ draft: Draft; email: string | undefined }> {
  let waiting = draft;
  for (const email of wantedAddresses(task)) {
    const refused = draft.refused.email;
    if (refused?.value === email && refused.basis === task.basis.version) continue;
    if (isTaken(draft, email)) continue;
    const holder = await obstacleWaitedFor(task, waiting, email);
    if (!holder) return { draft: waiting, email };
    waiting = await withWaitingForHolder(task, waiting, { email, holder });
  }
  return { draft: waiting, email: undefined };
}

/**
 * Who keeps the identity from an address. Where it waits for no other address, the wait for this one is noted before a second
 * look: whoever gives the address up from then on makes this identity dirty.
 */
async function obstacleWaitedFor(
  task: Task,
  { waitingFor }: Draft,
  email: string,
): Promise<Identity | undefined> {
  const { connection, identity, token, store } = task;
  const obstacle = await obstacleAt(task, email);
  if (!obstacle || waitingFor !== undefined) return obstacle;
  await store.leases.waitFor(connection.id, identity.id, token, email);
  return obstacleAt(task, email);
}

/** A deleted person's traveler is no obstacle: the create finds it, and takes it over. */
async function obstacleAt(task: Task, email: string): Promise<Identity | undefined> {
  const holder = await holderOf(task, email);
  if (holder && (!isGivenUp(holder) || isNeverGivenTo(task, holder))) return holder;
  return claimantOf(task.store, task.connection, { email, except: task.identity.id });
}

/** True when this run has learnt that another traveler has the address. */
function isTaken(draft: Draft, email: string): boolean {
  const codes = ['emailTaken', 'erasedTraveler'];
  return draft.findings.some(({ code, value }) => codes.includes(code) && value === email);
}

function unaddressed(task: Task, draft: Draft): ReconcileResult {
  const refused = draft.refused.email;
  const told =
    refused && refused.basis === task.basis.version
      ? withFinding(draft, findings.refused('email', refused.value, refused.reason))
      : draft;
  const needsWord = told.waitingFor === undefined && told === draft;
  return endInState(
    { ...(needsWord ? withFinding(told, findings.noEmail()) : told), creating: undefined },
    'pending',
  );
}

/** The wanted fields with the address that was chosen. */
export function withEmail(task: Task, email: string): Fields {
  const wanted = task.translation.fields.email;
  const source = wanted?.kind === 'value' ? wanted.source : email;
  return { ...task.translation.fields, email: { kind: 'value', value: email, source } };
}

interface Failed {
  email: string;
  wanted: Fields;
  failure: TravelFailure;
  rounds: number;
  plan: Plan;
  body: JsonObject;
}

async function afterFailure(
  task: Task,
  announced: Draft,
  tried: Failed,
): Promise<ReconcileResult | TravelerGone> {
  const { failure, wanted, rounds } = tried;
  const draft = withKnownOutcome(announced);
  switch (failure.kind) {
    case 'conflict':
      return afterConflict(task, draft, tried);
    case 'invalid': {
      const named = findInvalidFields(
        failure.fields.map(({ field }) => field),
        tried.plan,
        tried.body,
      );
      const reason = failure.fields.map(({ message }) => message).join('; ');
      if (named.length === 0) {
        const told = withFinding(draft, findings.refused('*', undefined, reason || 'no field was named'));
        return endInState({ ...told, creating: undefined }, 'pending');
      }
      const left = withRefusals(
        task,
        draft,
        named.map((key) => ({ key, reason, wanted })),
      );
      return createTraveler(task, left, { rounds: rounds - 1, free: undefined });
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

/** Somebody has the address: perhaps our own create, whose answer was lost, else somebody who was there before. */
async function afterConflict(
  task: Task,
  draft: Draft,
  { email, rounds }: Failed,
): Promise<ReconcileResult | TravelerGone> {
  for (const create of openCreates(draft, email)) {
    const own = await linkOwnCreate(task, draft, create);
    if (own === 'gone' || 'end' in own) return own;
  }
  // Noted before the look: whoever gives the address up from now on makes this one dirty.
  if (draft.waitingFor === undefined)
    await task.store.leases.waitFor(task.connection.id, task.identity.id, task.token, email);
  const linked = await linkExistingTraveler(task, draft, email);
  if (linked === 'erased') {
    const waiting = awaitingTaken(draft, email, findings.erasedTraveler(email));
    return createTraveler(task, waiting, { rounds: rounds - 1, free: undefined });
  }
  if (linked === 'taken')
    return createTraveler(task, awaitingTaken(draft, email), { rounds: rounds - 1, free: undefined });
  if (linked !== 'none') return linked;
  // The holder may just have gone, or our own create may just be appearing.
  const tries = openCreates(draft, email).length > 0 ? TRIES : 2;
  const isKnown = task.identity.waitingFor === addressKey(email);
  if (!isKnown && task.identity.attempts + 1 < tries)
    return endInFailure(draft, {
      kind: 'unavailable',
      text: 'a create met a conflict, yet nobody has the address',
    });
  const waiting = awaitingTaken(draft, email, findings.unfindableEmail(email));
  return createTraveler(task, waiting, { rounds: rounds - 1, free: undefined });
}

/** Earlier creates under an address, which may have made its traveler. */
function openCreates({ progress }: Draft, email: string) {
  const creates = progress.late?.creates ?? [];
  return creates.filter(({ reservation }) => addressKey(reservation.email) === addressKey(email));
}

/** Notes that the address is taken; what it waits for stays the first choice. */
function awaitingTaken(draft: Draft, email: string, finding?: Finding): Draft {
  const noted = withWaiting({ ...draft, waitingFor: undefined }, email, finding);
  return { ...noted, waitingFor: draft.waitingFor ?? noted.waitingFor };
}

import { isDeepStrictEqual } from 'node:util';
import type { AnnouncedFields } from '../../translator/announced.ts';
import { isEqualJson } from '../../translator/values/values.ts';
import { findings } from '../findings.ts';
import type { Identity, ShadowCall, ShadowPlan } from '../identity.ts';
import type { Announcement } from '../store-ports.ts';
import type { TravelFailure } from '../travel-ports.ts';
import {
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withProgress,
} from './context.ts';
import { type Effect, type Program, perform } from './effects.ts';
import { addressKey } from './email/addresses.ts';
import { withUnconfirmedFindings } from './unconfirmed-values.ts';

/** The first call that an attempt would send. */
type Planned = Omit<ShadowPlan, 'since' | 'at'>;

const nothing: Planned = { call: 'none', fields: {} };

/** The facts that a plan in shadow mode needs besides the identity. */
export interface ShadowFacts {
  /** The time at which shadow mode began. */
  since: number;
  /** The userName of a manager who has no traveler yet. Once there is one, the person is changed, too. */
  awaitedManager: string | undefined;
}

/**
 * Reconciles an identity of a connection in shadow mode (docs/architecture.md, Shadow mode): the attempt runs to the first call that would
 * change a traveler, and keeps in the progress what that call would be. Nothing is sent, reserved or counted. An attempt that needs no call
 * ends as in a live connection.
 */
export function* reconcileInShadow(
  context: ReconcileContext,
  facts: ShadowFacts,
  reconcile: (context: ReconcileContext) => Program<ReconcileResult>,
): Program<ReconcileResult> {
  const end = yield* planFirstCall(context, reconcile(context));
  if ('planned' in end) return endPlanned(context, facts, end.planned);
  const { result, isWaitSkipped } = end;
  if (result.end.kind !== 'state') return { ...result, draft: withoutOldPlan(context, asStored(context)) };
  const { draft } = result;
  if (isFirstLink(context.identity, draft)) return endPlanned(context, facts, { call: 'link', fields: {} });
  const isChangedLater = facts.awaitedManager !== undefined && draft.travelId !== undefined;
  if (isChangedLater && result.end.state === 'synced')
    return endPlanned(context, facts, { call: 'change', fields: {} });
  if (!isWaitSkipped) return withPlan(context, facts, result);
  // The wait for the address was not saved, so nothing wakes the identity when the address is free: it stays in the queue.
  const waiting = { ...asStored(context), findings: draft.findings };
  return withPlan(context, facts, { draft: waiting, end: { kind: 'paused' } });
}

/** The stored state of the identity, with the findings of the new translation. An attempt in shadow mode leaves it as it is. */
function asStored(context: ReconcileContext): OutcomeDraft {
  const { identity, translation } = context;
  const { waitingFor, hold } = identity;
  return withUnconfirmedFindings({ ...newDraft(identity, translation), waitingFor, hold });
}

/** After a failure the plan stays as it is known, unless the rules have changed since. */
function withoutOldPlan({ identity, rulesSnapshot }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const isOld = identity.rulesGeneration < rulesSnapshot.generation;
  return isOld ? withProgress(draft, { shadow: undefined }) : draft;
}

function endPlanned(
  context: ReconcileContext,
  facts: ShadowFacts,
  { fields: changed, ...first }: Planned & { call: ShadowCall },
): ReconcileResult {
  const { awaitedManager } = facts;
  const isManagerSet = awaitedManager !== undefined && first.call !== 'end';
  const fields = isManagerSet
    ? { ...changed, managerId: { before: null, after: { travelerOf: awaitedManager } } }
    : changed;
  const plan = { ...first, fields };
  const draft = withFinding(asStored(context), findings.shadow(plan.call, Object.keys(fields)));
  return withPlan(context, facts, { draft, end: { kind: 'paused' } }, plan);
}

/** Keeps the plan in the progress. A plan that stays the same keeps its time. */
function withPlan(
  { identity, time }: ReconcileContext,
  { since }: ShadowFacts,
  result: ReconcileResult,
  plan: Planned = nothing,
): ReconcileResult {
  const before = identity.progress.shadow;
  const isSame = before !== undefined && isDeepStrictEqual({ ...plan, since, at: before.at }, before);
  const shadow: ShadowPlan = { ...plan, since, at: isSame ? before.at : time.now };
  return { ...result, draft: withProgress(result.draft, { shadow }) };
}

/** True for a user whom the bridge has never provisioned, and who has a traveler as it is wanted: going live links it. */
function isFirstLink({ claimed, deletedAt, applied, travelId }: Identity, draft: OutcomeDraft): boolean {
  if (!claimed || deletedAt !== undefined || draft.travelId === undefined) return false;
  return Object.keys(applied).length === 0 || travelId !== draft.travelId;
}

/** What is known of an attempt so far. */
interface Course {
  /** The traveler that the identity is linked to, or would be. */
  travelId: string | undefined;
  isLinking: boolean;
  creating: string | undefined;
  /** The fields of the last announcement. */
  fields: AnnouncedFields;
  isDeparture: boolean;
  /** True if the attempt would wait for an address. */
  isWaitSkipped: boolean;
  /** The travelers of others that would give their address up first. */
  freed: ReadonlySet<string>;
}

type CourseEnd =
  | { planned: Planned & { call: ShadowCall } }
  | { result: ReconcileResult; isWaitSkipped: boolean };

/** An answer that is given in place of an effect, or the end of the attempt. */
type Answer = { value: unknown; course?: Partial<Course> } | { end: CourseEnd };

/** Runs a program until it ends or would call the travel API to change something. Effects that save something for others are skipped. */
function* planFirstCall(context: ReconcileContext, program: Program<ReconcileResult>): Program<CourseEnd> {
  let course: Course = {
    ...{ travelId: context.identity.travelId, isLinking: false, creating: undefined, fields: {} },
    ...{ isDeparture: false, isWaitSkipped: false, freed: new Set() },
  };
  let step = program.next();
  while (!step.done) {
    const answer = yield* answerInShadow(context, course, step.value);
    if ('end' in answer) return answer.end;
    course = { ...course, ...answer.course };
    step = program.next(answer.value);
  }
  return { result: step.value, isWaitSkipped: course.isWaitSkipped };
}

function* answerInShadow(context: ReconcileContext, course: Course, effect: Effect): Program<Answer> {
  switch (effect.kind) {
    case 'admitDeparture':
      return { value: true, course: { isDeparture: true } };
    case 'noteSuccessor':
      return { value: undefined, course: { isWaitSkipped: true } };
    case 'announce':
      return yield* answerAnnouncement(context, effect.values[0]);
    case 'createTraveler':
      return yield* answerCreate(context, course);
    case 'patchTraveler':
      return answerChange(context, course, effect.values[0]);
    case 'removeTraveler':
      return effect.values[0] === course.travelId
        ? toEnd(course, 'end')
        : { value: { kind: 'ok', value: undefined } };
    default:
      return { value: yield effect };
  }
}

function* answerAnnouncement(context: ReconcileContext, announcement: Announcement): Program<Answer> {
  const fields = announcement.progress?.announced ?? {};
  if ('travelId' in announcement)
    return { value: 'done', course: { travelId: announcement.travelId, isLinking: true, fields } };
  if (!('creating' in announcement) || announcement.creating === undefined)
    return { value: 'done', course: { fields } };
  const { creating } = announcement;
  const isTaken = yield* isPlannedFor(context, creating);
  return isTaken
    ? { value: 'taken', course: { isWaitSkipped: true } }
    : { value: 'done', course: { fields, creating } };
}

/** True if an earlier user of the connection would get a traveler with the address, by a plan under the same rules. */
function* isPlannedFor(
  { connection, identity, rulesSnapshot }: ReconcileContext,
  email: string,
): Program<boolean> {
  const others = yield* perform('findIdentities', connection.id, { by: 'email', value: email });
  return others.some(
    ({ id, createdAt, rulesGeneration, progress: { shadow } }) =>
      id !== identity.id &&
      rulesGeneration >= rulesSnapshot.generation &&
      shadow?.call === 'create' &&
      shadow.email !== undefined &&
      addressKey(shadow.email) === addressKey(email) &&
      (createdAt < identity.createdAt || (createdAt === identity.createdAt && id < identity.id)),
  );
}

/** The travel API would refuse a create whose address a traveler has. A search, which changes nothing, shows that. */
function* answerCreate(context: ReconcileContext, course: Course): Program<Answer> {
  const found = yield* perform('findTravelers', course.creating === undefined ? [] : [course.creating]);
  if (found.kind !== 'ok') return failed(context, course, found);
  const isTaken = found.value.some(({ id }) => !course.freed.has(id));
  return isTaken ? { value: { kind: 'conflict' } } : toEnd(course, 'create');
}

function failed(context: ReconcileContext, { isWaitSkipped }: Course, failure: TravelFailure): Answer {
  const draft = asStored(context);
  return { end: { result: { draft, end: { kind: 'failed', failure } }, isWaitSkipped } };
}

/** A traveler without an identity would give its address up, and the attempt goes on with a create. */
function answerChange(context: ReconcileContext, course: Course, travelId: string): Answer {
  if (travelId !== course.travelId)
    return { value: { kind: 'notFound' }, course: { freed: new Set([...course.freed, travelId]) } };
  return toEnd(course, callOf(context, course));
}

function callOf({ identity }: ReconcileContext, { fields, isLinking }: Course): ShadowCall {
  const archived = fields.archived;
  if (archived && archived.value !== archived.before) return archived.value === true ? 'end' : 'reactivate';
  return isLinking || Object.keys(identity.applied).length === 0 ? 'link' : 'change';
}

function toEnd(course: Course, call: ShadowCall): Answer {
  const changed = Object.entries(course.fields).flatMap(([key, { value: after, before }]) => {
    const isImplied = call === 'create' && key === 'archived' && after === false;
    return isImplied || isEqualJson(before, after) ? [] : [[key, { before, after }] as const];
  });
  const { creating, isDeparture } = course;
  const isCounted = isDeparture && call === 'end';
  const planned = {
    ...{ call, fields: Object.fromEntries(changed) },
    ...(call === 'create' && creating !== undefined ? { email: creating } : {}),
    ...(isCounted ? { limit: 'safetyValve' as const } : {}),
  };
  return { end: { planned } };
}

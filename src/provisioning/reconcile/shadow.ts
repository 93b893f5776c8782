import { isDeepStrictEqual } from 'node:util';
import { findings } from '../../model/findings.ts';
import type { Identity, ShadowCall, ShadowPlan } from '../../model/identity.ts';
import type { AppliedFields } from '../../model/translation.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { readField } from '../../translator/plan/traveler.ts';
import { isEqualJson } from '../../translator/values/values.ts';
import {
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withProgress,
} from './context.ts';
import { sentCreateOf } from './create/own-create.ts';
import { withScopeNoted } from './departure/scope.ts';
import { type Effect, type Program, perform } from './effects.ts';
import { withNotShownFindings } from './read-again.ts';

/** The first call that an attempt would send. */
type FirstCall = Omit<ShadowPlan, 'at' | 'call'> & { call: ShadowCall };

/** The facts that a plan in shadow mode needs besides the identity. */
export interface ShadowFacts {
  /** The time at which shadow mode began. */
  since: number;
  /** The userName of a manager who has no traveler yet. Once there is one, the person is changed, too. */
  awaitedManager: string | undefined;
}

/**
 * Runs the attempt of a live connection to its first call that would change a traveler (docs/architecture.md, Shadow mode), and keeps that
 * call in the progress. Nothing is sent, linked, reserved or counted. An attempt without such a call ends as in a live connection.
 */
export function* reconcileInShadow(
  context: ReconcileContext,
  facts: ShadowFacts,
  program: Program<ReconcileResult>,
): Program<ReconcileResult> {
  const result = yield* runToFirstCall(context, program);
  if (!('end' in result)) return endPlanned(context, facts, result);
  const { draft, end } = result;
  const withoutPlan = { shadow: undefined };
  if (end.kind !== 'state') return { draft: withProgress(asStored(context), withoutPlan), end };
  if (isLink(context.identity, draft)) return endPlanned(context, facts, { call: 'link', fields: {} });
  const isChangedLater = facts.awaitedManager !== undefined && draft.travelId !== undefined;
  if (isChangedLater && end.state === 'synced')
    return endPlanned(context, facts, { call: 'change', fields: {} });
  return { draft: withProgress(draft, withoutPlan), end };
}

/** The stored state of the identity, with the findings of the new translation. */
function asStored(context: ReconcileContext): OutcomeDraft {
  const { identity, translation } = context;
  const { waitingFor, hold } = identity;
  return withNotShownFindings(context, {
    ...withScopeNoted(context, newDraft(identity, translation)),
    ...{ waitingFor, hold },
  });
}

/** Keeps the call in the progress. A plan that stays the same keeps its time. */
function endPlanned(
  context: ReconcileContext,
  { since, awaitedManager }: ShadowFacts,
  { fields: changed, ...first }: FirstCall,
): ReconcileResult {
  const { identity, time } = context;
  const isManagerSet = awaitedManager !== undefined && first.call !== 'end';
  const managerId = { before: null, after: { travelerOf: awaitedManager ?? '' } };
  const plan: FirstCall = { ...first, fields: isManagerSet ? { ...changed, managerId } : changed };
  const { at = 0, ...before } = identity.progress.shadow ?? {};
  const isSame = at >= since && isDeepStrictEqual(plan, before);
  const shadow = { ...plan, at: isSame ? at : Math.max(time.now, since) };
  const known = first.call === 'create' ? withoutEndedCreate(context, asStored(context)) : asStored(context);
  const noted = withFinding(known, findings.shadow(plan.call, Object.keys(plan.fields)));
  return { draft: withProgress(noted, { shadow }), end: { kind: 'planned' } };
}

/**
 * Returns the draft without the create of the time before shadow mode, if it was not sent or can make no traveler any more: nothing keeps its
 * address from others. The attempt has looked the address up before it planned another create.
 */
function withoutEndedCreate({ time }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { travelId, creating, readAgainAt = 0 } = draft;
  if (travelId !== undefined || creating === undefined || readAgainAt > time.now) return draft;
  const applied = sentCreateOf(draft) ? {} : draft.applied;
  return { ...draft, applied, creating: undefined, readAgainAt: undefined };
}

/** True for a user who has a traveler as it is wanted, and whom the bridge has not provisioned yet: going live links it. */
function isLink({ claimed, deletedAt, applied, travelId }: Identity, draft: OutcomeDraft): boolean {
  if (!claimed || deletedAt !== undefined || draft.travelId === undefined) return false;
  return Object.keys(applied).length === 0 || travelId !== draft.travelId;
}

/** What an attempt has announced so far. */
interface Announced {
  /** The traveler that the identity is linked to, or would be. */
  travelId: string | undefined;
  email: string | undefined;
  /** The records of the next call, and the travelers that were read. */
  applied: AppliedFields;
  travelers: Map<string, TravelUser>;
}

/** Runs a program until it ends or would change the traveler of the identity. */
function* runToFirstCall(
  context: ReconcileContext,
  program: Program<ReconcileResult>,
): Program<ReconcileResult | FirstCall> {
  const { travelId, observed } = context.identity;
  const travelers = new Map(observed ? [[observed.id, observed]] : []);
  const announced: Announced = { travelId, email: undefined, applied: {}, travelers };
  const freed = new Set<string>();
  let step = program.next();
  while (!step.done) {
    const effect = step.value;
    if (isOwnCall(effect, announced)) return firstCall(context, announced, effect.kind);
    if (effect.kind === 'patchTraveler') freed.add(effect.values[0]);
    const answer = yield* answerInShadow({ announced, freed }, effect);
    if (answer === 'create') return firstCall(context, announced, 'createTraveler');
    step = program.next(answer);
  }
  return step.value;
}

/** True for a change of the traveler of this identity. Those of others give their address up, or are second ones. */
function isOwnCall({ kind, values }: Effect, { travelId }: Announced): boolean {
  return (kind === 'patchTraveler' || kind === 'removeTraveler') && values[0] === travelId;
}

/** Returns the answer to an effect. What would be saved for others, or sent to their travelers, is answered and not carried out. */
function* answerInShadow(
  { announced, freed }: { announced: Announced; freed: ReadonlySet<string> },
  effect: Effect,
): Program<unknown> {
  switch (effect.kind) {
    case 'admitDeparture':
      return true;
    case 'noteSuccessor':
    case 'waitForEmail':
    case 'askForEmail':
      return undefined;
    case 'announce': {
      const [announcement] = effect.values;
      announced.applied = announcement.applied;
      if ('travelId' in announcement) announced.travelId = announcement.travelId;
      if (announcement.travelId === undefined) announced.email = announcement.creating?.email;
      return 'done';
    }
    case 'createTraveler': {
      // The travel API would refuse a create whose address a traveler has.
      const found = yield* perform('findTravelers', announced.email === undefined ? [] : [announced.email]);
      if (found.kind !== 'ok') return found;
      return found.value.some(({ id }) => !freed.has(id)) ? { kind: 'conflict' } : 'create';
    }
    case 'patchTraveler':
      return { kind: 'notFound' };
    case 'removeTraveler':
      return { kind: 'ok', value: undefined };
    case 'readTraveler': {
      const read = yield* perform('readTraveler', ...effect.values);
      if (read.kind === 'ok') announced.travelers.set(read.value.id, read.value);
      return read;
    }
    case 'findTravelers': {
      const found = yield* perform('findTravelers', ...effect.values);
      if (found.kind === 'ok') for (const one of found.value) announced.travelers.set(one.id, one);
      return found;
    }
    default:
      return yield effect;
  }
}

function firstCall(
  { identity }: ReconcileContext,
  { travelId, email, applied, travelers }: Announced,
  kind: Effect['kind'],
): FirstCall {
  const isCreate = kind === 'createTraveler';
  const traveler = isCreate || travelId === undefined ? undefined : travelers.get(travelId);
  const changed = Object.entries(applied).flatMap(([key, { sent: after, seen }]) => {
    const before = (traveler && readField(traveler, key)) ?? null;
    const isImplied = isCreate && key === 'archived' && after === false;
    const isSent = seen === undefined && !isImplied && !isEqualJson(before, after);
    return isSent ? [[key, { before, after }] as const] : [];
  });
  const fields = Object.fromEntries(changed);
  if (isCreate) return { call: 'create', fields, ...(email === undefined ? {} : { email }) };
  return { call: kind === 'removeTraveler' ? 'end' : callOf(identity, travelId, fields), fields };
}

function callOf(
  { applied, travelId: linked }: Identity,
  travelId: string | undefined,
  { archived }: ShadowPlan['fields'],
): ShadowCall {
  if (archived) return archived.after === true ? 'end' : 'reactivate';
  return linked !== travelId || Object.keys(applied).length === 0 ? 'link' : 'change';
}

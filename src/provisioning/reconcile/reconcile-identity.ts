import type { ConnectionSettings } from '../../model/connection.ts';
import { type Identity, type ShadowPlan, wasInPilot } from '../../model/identity.ts';
import type { TravelFailure } from '../../model/travel-ports.ts';
import {
  type AttemptTime,
  endInFailure,
  newDraft,
  type ReconcileContext,
  type ReconcileResult,
  withProgress,
} from './context.ts';
import { plannedEmailFailure } from './create/create-traveler.ts';
import { type Program, perform } from './effects.ts';
import { isInPilot } from './pilot.ts';
import { reconcileTraveler } from './reconcile-traveler.ts';
import { withBackupDoubted } from './restored/statements.ts';
import { isRefusal } from './run/outcome.ts';
import { reconcileInShadow } from './shadow.ts';
import { areSameReferences, type ResolvedReferences } from './wanted/references.ts';
import {
  type TranslatedIdentity,
  type TranslationSource,
  translateIdentity,
} from './wanted/translate-identity.ts';

/** The input of an attempt to reconcile an identity. */
export interface AttemptInput extends TranslationSource {
  connection: ConnectionSettings;
  /** The generation of the rules that were in force when the identity was read; a later one will do. */
  generation: number;
  /** An address that no identity of the account had, or was about to get, when this attempt began. */
  freeEmail?: string | undefined;
  /** The time at which shadow mode began; undefined if the connection is not in it. */
  shadowSince: number | undefined;
  time: AttemptTime;
}

/** The result of an attempt, and what it was decided from. */
export interface Decision {
  result: ReconcileResult;
  translated: TranslatedIdentity | TravelFailure;
  /** The generation of the rules that the result follows. */
  rulesGeneration: number;
}

/**
 * Reconciles an identity: translates what the IdP wants, makes the traveler agree with it, and saves the references. The outcome, which the
 * caller saves, follows from the result.
 */
export function* reconcileIdentity(leased: AttemptInput): Program<Decision> {
  const identity = withBackupDoubted(leased.identity);
  const input = { ...leased, identity };
  const translated = yield* translateIdentity(input);
  if ('kind' in translated)
    return {
      result: endUntranslated(identity, translated),
      translated,
      rulesGeneration: identity.rulesGeneration,
    };
  const context: ReconcileContext = { freeEmail: undefined, ...input, ...translated };
  const result = yield* reconcileInMode(context, translated, input);
  // After a failure, keep the old rows: the next attempt must still see that the target of a reference is gone.
  if (result.end.kind === 'state') yield* saveChangedReferences(identity, translated, result);
  return { result, translated, rulesGeneration: translated.rulesSnapshot.generation };
}

/** Ends an attempt for which neither the rules nor the lookups could be read. */
function endUntranslated(identity: Identity, failure: TravelFailure): ReconcileResult {
  return endInFailure(newDraft(identity, { findings: identity.findings }), failure);
}

/** Decides the mode of one identity: in shadow mode it is that of the connection, except for the people of the pilot. */
function reconcileInMode(
  context: ReconcileContext,
  { resolved }: TranslatedIdentity,
  { shadowSince: since }: Pick<AttemptInput, 'shadowSince'>,
): Program<ReconcileResult> {
  if (since === undefined) return reconcileLive(context);
  if (isInPilot(context)) return reconcileInPilot(context, since);
  const awaitedManager = findAwaitedManager(context, resolved);
  // The plan of before says nothing about the new one.
  const { shadow: _, ...progress } = context.identity.progress;
  const program = reconcileTraveler({ ...context, identity: { ...context.identity, progress } });
  return reconcileInShadow(context, { since, awaitedManager }, program);
}

/** Whoever enters the pilot begins like everybody when a connection goes live: the traveler is read, and a wait for an address begins anew. */
function reconcileInPilot(context: ReconcileContext, since: number): Program<ReconcileResult> {
  const { identity, time } = context;
  if (wasInPilot(identity)) return reconcileLive(context, identity.progress.shadow);
  const plan: ShadowPlan = { call: 'live', fields: {}, at: Math.max(time.now, since) };
  const entered = { ...identity, observed: undefined, waitingFor: undefined };
  return reconcileLive({ ...context, identity: entered }, plan);
}

/**
 * The first attempt after shadow mode ends the plan, unless it has to wait for that of another user; in the pilot, another one takes its
 * place.
 */
function* reconcileLive(context: ReconcileContext, inPilot?: ShadowPlan): Program<ReconcileResult> {
  const { draft, end } = yield* reconcileTraveler(context);
  const isPlanKept = end.kind === 'failed' && end.failure === plannedEmailFailure;
  const isPlanOver = draft.progress.shadow !== inPilot && !isPlanKept;
  return { draft: isPlanOver ? withProgress(draft, { shadow: inPilot }) : draft, end };
}

/** Returns the userName of the manager, if the manager is active and has no traveler yet. */
function findAwaitedManager(
  { translation }: ReconcileContext,
  { references }: ResolvedReferences,
): string | undefined {
  if (translation.fields.managerId?.kind !== 'unresolved') return undefined;
  for (const reference of references.values()) {
    if ('userName' in reference) return reference.userName;
  }
  return undefined;
}

/** Saves the references that the outcome follows, if they differ from the stored ones. */
function* saveChangedReferences(
  { deletedAt }: Identity,
  { resolved }: TranslatedIdentity,
  result: ReconcileResult,
): Program<void> {
  // A deleted user has no references. If the DELETE is refused, the user is only deactivated and keeps them.
  const rows = deletedAt !== undefined && !isRefusal(result) ? [] : resolved.rows;
  if (!areSameReferences(resolved.stored, rows)) yield* perform('saveReferences', rows);
}

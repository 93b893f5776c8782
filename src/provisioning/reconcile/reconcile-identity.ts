import { isActive } from '../../schema/resource.ts';
import type { ConnectionSettings } from '../connection.ts';
import type { Identity } from '../identity.ts';
import type { TravelFailure } from '../travel-ports.ts';
import {
  type AttemptTime,
  endInFailure,
  newDraft,
  type ReconcileContext,
  type ReconcileResult,
} from './context.ts';
import { type Program, perform } from './effects.ts';
import { reconcileInPause, reconcileStated } from './pause.ts';
import { reconcileTraveler } from './reconcile-traveler.ts';
import { areSameReferences, type ResolvedReferences } from './references.ts';
import { isRefusal } from './run/outcome.ts';
import { reconcileInShadow } from './shadow.ts';
import { tellReports } from './tell-reports.ts';
import { type TranslatedIdentity, type TranslationSource, translateIdentity } from './translate-identity.ts';

/** The input of an attempt to reconcile an identity. */
export interface AttemptInput extends TranslationSource {
  connection: ConnectionSettings;
  /** The generation of the rules that were in force when the identity was read; a later one will do. */
  generation: number;
  /** An address that no identity of the account had, or was about to get, when this attempt began. */
  freeEmail?: string | undefined;
  /** The time at which the connection was paused; undefined if it is not. */
  pausedAt: number | undefined;
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
export function* reconcileIdentity(input: AttemptInput): Program<Decision> {
  const { identity } = input;
  const translated = yield* translateIdentity(input.connection, input);
  if ('kind' in translated)
    return {
      result: endUntranslated(identity, translated),
      translated,
      rulesGeneration: identity.rulesGeneration,
    };
  const context = toContext(input, translated);
  const result = yield* tellReports(context, yield* reconcileInMode(context, translated, input));
  // After a failure, keep the old rows: the next attempt must still see that the target of a reference is gone.
  if (result.end.kind === 'state') yield* saveChangedReferences(identity, translated, result);
  return { result, translated, rulesGeneration: translated.rulesSnapshot.generation };
}

/** Ends an attempt for which neither the rules nor the lookups could be read. */
function endUntranslated(identity: Identity, failure: TravelFailure): ReconcileResult {
  return endInFailure(newDraft(identity, { findings: identity.findings }), failure);
}

function toContext(
  { connection, identity, freeEmail, time }: AttemptInput,
  { rulesSnapshot, translation, baseline, translateWith }: TranslatedIdentity,
): ReconcileContext {
  return { connection, identity, freeEmail, time, rulesSnapshot, baseline, translation, translateWith };
}

/** The mode of the connection, as `AttemptInput` has it. */
type Mode = Pick<AttemptInput, 'pausedAt' | 'shadowSince'>;

function reconcileInMode(
  context: ReconcileContext,
  { resolved }: TranslatedIdentity,
  { pausedAt, shadowSince: since }: Mode,
): Program<ReconcileResult> {
  if (since !== undefined) {
    const awaitedManager = findAwaitedManager(context, resolved);
    return reconcileInShadow(context, { since, awaitedManager }, reconcileTraveler);
  }
  return pausedAt === undefined
    ? reconcileStated(context, reconcileTraveler)
    : reconcileInPause(context, pausedAt, reconcileTraveler);
}

/** Returns the userName of the manager, if the manager is active and has no traveler yet. */
function findAwaitedManager(
  { translation }: ReconcileContext,
  { references }: ResolvedReferences,
): string | undefined {
  if (translation.fields.managerId?.kind !== 'unresolved') return undefined;
  for (const reference of references.values()) {
    const { user } = reference;
    const isAwaited = 'unresolved' in reference && reference.unresolved === 'notLinked';
    if (isAwaited && user && isActive(user)) return String(user.userName);
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

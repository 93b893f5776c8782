import { isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { isDepartureCause, isInactive } from '../../../model/identity.ts';
import type { WantedField } from '../../../model/translation.ts';
import {
  endInState,
  isEndedByScope,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type WantedFields,
  withFinding,
  withProgress,
} from '../context.ts';
import type { Program } from '../effects.ts';
import { isFromBackup } from '../restored/statements.ts';
import { readTraveler, withoutLink } from '../traveler-calls.ts';
import { type TravelerGone, updateTraveler } from '../update/update-traveler.ts';
import { findUnconfirmedTraveler } from './archive-traveler.ts';

/**
 * True if the scope of the mapping decides about the traveler of a live user. It does not where a linked person is deactivated: those who
 * leave are archived whatever the scope.
 */
export function isScopeDecisive({ identity, translation }: ReconcileContext): boolean {
  if (translation.scope === 'in') return false;
  return identity.travelId === undefined || !isInactive(identity);
}

/** Notes whether the scope leaves the person out. Once the person is in it, what an admin has decided about the scope is void. */
export function withScopeNoted(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { scope } = context.translation;
  if (scope === 'in') return withProgress(draft, { scope: undefined, leftScopeAt: undefined });
  return withProgress(draft, { scope: isScopeDecisive(context) ? scope : undefined });
}

/**
 * Reconciles a user whom the scope of the mapping leaves out, or of whom that is not known. Without a traveler there will be none. The
 * linked traveler is changed no more, and archived if the mapping says so.
 */
export function* reconcileOutOfScope(
  context: ReconcileContext,
  begun: OutcomeDraft,
): Program<ReconcileResult> {
  const draft = begun.travelId === undefined ? yield* findUnconfirmedTraveler(context, begun) : begun;
  if ('end' in draft) return { ...draft, draft: withScopeFinding(context, draft.draft, 'none') };
  const isRestored = draft.travelId !== undefined && isFromBackup(context.identity);
  const isProvisioned = isRestored || hasProvisionedTraveler(draft);
  if (!isProvisioned && context.translation.scope === 'out') return endWithoutTraveler(context, draft);
  const known = yield* readIfUnknown(context, draft);
  if (known === 'gone') return endWithoutTraveler(context, withoutLink(draft));
  if ('end' in known)
    return { ...known, draft: withScopeFinding(context, known.draft, scopeEffect(context, known.draft)) };
  if (!isProvisioned) return endWithoutTraveler(context, known);
  const limited = isInactive(context.identity) ? { context, draft: known } : limitToScope(context, known);
  const updated = yield* updateTraveler(limited.context, limited.draft);
  return updated === 'gone' ? endWithoutTraveler(context, withoutLink(known)) : updated;
}

/**
 * Reads the linked traveler if its values are unknown: an import may not have seen it any more, and what is kept of it depends on whether it
 * has a parking address.
 */
function* readIfUnknown(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<OutcomeDraft | ReconcileResult | TravelerGone> {
  const { travelId, observed } = draft;
  if (travelId === undefined || observed !== undefined) return draft;
  return yield* readTraveler(context, draft, travelId);
}

/**
 * False for a traveler that an import has found and the bridge has never changed: it stays with the travel service. A call without a known
 * outcome may have changed it.
 */
export function hasProvisionedTraveler({
  travelId,
  applied,
}: Pick<OutcomeDraft, 'travelId' | 'applied'>): boolean {
  return travelId !== undefined && Object.keys(applied).length > 0;
}

function endWithoutTraveler(context: ReconcileContext, draft: OutcomeDraft): ReconcileResult {
  const noted = withScopeFinding(context, draft, 'none');
  if (context.translation.scope === 'out') return endInState(withoutLink(noted), 'synced');
  // The traveler that an import has found stays known: it may become that of the person.
  return endInState({ ...noted, creating: undefined }, noted.travelId === undefined ? 'pending' : 'synced');
}

/**
 * Limits what is wanted of the traveler of an active person to what the scope leaves of it. While the scope is unresolved, all but the
 * access follows the IdP.
 */
export function limitToScope(
  context: ReconcileContext,
  begun: OutcomeDraft,
): { context: ReconcileContext; draft: OutcomeDraft } {
  const { identity, translation, baseline } = context;
  const effect = scopeEffect(context, begun);
  const leftScopeAt = effect === 'kept' ? undefined : (begun.progress.leftScopeAt ?? identity.version);
  const draft = withScopeFinding(context, withProgress(begun, { leftScopeAt }), effect);
  const isFrozen = translation.scope === 'out';
  const fields = isFrozen ? frozenFields(context, draft) : translation.fields;
  const limited = { ...translation, fields: { ...fields, archived: limitedAccess(context, draft, effect) } };
  return { context: { ...context, baseline: isFrozen ? undefined : baseline, translation: limited }, draft };
}

type ScopeEffect = 'none' | 'kept' | 'archived' | 'keptActive';

/** Says whether the traveler of an active person stays as it is, or is archived, unless an admin has discarded that. */
function scopeEffect(
  context: ReconcileContext,
  { progress: { leftScopeAt = context.identity.version } }: OutcomeDraft,
): ScopeEffect {
  if (!isEndedByScope(context)) return 'kept';
  const { decision } = context.identity;
  const isDiscarded = decision?.answer === 'discarded' && isDepartureCause(decision.cause);
  return isDiscarded && decision.version >= leftScopeAt ? 'keptActive' : 'archived';
}

const keptField: WantedField = { kind: 'kept' };

/** Keeps every field. A traveler that has a parking address for a moment gets its own address. */
function frozenFields({ connection, translation }: ReconcileContext, draft: OutcomeDraft): WantedFields {
  const keys = [...Object.keys(draft.applied), ...Object.keys(translation.fields)];
  const frozen: WantedFields = Object.fromEntries(keys.map((key) => [key, keptField]));
  const isParked = draft.observed !== undefined && isParkingAddress(connection, draft.observed.email);
  const { email } = translation.fields;
  return isParked && email ? { ...frozen, email } : frozen;
}

/** The scope ends access or leaves it as it is. It gives none back: an archived traveler stays archived. */
function limitedAccess(
  { translation }: ReconcileContext,
  { applied }: OutcomeDraft,
  effect: ScopeEffect,
): WantedField {
  if (effect === 'archived') return { kind: 'value', value: true, source: true };
  const { archived = keptField } = translation.fields;
  return translation.scope === 'out' || applied['archived']?.sent === true ? keptField : archived;
}

/** Adds the finding about the scope. */
export function withScopeFinding(
  { translation: { scope }, rulesSnapshot: { rules } }: ReconcileContext,
  draft: OutcomeDraft,
  effect: ScopeEffect,
): OutcomeDraft {
  const filter = rules.scope?.text ?? '';
  return withFinding(
    draft,
    scope === 'out' ? findings.outOfScope(filter, effect) : findings.scopeUnresolved(filter),
  );
}

import { findings } from '../../../model/findings.ts';
import {
  departureCauses,
  type Identity,
  isDepartureCause,
  isInactive,
  type StatedDeparture,
} from '../../../model/identity.ts';
import type { Finding } from '../../../model/translation.ts';
import { administratorRoles, type TravelUser } from '../../../model/traveler.ts';
import {
  endInState,
  isApproved,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type SendableFields,
  type WantedFields,
  wasHeldFor,
  withFinding,
  withHold,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { isAccessFromBackup } from '../restored/statements.ts';

/**
 * True if the traveler has an administrator role that the mapping did not give. An IdP must neither take over nor end such a
 * traveler.
 */
export function isGuarded({ roles = [] }: TravelUser, applied: OutcomeDraft['applied']): boolean {
  return roles.some((role) => administratorRoles.includes(role) && !(`roles.${role}` in applied));
}

/**
 * Sets the fields that need an admin's approval to `kept`, so that they are not sent: email and roles of an
 * administrator, and `archived` if the guard or the safety valve holds the deactivation. The traveler must have been
 * read while the lease was held.
 */
export function* withGuardsApplied(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
): Program<SendableFields> {
  const guarded = withGuardedFieldsKept(context, { draft, fields });
  const { observed } = guarded.draft;
  const isLeaving = isArchiveWanted(guarded.fields) && observed?.archived === false;
  if (!isLeaving) return guarded;
  if (isKeptActive(context.identity)) return withDepartureDiscarded(context, guarded);
  if (yield* admitDeparture(context, guarded.draft)) return guarded;
  return {
    draft: withHold(context, withFinding(guarded.draft, heldDeparture(context)), 'safetyValve'),
    fields: { ...guarded.fields, archived: { kind: 'kept' } },
  };
}

/** Keeps the traveler active, because an admin has discarded the departure. */
function withDepartureDiscarded(
  { identity }: ReconcileContext,
  { draft, fields }: SendableFields,
): SendableFields {
  return {
    draft: withFinding(draft, findings.keptActive(identity.decision)),
    fields: { ...fields, archived: { kind: 'kept' } },
  };
}

/**
 * Counts the deactivation or deletion of this identity against the safety valve. Returns false if it must be held. It
 * passes if an admin has approved it, and is held if only a restored backup states it. Once held, it stays held until an admin decides or the IdP writes again, even if
 * fewer people have left since.
 */
export function* admitDeparture(
  { connection, identity }: ReconcileContext,
  { applied }: Pick<OutcomeDraft, 'applied'>,
): Program<boolean> {
  if (departureCauses.some((cause) => isApproved(identity, cause))) return true;
  if (isAccessFromBackup(identity)) return false;
  // The departure was sent before, and not carried out: the travel API has accepted it without effect, or has created an inactive person as
  // an active one, also in this attempt.
  const { archived } = identity.travelId === undefined ? applied : identity.applied;
  if (archived?.sent === true && archived.seen !== true) return true;
  if (wasHeldFor(identity, 'safetyValve') || identity.origin.statedDeparture?.isRepeated) return false;
  const valve = connection.policies.safetyValve;
  return !valve || (yield* perform('admitDeparture', valve));
}

/**
 * Ends the attempt with a hold if the departure must wait for an admin: that of a guarded traveler, or one that the safety valve holds.
 * Returns undefined if the traveler may be archived or deleted.
 */
export function* holdDeparture(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<ReconcileResult | undefined> {
  const { observed, applied } = draft;
  if (observed && isGuarded(observed, applied) && !isApproved(context.identity, 'guarded'))
    return endInState(withHold(context, withFinding(draft, findings.guardedLeaver()), 'guarded'), 'held');
  if (yield* admitDeparture(context, draft)) return undefined;
  const noted = withFinding(draft, heldDeparture(context));
  return endInState(withHold(context, noted, 'safetyValve'), 'held');
}

function heldDeparture({ identity }: ReconcileContext): Finding {
  if (isAccessFromBackup(identity)) return findings.restoredDeparture();
  return identity.origin.statedDeparture?.isRepeated ? findings.heldAgain() : findings.heldBySafetyValve();
}

function withGuardedFieldsKept(context: ReconcileContext, { draft, fields }: SendableFields): SendableFields {
  const { observed, applied } = draft;
  if (!observed || !isGuarded(observed, applied)) return { draft, fields };
  const all = [...Object.keys(applied), ...Object.keys(context.baseline ?? {}), ...Object.keys(fields)];
  const keys = ['email', ...new Set(all.filter((key) => key.startsWith('roles.')))];
  const kept: WantedFields = { ...fields };
  for (const key of keys) kept[key] = { kind: 'kept' };
  const isChange = keys.some((key) => isFieldChanging(context, key, { draft, fields }));
  const noted = isChange ? withFinding(draft, findings.guarded()) : draft;
  const isLeaving = isArchiveWanted(fields) && !observed.archived;
  const isDecided = isApproved(context.identity, 'guarded') || isKeptActive(context.identity);
  if (!isLeaving || isDecided) return { draft: noted, fields: kept };
  return {
    draft: withHold(context, withFinding(noted, findings.guardedLeaver()), 'guarded'),
    fields: { ...kept, archived: { kind: 'kept' } },
  };
}

function isArchiveWanted({ archived }: WantedFields): boolean {
  return archived?.kind === 'value' && archived.value === true;
}

function isFieldChanging(
  { baseline }: ReconcileContext,
  key: string,
  { draft: { observed, applied }, fields }: SendableFields,
): boolean {
  const field = fields[key];
  if (key === 'email') return field?.kind === 'value' && field.value !== observed?.email;
  const has = observed?.roles?.includes(key.slice('roles.'.length)) ?? false;
  if (field?.kind === 'value') return !has;
  const isTaken = key in applied || baseline?.[key]?.kind === 'value';
  return field?.kind !== 'kept' && isTaken && has;
}

/** True if the departure of this person waits for an admin, or if an admin has discarded it: nothing may end it but a decision. */
export function isDepartureOpen(identity: Identity): boolean {
  const { hold, decision, version } = identity;
  const isApproved = decision?.answer === 'approved' && decision.version === version;
  return isKeptActive(identity) || (isInactive(identity) && isDepartureCause(hold?.cause) && !isApproved);
}

/**
 * True if an admin has discarded the departure of this person, and the IdP has not stated it again since. The traveler stays
 * active, and nothing waits for an admin.
 */
export function isKeptActive(
  identity: Pick<Identity, 'decision' | 'origin' | 'version' | KeptColumns>,
): boolean {
  const { decision, origin, version } = identity;
  if (decision?.answer !== 'discarded' || !isInactive(identity)) return false;
  return isDepartureCause(decision.cause) && (origin.statedDeparture?.version ?? version) <= decision.version;
}

type KeptColumns = 'desired' | 'deletedAt';

/** Returns the last statement of the departure after a write of the IdP that leaves the user inactive or deleted. */
export function statedDepartureAfter(before: Identity, { isStated }: { isStated: boolean }): StatedDeparture {
  // Without a statement in this write, the last one is in the version before, at the latest.
  if (!isStated) return before.origin.statedDeparture ?? { version: before.version };
  const isRepeated =
    isKeptActive(before) || (isInactive(before) && before.origin.statedDeparture?.isRepeated === true);
  return { version: before.version + 1, ...(isRepeated ? { isRepeated } : {}) };
}

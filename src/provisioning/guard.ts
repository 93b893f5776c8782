import type { FieldKey } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { findings } from './findings.ts';
import {
  endInFailure,
  endInState,
  isApproved,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type WantedFields,
  wasHeldFor,
  withFinding,
  withHold,
} from './reconcile-context.ts';

/** Roles that administer the travel service. */
const privilegedRoles = ['admin', 'authAdmin'];

/** True when the traveler administers the travel service, by whomever the role was given. */
export function isAdministrator({ roles = [] }: TravelUser): boolean {
  return roles.some((role) => privilegedRoles.includes(role));
}

/** True for the field of a role that administers the travel service. */
export function isAdministratorRole(key: FieldKey): boolean {
  return privilegedRoles.some((role) => key === `roles.${role}`);
}

/** True when the traveler has an administrator's role that the mapping did not give: no IdP may capture or end it. */
export function isGuarded({ roles = [] }: TravelUser, applied: OutcomeDraft['applied']): boolean {
  return roles.some((role) => privilegedRoles.includes(role) && !(`roles.${role}` in applied));
}

/** True when an admin lets a person have the traveler of an administrator, or of somebody who left. */
export function isTakeoverApproved(identity: ReconcileContext['identity']): boolean {
  return isApproved(identity, 'guarded') || isApproved(identity, 'return');
}

/** Ends the reconciliation of the user whose credential the bridge uses, who is never written. */
export async function refuseOwnUser(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<ReconcileResult | undefined> {
  const self = await context.connection.lookups.readOwnUser();
  if (self.kind !== 'ok') return endInFailure(draft, self);
  if (self.value.id !== draft.travelId) return undefined;
  return endInState(withFinding(draft, findings.ownCredential()), 'refused');
}

/** What may be sent, after the gates, and the draft with what they found. */
export interface SendableFields {
  draft: OutcomeDraft;
  fields: WantedFields;
}

/**
 * Takes away what must not be sent to the traveler as just read: email and roles of a guarded one, and an archive that an
 * admin must approve first.
 */
export async function withGuardsApplied(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
): Promise<SendableFields> {
  const guarded = withGuardedFieldsKept(context, { draft, fields });
  const { observed } = guarded.draft;
  const isLeaving = isArchiveWanted(guarded.fields) && observed?.archived === false;
  if (!isLeaving || (await admitDeparture(context))) return guarded;
  return {
    draft: withHold(context, withFinding(guarded.draft, findings.heldBySafetyValve()), 'safetyValve'),
    fields: { ...guarded.fields, archived: { kind: 'kept' } },
  };
}

/**
 * Counts that the person leaves; false when too many leave at once. An admin who lets this very person leave, by whatever
 * name the wait had, has decided. Until then a person who is held stays held, though the window has slid on, unless the IdP
 * writes again.
 */
export async function admitDeparture({
  connection,
  identity,
  holds,
  now,
}: ReconcileContext): Promise<boolean> {
  if (isApproved(identity, 'safetyValve') || isApproved(identity, 'guarded')) return true;
  if (wasHeldFor(identity, 'safetyValve')) return false;
  const valve = connection.policies.safetyValve;
  return !valve || holds.admitDeparture(connection.id, identity.id, valve, now());
}

/** The fields without those of a guarded traveler that an IdP must not change. */
function withGuardedFieldsKept(context: ReconcileContext, { draft, fields }: SendableFields): SendableFields {
  const { observed, applied } = draft;
  if (!observed || !isGuarded(observed, applied)) return { draft, fields };
  const all = [...Object.keys(applied), ...Object.keys(context.baseline ?? {}), ...Object.keys(fields)];
  const keys = ['email', ...new Set(all.filter((key) => key.startsWith('roles.')))];
  const kept: WantedFields = { ...fields };
  for (const key of keys) kept[key] = { kind: 'kept' };
  const isChange = keys.some((key) => isFieldChanging(context, key, { draft, fields }));
  const told = isChange ? withFinding(draft, findings.guarded()) : draft;
  const isLeaving = isArchiveWanted(fields) && !observed.archived;
  if (!isLeaving || isApproved(context.identity, 'guarded')) return { draft: told, fields: kept };
  return {
    draft: withHold(context, withFinding(told, findings.guardedLeaver()), 'guarded'),
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

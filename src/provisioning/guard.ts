import type { FieldKey } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { findings } from './findings.ts';
import {
  type Draft,
  endInFailure,
  endInState,
  type Fields,
  isApproved,
  isHeldBefore,
  type ReconcileResult,
  type Task,
  withFinding,
  withHold,
} from './reconcile-context.ts';

/** Roles that administer the travel service. */
const privilegedRoles = ['admin', 'authAdmin'];

/** True when the traveler administers the travel service, by whomever the role was given. */
export function isPrivileged({ roles = [] }: TravelUser): boolean {
  return roles.some((role) => privilegedRoles.includes(role));
}

/** True for the field of a role that administers the travel service. */
export function isPrivilegedRole(key: FieldKey): boolean {
  return privilegedRoles.some((role) => key === `roles.${role}`);
}

/** True when the traveler has an administrator's role that the mapping did not give: no IdP may capture or end it. */
export function isGuarded({ roles = [] }: TravelUser, applied: Draft['applied']): boolean {
  return roles.some((role) => privilegedRoles.includes(role) && !(`roles.${role}` in applied));
}

/** True when an admin lets a person have the traveler of an administrator, or of somebody who left. */
export function isTakeoverApproved(identity: Task['identity']): boolean {
  return isApproved(identity, 'guarded') || isApproved(identity, 'return');
}

/** Ends the reconciliation of the user whose credential the bridge uses, who is never written. */
export async function refuseOwnUser(task: Task, draft: Draft): Promise<ReconcileResult | undefined> {
  const self = await task.connection.lookups.readOwnUser();
  if (self.kind !== 'ok') return endInFailure(draft, self);
  if (self.value.id !== draft.travelId) return undefined;
  return endInState(withFinding(draft, findings.ownCredential()), 'refused');
}

/** What may be sent, after the gates, and the draft with what they found. */
export interface Gated {
  draft: Draft;
  fields: Fields;
}

/**
 * Takes away what must not be sent to the traveler as just read: email and roles of a guarded one, and an archive that an
 * admin must approve first.
 */
export async function passGates(task: Task, { draft, fields }: Gated): Promise<Gated> {
  const guarded = guard(task, { draft, fields });
  const { observed } = guarded.draft;
  const isLeaving = isArchiveWanted(guarded.fields) && observed?.archived === false;
  if (!isLeaving || (await mayLeave(task))) return guarded;
  return {
    draft: withHold(task, withFinding(guarded.draft, findings.heldBySafetyValve()), 'safetyValve'),
    fields: { ...guarded.fields, archived: { kind: 'kept' } },
  };
}

/**
 * Counts that the person leaves; false when too many leave at once. An admin who lets this very person leave, by whatever
 * name the wait had, has decided. Until then a person who is held stays held, though the window has slid on, unless the IdP
 * writes again.
 */
export async function mayLeave({ connection, identity, store, now }: Task): Promise<boolean> {
  if (isApproved(identity, 'safetyValve') || isApproved(identity, 'guarded')) return true;
  if (isHeldBefore(identity, 'safetyValve')) return false;
  const valve = connection.policies.safetyValve;
  return !valve || store.holds.admitDeparture(connection.id, identity.id, valve, now());
}

/** The fields without those of a guarded traveler that an IdP must not change. */
function guard(task: Task, { draft, fields }: Gated): Gated {
  const { observed, applied } = draft;
  if (!observed || !isGuarded(observed, applied)) return { draft, fields };
  const all = [...Object.keys(applied), ...Object.keys(task.baseline ?? {}), ...Object.keys(fields)];
  const keys = ['email', ...new Set(all.filter((key) => key.startsWith('roles.')))];
  const kept: Fields = { ...fields };
  for (const key of keys) kept[key] = { kind: 'kept' };
  const isChange = keys.some((key) => isChanging(task, key, { draft, fields }));
  const told = isChange ? withFinding(draft, findings.guarded()) : draft;
  const isLeaving = isArchiveWanted(fields) && !observed.archived;
  if (!isLeaving || isApproved(task.identity, 'guarded')) return { draft: told, fields: kept };
  return {
    draft: withHold(task, withFinding(told, findings.guardedLeaver()), 'guarded'),
    fields: { ...kept, archived: { kind: 'kept' } },
  };
}

function isArchiveWanted({ archived }: Fields): boolean {
  return archived?.kind === 'value' && archived.value === true;
}

function isChanging(
  { baseline }: Task,
  key: string,
  { draft: { observed, applied }, fields }: Gated,
): boolean {
  const field = fields[key];
  if (key === 'email') return field?.kind === 'value' && field.value !== observed?.email;
  const has = observed?.roles?.includes(key.slice('roles.'.length)) ?? false;
  if (field?.kind === 'value') return !has;
  const isTaken = key in applied || baseline?.[key]?.kind === 'value';
  return field?.kind !== 'kept' && isTaken && has;
}

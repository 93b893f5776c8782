import { isDeepStrictEqual } from 'node:util';
import { isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { isInactive } from '../../../model/identity.ts';
import type { AppliedFields, FieldKey, Finding, Plan } from '../../../model/translation.ts';
import { afterRead, withoutCall } from '../../../translator/plan/field-records.ts';
import { findDrift } from '../../../translator/plan/plan.ts';
import { endInState, type ReconcileContext, type ReconcileResult, type SendableFields } from '../context.ts';
import { differencesFromBackup } from '../restored/fields.ts';
import { lastingFindings, withWrittenFields } from './ownership.ts';

/** Ends the update when nothing is left to send: `synced`, `refused` if fields are refused, or `held`. */
export function endUpdate(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  next: Plan,
): ReconcileResult {
  const owned = withoutCall(draft.applied, next, draft.observed);
  const isOpen = draft.readAgainAt !== undefined;
  const { rules } = context.rulesSnapshot;
  const applied = draft.observed ? afterRead(owned, draft.observed, { rules, isOpen }) : owned;
  const refused = Object.fromEntries(
    Object.entries(draft.refused).filter(
      ([key, { basis }]) =>
        basis === context.rulesSnapshot.version && isRefusalCurrent(context, { draft, fields }, key),
    ),
  );
  const allFindings = [
    ...draft.findings,
    ...Object.entries(refused).map(([key, { value, reason }]) => findings.refused(key, value, reason)),
    ...(draft.observed
      ? findDrift(applied, draft.observed).filter((one) => !isParkingDrift(context, one, applied))
      : []),
    ...differencesFromBackup(context, { ...draft, applied }),
    ...lastingFindings(context, { draft, fields }),
  ];
  // A refused `archived` is not recorded, so that a repeated deactivation sends it again.
  const { archived: _, ...remembered } = refused;
  const done = withWrittenFields(context, {
    ...draft,
    ...{ applied, refused: remembered, findings: allFindings },
  });
  if (done.hold) return endInState(done, 'held');
  return endInState(done, Object.keys(refused).length > 0 ? 'refused' : 'synced');
}

/** True if an email only seems to have drifted because the observed or sent one is a parking address. */
function isParkingDrift(
  { connection }: ReconcileContext,
  { field, value }: Finding,
  { email }: AppliedFields,
): boolean {
  const emails = [value, email?.seen];
  return field === 'email' && emails.some((one) => isParkingAddress(connection, String(one)));
}

/** True if the refused value, or the refused removal, is still wanted. */
function isRefusalCurrent(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  key: FieldKey,
): boolean {
  const refused = draft.refused[key]?.value;
  // No other parking address is tried under these rules, as long as somebody may need the present address.
  if (key === 'email' && isParkingAddress(context.connection, String(refused)))
    return draft.waitingFor !== undefined || isInactive(context.identity);
  const field = fields[key];
  const record = draft.applied[key];
  // A removal, or a value from before the bridge owned the field.
  if (field?.kind !== 'value')
    return record !== undefined && (refused === null || isDeepStrictEqual(refused, record.before));
  return isDeepStrictEqual(field.value, refused);
}

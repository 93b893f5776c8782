import { isDeepStrictEqual } from 'node:util';
import type { FieldKey, Finding } from '../../../translator/translation.ts';
import { hasValue, readField } from '../../../translator/traveler.ts';
import { findings } from '../../findings.ts';
import { isInactive } from '../../identity.ts';
import { type OutcomeDraft, type ReconcileContext, type WantedFields, withProgress } from '../context.ts';
import { isParkingAddress } from '../email/addresses.ts';
import { ALL_FIELDS, isConfirmed, isFromBackup } from './statements.ts';

/** Returns a finding for each field that the traveler has another value of than the backup, and that nobody has stated since. */
export function differencesFromBackup(
  { connection, identity, translation, baseline = {} }: ReconcileContext,
  { applied, observed, progress }: OutcomeDraft,
): Finding[] {
  if (!observed || !isFromBackup(identity)) return [];
  const isParked = isInactive(identity) && isParkingAddress(connection, observed.email);
  return Object.entries(baseline).flatMap(([key, field]) => {
    const wanted = translation.fields[key];
    const isKept = field.kind === 'value' && isDeepStrictEqual(field, wanted);
    const isSent = applied[key] !== undefined && !applied[key].unsure;
    const isKnown = isSent || isConfirmed({ progress }, key) || (key === 'email' && isParked);
    const isHold = key === 'archived' && isInactive(identity);
    if (!isKept || isKnown || isHold) return [];
    return [findings.restored(key, field.value, readField(observed, key) ?? null)];
  });
}

/** Returns the fields of a restored person without those that the traveler has already: the bridge owns them from then on. */
export function keepsFromBackup(
  { identity, rulesSnapshot: { rules } }: ReconcileContext,
  { observed }: OutcomeDraft,
  [key, field]: [FieldKey, WantedFields[FieldKey] | undefined],
): boolean {
  if (!isFromBackup(identity) || !observed || field?.kind !== 'value') return true;
  // The guards hold the departure of a person whom nobody has stated to be inactive since the backup.
  if (key === 'archived' && field.value === true) return false;
  return !hasValue(observed, { key, wanted: field.value, rules });
}

/** Notes that the traveler of a restored person agrees with the stored user: the backup tells nothing any more. */
export function withBackupConfirmed(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const isOpen = draft.hold !== undefined || differencesFromBackup(context, draft).length > 0;
  if (!isFromBackup(context.identity) || isOpen) return draft;
  return withProgress(draft, { written: [ALL_FIELDS] });
}

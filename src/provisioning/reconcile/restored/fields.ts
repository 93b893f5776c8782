import { isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { ALL_FIELDS, isConfirmed, isInactive } from '../../../model/identity.ts';
import type { FieldKey, Finding } from '../../../model/translation.ts';
import { isStated } from '../../../schema/stated-attributes.ts';
import { hasValue, readField } from '../../../translator/plan/traveler.ts';
import { isEqualJson } from '../../../translator/values/values.ts';
import {
  isSameWanted,
  type OutcomeDraft,
  type ReconcileContext,
  type WantedFields,
  withProgress,
} from '../context.ts';
import { isFromBackup } from './statements.ts';

/** Returns a finding for each field that the traveler has another value of than the backup, and that nobody has stated since. */
export function differencesFromBackup(context: ReconcileContext, draft: OutcomeDraft): Finding[] {
  const { connection, identity, translation, baseline = {} } = context;
  const { applied, observed } = draft;
  if (!observed || !isFromBackup(identity)) return [];
  const isParked = isInactive(identity) && isParkingAddress(connection, observed.email);
  return [...new Set([...Object.keys(baseline), ...Object.keys(applied)])].flatMap((key) => {
    const wanted = translation.fields[key];
    const isSame = isSameWanted(baseline[key], wanted);
    const stored = wanted?.kind === 'value' ? wanted.value : null;
    const record = applied[key];
    const isSent = record?.seen !== undefined && isEqualJson(record.sent, stored);
    const isKnown = isSent || isConfirmed(draft, key) || (key === 'email' && isParked);
    if (!isSame || isKnown || !keepsFromBackup(context, draft, [key, wanted])) return [];
    const shown = readField(observed, key) ?? null;
    // A value that the backup has not, and that was never sent, belongs to the travel service.
    const isOwned = record !== undefined && shown !== null;
    return stored === null && !isOwned ? [] : [findings.restored(key, stored, shown)];
  });
}

/**
 * True for a field of a restored person that is not sent. One that the traveler has already is owned from then on, and one that was sent
 * before the backup is removed once the IdP has stated the whole user without it.
 */
export function keepsFromBackup(
  { identity, rulesSnapshot: { rules } }: ReconcileContext,
  { observed }: Pick<OutcomeDraft, 'observed'>,
  [key, field]: [FieldKey, WantedFields[FieldKey] | undefined],
): boolean {
  if (!isFromBackup(identity) || !observed) return true;
  if (field === undefined || field.kind === 'absent') return !isStated(identity.origin.stated ?? [], []);
  if (field.kind !== 'value') return true;
  // The guards hold the departure of a person whom nobody has stated to be inactive since the backup.
  if (key === 'archived' && field.value === true) return false;
  return !hasValue(observed, { key, wanted: field.value, rules });
}

/**
 * Notes that the traveler of a restored person agrees with the stored user: the backup tells nothing any more. The records of values that the
 * traveler has no longer, and that the rules do not give, end with it: otherwise they would be sent or removed from now on.
 */
export function withBackupConfirmed(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, hold } = draft;
  const isOpen = hold !== undefined || differencesFromBackup(context, draft).length > 0;
  if (!isFromBackup(context.identity) || isOpen) return draft;
  const isCurrent = (key: FieldKey) =>
    context.translation.fields[key]?.kind === 'value' || !observed || readField(observed, key) !== undefined;
  const applied = Object.fromEntries(
    Object.entries(draft.applied).filter(([key, { seen }]) => seen !== undefined || isCurrent(key)),
  );
  return withProgress({ ...draft, applied }, { written: [ALL_FIELDS] });
}

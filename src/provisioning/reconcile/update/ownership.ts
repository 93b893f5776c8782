import { isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { ALL_FIELDS, isConfirmed } from '../../../model/identity.ts';
import type { FieldKey, Finding, Plan, Translation } from '../../../model/translation.ts';
import type { TravelFailure } from '../../../model/travel-ports.ts';
import {
  type CustomFieldValue,
  isAdministratorRole,
  type TravelerChange,
  type TravelUser,
} from '../../../model/traveler.ts';
import { doubted } from '../../../translator/plan/field-records.ts';
import {
  findDrift,
  findUnsendableValues,
  isKeptRole,
  type RefusedChange,
  type Unsendable,
} from '../../../translator/plan/plan.ts';
import { readField } from '../../../translator/plan/traveler.ts';
import { isEqualJson } from '../../../translator/values/values.ts';
import {
  isSameWanted,
  type OutcomeDraft,
  type ReconcileContext,
  type SendableFields,
  unlessEmpty,
  type WantedFields,
  withFinding,
  withProgress,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { keepsFromBackup, withBackupConfirmed } from '../restored/fields.ts';
import { isFromBackup } from '../restored/statements.ts';

/**
 * Limits the wanted fields of an imported user whose first write was a PATCH: the bridge sets only fields that the IdP
 * has changed since the import. A field whose value is the same as at the import is kept; a field that no longer has a
 * value is removed.
 */
export function withoutUnownedFields(context: ReconcileContext, draft: OutcomeDraft): SendableFields {
  const { translation, baseline } = context;
  if (!baseline) return { draft, fields: translation.fields };
  const fields: WantedFields = { ...translation.fields };
  const applied = { ...draft.applied };
  for (const key of new Set([...Object.keys(fields), ...Object.keys(baseline), ...Object.keys(applied)])) {
    if (isSent(context, draft, key) || isConfirmed(draft, key)) continue;
    const [before, now] = [baseline[key], fields[key]];
    if (isSameWanted(before, now)) {
      if (keepsFromBackup(context, draft, [key, now])) fields[key] = { kind: 'kept' };
    }
    // An imported administrator got the role in the travel service and not from the mapping, so the IdP must not remove
    // it.
    else if (
      before?.kind === 'value' &&
      now?.kind !== 'value' &&
      key !== 'email' &&
      !isAdministratorRole(key)
    )
      applied[key] = { sent: before.value, seen: before.value, source: before.source };
  }
  return { draft: { ...draft, applied }, fields };
}

/**
 * Keeps the address of a traveler whom an IdP has adopted by a userName without sending an address: the travel service knows
 * where the person reads mail, and a userName may be spelled another way, or be none of their addresses. Its record counts as sent from the
 * userName, so that the address changes once the IdP states one, or changes the userName.
 */
export function withAdoptedAddress(
  { connection, translation, baseline }: ReconcileContext,
  { draft, fields }: SendableFields,
): SendableFields {
  const { applied, observed } = draft;
  const { email: wanted } = fields;
  if (wanted?.kind !== 'value' || !isEmailFromUserName(translation)) return { draft, fields };
  const { email: record, ...others } = applied;
  // The bridge owns the address of every traveler that it has created.
  const isAdoption = record === undefined && (!baseline || Object.keys(others).length === 0);
  const isKept = isAdoption || (record !== undefined && isEqualJson(record.source, wanted.source));
  const value = isKept ? (record?.sent ?? observed?.email) : undefined;
  if (value === undefined || isParkingAddress(connection, String(value))) return { draft, fields };
  return { draft, fields: { ...fields, email: { ...wanted, value } } };
}

/** True if the address comes from the userName, for want of another one. A rule of the mapping that names the userName states it. */
function isEmailFromUserName({ trace }: Translation): boolean {
  return trace.some(
    ({ field, origin, rule, outcome }) =>
      field === 'email' && origin === 'default' && rule === 'userName' && outcome === 'set',
  );
}

/** After the last call of a reconciliation, records which fields the IdP has changed since the import. */
export function withWrittenFields(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const {
    translation: { fields },
    baseline,
  } = context;
  if (!baseline || draft.progress.written?.includes(ALL_FIELDS)) return draft;
  const keys = new Set([...Object.keys(fields), ...Object.keys(baseline), ...Object.keys(draft.applied)]);
  const isWritten = (key: FieldKey) =>
    isSent(context, draft, key) || !isSameWanted(baseline[key], fields[key]);
  const written = new Set([...(draft.progress.written ?? []), ...[...keys].filter(isWritten)]);
  return withBackupConfirmed(context, withProgress(draft, { written: [...written] }));
}

/** True for a field that was sent, unless that is known from a restored backup only. */
function isSent({ identity }: ReconcileContext, { applied }: OutcomeDraft, key: FieldKey): boolean {
  const [stored, record] = [identity.applied[key], applied[key]];
  if (!record) return false;
  const isAsStored = stored !== undefined && isEqualJson(stored.sent, record.sent);
  return !(isFromBackup(identity) && isAsStored && stored.seen === undefined);
}

/**
 * Finds the custom field values that the travel API refuses because their field or option is disabled. A change of one
 * custom field repeats all others, because the list is replaced whole; the next change omits the refused values, so the
 * traveler loses them. Returns these values and the failure without them; undefined if there
 * are none.
 */
export function* findLostValues(
  context: ReconcileContext,
  failure: TravelFailure,
  sent: { plan: Plan; change: TravelerChange; current: TravelUser | undefined },
): Program<{ lost: CustomFieldValue[]; failure: TravelFailure | undefined }> {
  const { plan, change, current } = sent;
  if (failure.kind !== 'invalid' || change.customFields === undefined) return { lost: [], failure };
  const refused = {
    names: failure.fields.map(({ field }) => field),
    change,
    planned: [...Object.keys(plan.set), ...plan.remove],
    current,
  };
  const known = findUnsendableValues({
    ...refused,
    customFields: context.rulesSnapshot.lookups.customFields,
  });
  const { values, names } = known.isDoubtful ? yield* unsendableByFreshLookups(refused, known) : known;
  if (values.length === 0) return { lost: [], failure };
  const fields = failure.fields.filter(({ field }) => names.includes(field));
  return { lost: values, failure: fields.length > 0 ? { ...failure, fields } : undefined };
}

/**
 * Reads the custom fields again, because one may just have been disabled, and returns the values that cannot be sent.
 */
function* unsendableByFreshLookups(
  refused: Omit<RefusedChange, 'customFields'>,
  known: Unsendable,
): Program<Unsendable> {
  const fresh = yield* perform('refreshLookups');
  return fresh.kind === 'ok'
    ? findUnsendableValues({ ...refused, customFields: fresh.value.customFields })
    : known;
}

/**
 * Records the values that an accepted PATCH omitted: adds a finding for each, and removes them from the applied and
 * wanted fields. The next translation may want them again.
 */
export function withLostValues(
  { draft, fields }: SendableFields,
  lost: readonly CustomFieldValue[],
): SendableFields {
  if (lost.length === 0) return { draft, fields };
  const keys = lost.map(({ customFieldId }) => `customFields.${customFieldId}`);
  const applied = omitKeys(draft.applied, keys);
  return {
    draft: lost.map(findings.customFieldLost).reduce(withFinding, { ...draft, applied }),
    fields: omitKeys(fields, keys),
  };
}

function omitKeys<T>(all: Record<string, T>, keys: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key)));
}

/** Adds a finding for each role that the IdP takes away and that stays, because the traveler had it before. */
export function withKeptRolesReported({ draft, fields }: SendableFields): SendableFields {
  const { applied, observed } = draft;
  const kept = Object.keys(applied).filter(
    (key) =>
      isKeptRole(key, applied) &&
      fields[key] === undefined &&
      observed !== undefined &&
      readField(observed, key) !== undefined,
  );
  return { draft: kept.map(findings.rolePreexisting).reduce(withFinding, draft), fields };
}

/**
 * Returns the earlier findings that no value shows again: about a value that a PATCH lost, until the traveler has one in that field, and about a
 * role that stayed, until it is gone or the IdP grants it again.
 */
export function lastingFindings(
  { identity }: ReconcileContext,
  { draft, fields }: SendableFields,
): Finding[] {
  const { observed, findings: current } = draft;
  if (!observed) return [];
  return identity.findings.filter(({ code, field }) => {
    const isThere = readField(observed, field) !== undefined;
    const isKept = code === 'rolePreexisting' && isThere && fields[field] === undefined;
    const isLost = code === 'customFieldLost' && !isThere;
    return (isKept || isLost) && !current.some((one) => one.code === code && one.field === field);
  });
}

/** The number of corrections of one field within an hour. */
const MAX_CORRECTIONS = 3;

const HOUR_MS = 3_600_000;

/**
 * Marks the fields that have drifted as unknown, so that they are sent again, if the connection corrects drift, and counts them. A field that
 * was corrected three times within the last hour stays as it is.
 */
export function withDriftDoubted(
  { connection, time: { now } }: ReconcileContext,
  draft: OutcomeDraft,
): OutcomeDraft {
  const { observed, applied, progress } = draft;
  if (connection.policies.drift !== 'correct' || !observed) return draft;
  const corrections = recentCorrections(progress.corrections ?? {}, now);
  const keys = findDrift(applied, observed)
    .map(({ field }) => field)
    .filter((key) => (corrections[key] ?? []).length < MAX_CORRECTIONS);
  for (const key of keys) corrections[key] = [...(corrections[key] ?? []), now];
  const counted = withProgress(draft, { corrections: unlessEmpty(corrections) });
  return keys.length === 0 ? counted : { ...counted, applied: doubted(applied, keys) };
}

function recentCorrections(all: Record<string, number[]>, now: number): Record<string, number[]> {
  const recent = Object.entries(all).map(
    ([field, times]) => [field, times.filter((time) => time > now - HOUR_MS && time <= now)] as const,
  );
  return Object.fromEntries(recent.filter(([, times]) => times.length > 0));
}

import type { Json, JsonObject } from '../schema/resource.ts';
import {
  findDrift,
  findUnsendableValues,
  type Plan,
  type RefusedPatch,
  type Unsendable,
} from '../translator/plan.ts';
import type { AppliedFields, FieldKey, Finding, WantedField } from '../translator/translation.ts';
import { type CustomFieldValue, ownableKeys, readField, type TravelUser } from '../translator/traveler.ts';
import { isEqualJson } from '../translator/values.ts';
import type { WithAddress } from './email-conflicts.ts';
import { findings } from './findings.ts';
import { isAdministratorRole } from './guard.ts';
import type { Identity } from './identity.ts';
import {
  isApproved,
  type OutcomeDraft,
  type ReconcileContext,
  type WantedFields,
  withFinding,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';

/**
 * What is wanted of a person who was imported and then changed by a PATCH. Only what the IdP has written since is the IdP's:
 * a field that the rules still make the same of as at the import is left alone, and one that they make nothing of any more is
 * removed, as if it had been sent.
 */
export function withoutUnownedFields(
  { translation, baseline }: ReconcileContext,
  draft: OutcomeDraft,
): WithAddress {
  if (!baseline) return { draft, fields: translation.fields };
  const fields: WantedFields = { ...translation.fields };
  const applied = { ...draft.applied };
  for (const key of new Set([...Object.keys(fields), ...Object.keys(baseline)])) {
    if (key in applied || draft.progress.written?.includes(key)) continue;
    const [before, now] = [baseline[key], fields[key]];
    if (isSame(before, now)) fields[key] = { kind: 'kept' };
    // The mapping did not give an imported administrator the role, so it is not the IdP's to take away.
    else if (
      before?.kind === 'value' &&
      now?.kind !== 'value' &&
      key !== 'email' &&
      !isAdministratorRole(key)
    )
      applied[key] = { sent: before.value, answered: before.value, source: before.source };
  }
  return { draft: { ...draft, applied }, fields };
}

/** The draft that remembers, once nothing is left to send, which fields the IdP has written since the import. */
export function withWrittenFields(
  { translation: { fields }, baseline }: ReconcileContext,
  draft: OutcomeDraft,
): OutcomeDraft {
  if (!baseline) return draft;
  const keys = new Set([...Object.keys(fields), ...Object.keys(baseline), ...Object.keys(draft.applied)]);
  const isWritten = (key: FieldKey) => key in draft.applied || !isSame(baseline[key], fields[key]);
  const written = new Set([...(draft.progress.written ?? []), ...[...keys].filter(isWritten)]);
  return { ...draft, progress: { ...draft.progress, written: [...written] } };
}

function isSame(one: WantedField | undefined, other: WantedField | undefined): boolean {
  return (one?.kind ?? 'absent') === (other?.kind ?? 'absent') && isEqualJson(compared(one), compared(other));
}

function compared(wanted: WantedField | undefined): Json {
  if (wanted?.kind === 'value') return [wanted.value, wanted.source];
  return wanted?.kind === 'unresolved' ? wanted.source : null;
}

/** True while somebody waits for an admin before the traveler of a leaver becomes theirs. */
export function isReturnHeld(identity: Identity): boolean {
  const { returnAt = 0 } = identity.origin;
  return returnAt > (identity.progress.resetDone ?? 0) && !isApproved(identity, 'return');
}

/** True while a traveler must still be cleared of what it was for somebody else. */
export function isResetPending(
  { origin }: Pick<Identity, 'origin'>,
  { progress }: Pick<OutcomeDraft, 'progress'>,
): boolean {
  return progress.reset === true || lastResetVersion(origin) > (progress.resetDone ?? 0);
}

/** The draft once the traveler has nothing left of somebody else. */
export function withResetDone({ origin }: Pick<Identity, 'origin'>, draft: OutcomeDraft): OutcomeDraft {
  if (!isResetPending({ origin }, draft)) return draft;
  const { reset: _, ...progress } = draft.progress;
  return { ...draft, progress: { ...progress, resetDone: lastResetVersion(origin) } };
}

/** Everything that a traveler has, as if it had been sent: what is not wanted is then removed, by whomever it was made. */
export function appliedForReset({ applied, observed }: OutcomeDraft): AppliedFields {
  if (!observed) return applied;
  const { email, archived } = applied;
  const reset: AppliedFields = { ...(email ? { email } : {}), ...(archived ? { archived } : {}) };
  for (const key of ownableKeys(observed)) {
    const value = readField(observed, key) ?? null;
    reset[key] = { sent: value, answered: value, source: null, unsure: true };
  }
  return reset;
}

function lastResetVersion({ resetAt = 0, returnAt = 0 }: Identity['origin']): number {
  return Math.max(resetAt, returnAt);
}

/**
 * The travel API refuses to take back values of disabled custom fields, which a merge patch of `customFields` carries
 * along. They are left out of the next request, and lost, as merge patch replaces the array as a whole (RFC 7396).
 * Answers these values, and the failure without what named them; undefined when nothing else was refused.
 */
export async function findLostValues(
  context: ReconcileContext,
  failure: TravelFailure,
  sent: { plan: Plan; body: JsonObject; current: TravelUser | undefined },
): Promise<{ lost: CustomFieldValue[]; failure: TravelFailure | undefined }> {
  const { plan, body, current } = sent;
  if (failure.kind !== 'invalid' || body.customFields === undefined) return { lost: [], failure };
  const refused = {
    names: failure.fields.map(({ field }) => field),
    body,
    planned: [...Object.keys(plan.set), ...plan.remove],
    current,
  };
  const known = findUnsendableValues({
    ...refused,
    customFields: context.rulesSnapshot.lookups.customFields,
  });
  const { values, names } = known.isDoubtful
    ? await unsendableByFreshLookups(context, refused, known)
    : known;
  if (values.length === 0) return { lost: [], failure };
  const fields = failure.fields.filter(({ field }) => names.includes(field));
  return { lost: values, failure: fields.length > 0 ? { ...failure, fields } : undefined };
}

/** Judges by custom fields that were read after the refusal: one may have been disabled a moment ago. */
async function unsendableByFreshLookups(
  { connection: { lookups } }: ReconcileContext,
  refused: Omit<RefusedPatch, 'customFields'>,
  known: Unsendable,
): Promise<Unsendable> {
  lookups.expire();
  const fresh = await lookups.refresh();
  return fresh.kind === 'ok'
    ? findUnsendableValues({ ...refused, customFields: fresh.value.customFields })
    : known;
}

/**
 * After a patch without these values was taken: none of them is applied any more, each is a finding, and none is wanted
 * until it is translated anew, with the custom fields as they are now.
 */
export function withLostValues(
  { draft, fields }: WithAddress,
  lost: readonly CustomFieldValue[],
): WithAddress {
  if (lost.length === 0) return { draft, fields };
  const keys = lost.map(({ customFieldId }) => `customFields.${customFieldId}`);
  const applied = without(draft.applied, keys);
  return {
    draft: lost.map(findings.customFieldLost).reduce(withFinding, { ...draft, applied }),
    fields: without(fields, keys),
  };
}

function without<T>(all: Record<string, T>, keys: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key)));
}

/** Earlier findings of lost values, which stay until the traveler has a value in that field again. */
export function earlierLostValueFindings({ identity }: ReconcileContext, draft: OutcomeDraft): Finding[] {
  return identity.findings.filter(({ code, field }) => {
    const hasValue = draft.observed?.customFields?.some(
      (one) => `customFields.${one.customFieldId}` === field,
    );
    const isTold = draft.findings.some((finding) => finding.code === code && finding.field === field);
    return code === 'customFieldLost' && !hasValue && !isTold;
  });
}

/** How often drift of one field is corrected within an hour. */
const CORRECTIONS = 3;

const HOUR_MS = 3_600_000;

/**
 * The draft in which fields that drifted are sent again, where the connection corrects drift; a field that comes back again
 * and again is left as it is for the rest of the hour.
 */
export function withDriftMarked(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  if (context.connection.policies.drift !== 'correct' || !draft.observed) return draft;
  const now = context.now();
  const corrections = recentCorrections(draft.progress.corrections ?? {}, now);
  const applied: AppliedFields = { ...draft.applied };
  for (const { field } of findDrift(draft.applied, draft.observed)) {
    const entry = applied[field];
    const times = corrections[field] ?? [];
    if (!entry || times.length >= CORRECTIONS) continue;
    applied[field] = { ...entry, unsure: true };
    corrections[field] = [...times, now];
  }
  const { corrections: _, ...progress } = draft.progress;
  const isAny = Object.keys(corrections).length > 0;
  return { ...draft, applied, progress: isAny ? { ...progress, corrections } : progress };
}

function recentCorrections(all: Record<string, number[]>, now: number): Record<string, number[]> {
  const recent = Object.entries(all).map(
    ([field, times]) => [field, times.filter((time) => time > now - HOUR_MS && time <= now)] as const,
  );
  return Object.fromEntries(recent.filter(([, times]) => times.length > 0));
}

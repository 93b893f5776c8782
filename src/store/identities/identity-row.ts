import { type HoldCause, type Identity, nextCheckAt, type Outcome } from '../../model/identity.ts';
import type { AppliedField, AppliedFields, FieldKey, Finding } from '../../model/translation.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { extensionsOf, isActive, type Json, type ScimResource } from '../../schema/resource.ts';
import { nextPosition } from '../sql/positions.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import { attributeKey, caseFoldedKey, emailKeys, exactKey } from '../sql/search-keys.ts';
import type { IdentityTable } from '../sql/tables.ts';

/** Converts a database row to an identity. */
export function toIdentity(row: IdentityTable): Identity {
  return {
    connection: row.connection_id,
    id: row.id,
    desired: parseJson(row.desired),
    claimed: row.claimed === 1,
    state: row.state as Identity['state'], // The column contains only states of identities.
    version: row.version,
    revision: row.revision,
    rulesGeneration: row.rules_generation,
    travelId: row.travel_id ?? undefined,
    applied: parseApplied(row.applied),
    refused: parseJson(row.refused),
    observed: row.observed === null ? undefined : parseJson(row.observed),
    creating: row.creating === null ? undefined : parseJson(row.creating),
    readAgainAt: row.read_again_at ?? undefined,
    waitingFor: row.waiting_for ?? undefined,
    progress: parseJson(row.progress),
    origin: parseJson(row.origin),
    hold: toHold(row),
    decision: row.decision === '' ? undefined : parseJson(row.decision),
    findings: parseJson(row.findings),
    trace: parseJson(row.trace),
    leasedUntil: row.lease_until ?? undefined,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at === 0 ? undefined : row.next_attempt_at,
    createdAt: row.created_at,
    lastModified: row.last_modified,
    deletedAt: row.deleted_at ?? undefined,
  };
}

function toHold({ hold_cause, hold_since }: IdentityTable): Identity['hold'] {
  if (hold_cause === null) return undefined;
  return { cause: hold_cause as HoldCause, since: hold_since ?? 0 }; // The column contains only hold causes.
}

/** A record in the column `applied`: most values are the same in all three places, and are stored once. */
type StoredAppliedField =
  | [sent: Json, source?: Json, seen?: Json]
  | { sent: Json; source: Json; seen?: Json; before?: Json; resendAt?: number };

/** Returns the content of the column `applied`. Equal records have equal texts. */
export function toAppliedJson(applied: AppliedFields): string {
  return toJson(Object.fromEntries(Object.entries(applied).map(([key, field]) => [key, toStored(field)])));
}

function toStored(field: AppliedField): StoredAppliedField {
  const { sent, source, seen, before, resendAt } = field;
  if (seen === undefined || before !== undefined || resendAt !== undefined) return field;
  if (!hasSameText(seen, sent)) return [sent, source, seen];
  return hasSameText(source, sent) ? [sent] : [sent, source];
}

function hasSameText(one: Json, other: Json): boolean {
  return one === other || (typeof one === 'object' && toJson(one) === toJson(other));
}

/** Reads the content of the column `applied`. */
export function parseApplied(text: string): AppliedFields {
  const stored = parseJson<Record<FieldKey, StoredAppliedField>>(text);
  return Object.fromEntries(Object.entries(stored).map(([key, field]) => [key, fromStored(field)]));
}

function fromStored(field: StoredAppliedField): AppliedField {
  if (!Array.isArray(field)) return field;
  const [sent, source = sent, seen = sent] = field;
  return { sent, source, seen };
}

/** Returns the row of a new identity without a lease. Assigns its position in lists. */
export function toRow(identity: Identity, account: string, seenAt = writeTime(identity)): IdentityTable {
  const incomplete = isIncomplete(identity.desired) ? 1 : 0;
  return {
    ...writtenColumns(identity),
    ...outcomeColumns(identity),
    account,
    connection_id: identity.connection,
    id: identity.id,
    incomplete,
    position: nextPosition({ incomplete }),
    revision: identity.revision,
    lease_token: null,
    lease_until: null,
    created_at: identity.createdAt,
    seen_at: seenAt,
    decision: identity.decision ? toJson(identity.decision) : '',
    decided_at: null,
  };
}

/**
 * The time of a write; 0 for one that does not make the traveler newer. An identity that was written since an import began counts as seen: its
 * traveler may be newer than the page that would contain it, and must not count as deleted.
 */
function writeTime({ writtenAt = 0 }: Identity): number {
  return writtenAt;
}

/**
 * Returns the columns that a write of the IdP changes. All other columns belong to the reconciler, which may be running
 * at the same time.
 */
export function writtenColumns(identity: Identity) {
  return {
    ...desiredColumns(identity.desired),
    claimed: identity.claimed ? 1 : 0,
    state: identity.state,
    version: identity.version,
    attempts: identity.attempts,
    next_attempt_at: identity.nextAttemptAt ?? 0,
    last_modified: identity.lastModified,
    deleted_at: identity.deletedAt ?? null,
    origin: toJson(identity.origin),
  } satisfies Partial<IdentityTable>;
}

/** The names of the columns that a write of the IdP changes. */
export const writtenNames = [
  ...(['desired', 'extensions', 'user_name_key', 'external_id', 'display_name_key', 'active'] as const),
  ...(['claimed', 'state', 'version', 'attempts', 'next_attempt_at'] as const),
  ...(['last_modified', 'deleted_at', 'origin'] as const),
] satisfies (keyof ReturnType<typeof writtenColumns>)[];

/** Returns the columns of a desired state, except for email keys. */
export function desiredColumns(
  desired: ScimResource,
): Pick<
  IdentityTable,
  'desired' | 'extensions' | 'user_name_key' | 'external_id' | 'display_name_key' | 'active'
> {
  return {
    desired: toJson(desired),
    extensions: toJson(extensionsOf(desired)),
    user_name_key: attributeKey(desired.userName, caseFoldedKey),
    external_id: attributeKey(desired.externalId, exactKey),
    display_name_key: attributeKey(desired.displayName, caseFoldedKey),
    active: isActive(desired) ? 1 : 0,
  };
}

/** Returns the columns that an outcome changes. */
export function outcomeColumns(outcome: Outcome) {
  const { observed, travel_email_key } = observedColumns(outcome.observed);
  const { creating, creating_key } = creatingColumns(outcome.creating);
  return {
    observed,
    travel_email_key,
    creating,
    creating_key,
    travel_id: outcome.travelId ?? null,
    ...recordColumns(outcome),
    refused: toJson(outcome.refused),
    // `waitingFor` is already a search key. Do not fold it again, because that could change it.
    waiting_for: outcome.waitingFor ?? null,
    progress: toJson(outcome.progress),
    hold_cause: outcome.hold?.cause ?? null,
    hold_since: outcome.hold?.since ?? null,
    ...findingsColumns(outcome.findings),
    trace: toJson(outcome.trace),
    rules_generation: outcome.rulesGeneration,
    state: outcome.state,
    attempts: outcome.attempts,
    next_attempt_at: outcome.nextAttemptAt ?? 0,
  } satisfies Partial<IdentityTable>;
}

/** The largest JSON of the findings about one user, in bytes: a page of the list of people has a thousand of them. */
const MAX_FINDINGS_BYTES = 16_384;

/** Returns the columns of the findings about a user. Findings that do not fit into the limit are left out, the last ones first. */
export function findingsColumns(findings: Finding[]): Pick<IdentityTable, 'findings' | 'finding_codes'> {
  if (findings.length === 0) return { findings: '[]', finding_codes: '' };
  const whole = toJson(findings);
  const isSmall = Buffer.byteLength(whole) <= MAX_FINDINGS_BYTES;
  const kept = isSmall ? findings : fittingFindings(findings);
  const codes = new Set(kept.map(({ code }) => code));
  return { findings: isSmall ? whole : toJson(kept), finding_codes: [...codes].sort().join(' ') };
}

/** The longest text of a finding when all of them are too large, in characters. */
const MAX_FINDING_TEXT = 500;

function fittingFindings(findings: Finding[]): Finding[] {
  const kept: Finding[] = [];
  // The brackets of the list.
  let left = MAX_FINDINGS_BYTES - 2;
  for (const finding of findings.map(shortenFinding)) {
    const bytes = Buffer.byteLength(toJson(finding)) + 1;
    if (bytes > left) continue;
    left -= bytes;
    kept.push(finding);
  }
  return kept;
}

function shortenFinding({ field, value, reason, ...others }: Finding): Finding {
  const text = typeof value === 'string' ? value : value === undefined ? '' : toJson(value);
  const isShort = text.length <= MAX_FINDING_TEXT;
  return {
    ...others,
    ...{ field: field.slice(0, MAX_FINDING_TEXT), reason: reason.slice(0, MAX_FINDING_TEXT) },
    ...(value === undefined ? {} : { value: isShort ? value : text.slice(0, MAX_FINDING_TEXT) }),
  };
}

/** Returns the columns of what is known of a traveler's fields. `check_at` is the time of the next read of the traveler, 0 for none. */
export function recordColumns(
  records: Pick<Identity, 'applied' | 'readAgainAt'>,
): Pick<IdentityTable, 'applied' | 'read_again_at' | 'check_at'> {
  const { applied, readAgainAt } = records;
  return {
    applied: toAppliedJson(applied),
    read_again_at: readAgainAt ?? null,
    check_at: nextCheckAt(records) ?? 0,
  };
}

/** Returns the columns that are committed before a call. The time of the next read is that of its outcome. */
export function callColumns({
  applied,
  readAgainAt,
  progress,
}: Pick<Identity, 'applied' | 'readAgainAt' | 'progress'>): Pick<
  IdentityTable,
  'applied' | 'read_again_at' | 'progress'
> {
  return { applied: toAppliedJson(applied), read_again_at: readAgainAt ?? null, progress: toJson(progress) };
}

/**
 * Returns the columns of an observed traveler. Undefined means that its state is not known, so that the next attempt
 * reads the traveler.
 */
export function observedColumns(
  observed: TravelUser | undefined,
): Pick<IdentityTable, 'observed' | 'travel_email_key'> {
  if (!observed) return { observed: null, travel_email_key: null };
  return { observed: toJson(observed), travel_email_key: caseFoldedKey(observed.email) };
}

/** Returns the columns of a create, which reserves its email address. */
export function creatingColumns(
  creating: Identity['creating'],
): Pick<IdentityTable, 'creating' | 'creating_key'> {
  if (creating === undefined) return { creating: null, creating_key: null };
  return { creating: toJson(creating), creating_key: caseFoldedKey(creating.email) };
}

/**
 * Returns true for a user without a full name or an email address. Such users are last in lists, so that the first page
 * shows complete users (docs/architecture.md, SCIM requests).
 */
function isIncomplete(desired: ScimResource): boolean {
  const { name } = desired;
  if (typeof name !== 'object' || name === null || Array.isArray(name)) return true;
  return !name.givenName || !name.familyName || emailKeys(desired).every((email) => email === '');
}

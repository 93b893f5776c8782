import { type Identity, isInactive, isLive, isSamePerson, userNameOf } from '../../../model/identity.ts';
import type { IdentityMatch, ReferenceRow } from '../../../model/store-ports.ts';
import type { AppliedFields, Reference } from '../../../model/translation.ts';
import type { Mapping } from '../../../translator/mapping/mapping-file.ts';
import { findManagerReferences } from '../../../translator/rules/compiled-fields.ts';
import type { Rules } from '../../../translator/rules/rules.ts';
import { toText, toVerbatimText } from '../../../translator/values/values.ts';
import { departureOf } from '../../people/takeover.ts';
import { haveSameExternalId, personalValuesOf } from '../../people/who-is-who.ts';
import { type Program, perform } from '../effects.ts';
import type { FoundTarget } from './manager-chains.ts';

/** An identity whose references are resolved, and its stored references if they are known. */
interface ReferenceSource {
  identity: Identity;
  references?: ReferenceRow[] | undefined;
}

/** The resolved references of an identity, in two forms: by raw value for the translator, and as rows for the store. */
export interface ResolvedReferences {
  references: Map<string, Reference>;
  rows: ReferenceRow[];
  /** The rows that were stored before. */
  before: ReferenceRow[];
  /** The rows that are stored now. */
  stored: ReferenceRow[];
}

/**
 * Resolves the references of an identity within its connection. A raw value, once resolved, keeps its target until the
 * target is deleted: a new user with the same name does not become the manager in its place.
 */
export function* resolveReferences(
  { identity, references: known }: ReferenceSource,
  rules: Rules,
): Program<ResolvedReferences> {
  const before = known ?? (yield* perform('findReferences'));
  const earlier = new Map(before.map((row) => [row.raw, row]));
  const raws = findManagerReferences(rules, identity.desired, identity.origin.countedParts);
  // The references of an unclaimed identity are never sent, so they are not saved.
  const mustSave = identity.claimed;
  // Save new references before the lookup: a target that is created afterwards then finds this identity among its
  // referrers.
  const isNew = !raws.every((raw) => earlier.has(toReferenceKey(raw)));
  if (isNew && mustSave) yield* perform('saveReferences', raws.map(toRow(earlier)));
  const found: FoundTarget[] = [];
  for (const raw of raws)
    found.push(yield* resolveTarget({ identity, raw, rules, earlier: earlier.get(toReferenceKey(raw)) }));
  const linked = found.map(toLinkedRow(identity));
  const isAsBefore = !mustSave || areSameReferences(before, linked);
  const admitted = isAsBefore ? linked : yield* perform('linkReferences', { found, linked });
  const references = new Map<string, Reference>();
  for (const [index, one] of found.entries())
    references.set(one.raw, toReference(identity, one, admitted[index]));
  const rows = found.map(({ raw, target, former }) => {
    const reference = references.get(raw);
    const travelId = reference && 'travelId' in reference ? reference.travelId : undefined;
    return { raw: toReferenceKey(raw), target: target?.id ?? former, travelId };
  });
  return { references, rows: mustSave ? rows : [], before, stored: isAsBefore ? before : admitted };
}

/**
 * Returns the references of a user who has these records, which may be those of the leaver whose traveler the user has taken over: a manager
 * who was sent for a value, and whom it does not name in this connection, is gone.
 */
export function withSentManagers(
  references: ResolvedReferences['references'],
  applied: AppliedFields,
): ResolvedReferences['references'] {
  const isGone = (raw: string, reference: Reference) =>
    'unresolved' in reference &&
    (reference.unresolved === 'unknown' || reference.unresolved === 'notLinked') &&
    sentTravelIdFor({ applied }, raw) !== undefined;
  return new Map([...references].map(([raw, one]) => [raw, isGone(raw, one) ? { unresolved: 'gone' } : one]));
}

/** True if two lists of references have the same values and targets. */
export function areSameReferences(some: ReferenceRow[], others: ReferenceRow[]): boolean {
  const isAt = ({ raw, target, travelId }: ReferenceRow, index: number) => {
    const other = others[index];
    return other?.raw === raw && other.target === target && other.travelId === travelId;
  };
  return some.length === others.length && some.every(isAt);
}

interface RawReference {
  identity: Identity;
  raw: string;
  rules: Rules;
  earlier: ReferenceRow | undefined;
}

function toRow(rows: Map<string, ReferenceRow>): (raw: string) => ReferenceRow {
  return (text) => {
    const raw = toReferenceKey(text);
    return rows.get(raw) ?? { raw, target: undefined, travelId: undefined };
  };
}

/**
 * Converts a resolved reference to a row. If the target no longer exists, the row keeps its travel user until the
 * traveler has been updated, so that each attempt reports the loss.
 */
function toLinkedRow(identity: Identity): (found: FoundTarget) => ReferenceRow {
  return ({ raw, target, lost, former }) => {
    const travelId = target?.id === identity.id ? undefined : (target?.travelId ?? lost);
    return { raw: toReferenceKey(raw), target: target?.id ?? former, travelId };
  };
}

function* resolveTarget({ identity, raw, rules, earlier }: RawReference): Program<FoundTarget> {
  const { connection } = identity;
  const sent = sentTravelIdFor(identity, raw);
  const former = earlier?.target;
  const travelId = earlier?.travelId ?? sent;
  const known = former === undefined ? undefined : yield* perform('findIdentity', connection, former);
  // An unclaimed manager is gone once a POST has claimed the person under a new id, as an attempt that was running may not have seen.
  const before = known ?? (yield* findLinkedIdentity(connection, travelId));
  const heir = before && (yield* findHeir(before));
  const resolved = heir ?? (before && isLive(before) ? before : undefined);
  const holders = yield* findActiveHolders(connection, raw, rules);
  const isAmbiguous = holders.length > 1;
  // The active holder of a number takes the place of an inactive one.
  const kept = resolved && isInactive(resolved) && holders.length === 1 ? undefined : resolved;
  const found = kept ?? (isAmbiguous ? undefined : yield* findTarget(connection, raw, rules));
  const isReplaced =
    kept === undefined &&
    found !== undefined &&
    (yield* isReplacementFor(found, { id: former, isKnown: before !== undefined, travelId }));
  const target = isReplaced ? undefined : found;
  const lost = target?.travelId === undefined ? travelId : undefined;
  return { raw, target, lost, former: target ? undefined : former, isReplaced, isAmbiguous };
}

/**
 * Returns the manager's travel id that was sent for the value. A returning user inherits the applied fields of the
 * tombstone, but no reference rows.
 */
function sentTravelIdFor(
  { applied: { managerId } }: Pick<Identity, 'applied'>,
  raw: string,
): string | undefined {
  const isFromRaw = managerId !== undefined && toVerbatimText(managerId.source) === raw;
  return isFromRaw && typeof managerId.sent === 'string' ? managerId.sent : undefined;
}

function* findLinkedIdentity(
  connection: string,
  travelId: string | undefined,
): Program<Identity | undefined> {
  if (travelId === undefined) return undefined;
  const linked = yield* perform('findIdentities', connection, { by: 'travelId', value: travelId });
  return linked.find(isLive);
}

/** The URI of a user, relative or absolute: the value of `$ref` (RFC 7643 §4.3), which some clients send as `value`. */
const userUri = /(?:^|\/)Users\/([^/?#]+)\/?(?:[?#].*)?$/i;

/** Returns the text under which a reference is stored: without invisible characters; of a URI of a user, only the id. */
function toReferenceKey(raw: string): string {
  const text = toText(raw) ?? raw;
  const [, id] = userUri.exec(text) ?? [];
  return id === undefined ? text : decodeSegment(id);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Finds the user that a value refers to as it was sent, else as it is stored (`toReferenceKey`). A URI has the id of a user. */
function* findTarget(connection: string, raw: string, rules: Rules): Program<Identity | undefined> {
  const key = toReferenceKey(raw);
  const named = namingAttributeFor(raw, rules);
  const matches = named === undefined ? anyAttribute : matchesOf[named];
  const found = yield* findByValue(connection, raw, matches);
  return found || key === raw ? found : yield* findByValue(connection, key, matches);
}

/** Returns the attribute by which the mapping has a manager found; undefined if it names none, or if the value is a URI. */
function namingAttributeFor(raw: string, { mapping }: Rules): NamingAttribute | undefined {
  return userUri.test(raw) ? undefined : mapping.manager?.by;
}

/** Finds the active users with the employee number that a value is, if the mapping has managers found by it. */
function* findActiveHolders(connection: string, raw: string, rules: Rules): Program<Identity[]> {
  if (namingAttributeFor(raw, rules) !== 'employeeNumber') return [];
  const match = { by: 'employeeNumber', value: toReferenceKey(raw) } as const;
  return (yield* perform('findIdentities', connection, match)).filter((one) => !isInactive(one));
}

/**
 * Chooses among users with one value, the newest first: an active one comes before those who have left, and then the oldest, so that the
 * result does not change when another one is created.
 */
function chooseHolder(found: Identity[]): Identity | undefined {
  const live = found.filter(isLive);
  return live.filter((one) => !isInactive(one)).at(-1) ?? live.at(-1);
}

/** The attributes by which a manager is found, in this order (docs/architecture.md, References). */
const anyAttribute: readonly IdentityMatch['by'][] = [
  ...(['id', 'travelId', 'email', 'travelEmail', 'externalId', 'userName'] as const),
];

type NamingAttribute = NonNullable<Mapping['manager']>['by'];

/** The attributes by which a manager is found if the mapping names one. */
const matchesOf: Record<NamingAttribute, readonly IdentityMatch['by'][]> = {
  id: ['id'],
  userName: ['userName', 'email', 'travelEmail'],
  externalId: ['externalId'],
  employeeNumber: ['employeeNumber'],
};

/** Finds the user with a value in one of these attributes, the preferred one first. */
function* findByValue(
  connection: string,
  value: string,
  matches: readonly IdentityMatch['by'][],
): Program<Identity | undefined> {
  for (const by of matches) {
    const found = chooseHolder(yield* findIdentitiesBy(connection, { by, value }));
    if (found) return found;
  }
  return undefined;
}

function* findIdentitiesBy(connection: string, match: IdentityMatch): Program<Identity[]> {
  if (match.by !== 'id') return yield* perform('findIdentities', connection, match);
  const found = yield* perform('findIdentity', connection, match.value);
  return found ? [found] : [];
}

function toReference(
  identity: Identity,
  { target, lost, former, isReplaced, isAmbiguous }: FoundTarget,
  row: ReferenceRow | undefined,
): Reference {
  if (isReplaced) return { unresolved: 'replaced' };
  if (!target && isAmbiguous) return { unresolved: 'ambiguous' };
  if (!target) return { unresolved: lost === undefined && former === undefined ? 'unknown' : 'gone' };
  if (isAmbiguous) return { unresolved: 'ambiguous' };
  if (target.id === identity.id) return { unresolved: 'self' };
  const { travelId } = target;
  const inactive = isInactive(target);
  if (travelId === undefined) {
    if (lost !== undefined) return { unresolved: 'gone' };
    return { unresolved: 'notLinked', ...(inactive ? {} : { userName: userNameOf(target) }) };
  }
  if (row?.travelId === undefined) return { unresolved: 'circle' };
  return { travelId, ...(inactive ? { isInactive: true } : {}) };
}

/** Finds the user to whom a manager has passed the traveler on: the same person under a new user, whom the reports follow. */
export function* findHeir(leaver: Identity): Program<Identity | undefined> {
  const { connection, origin } = leaver;
  const { successor } = origin;
  if (!isInactive(leaver) || leaver.travelId !== undefined || !successor) return undefined;
  if (!isSamePerson(successor) || successor.connection !== connection || successor.id === undefined)
    return undefined;
  const heir = yield* perform('findIdentity', connection, successor.id);
  return heir && isLive(heir) ? heir : undefined;
}

/** The manager to whom a reference was resolved before. */
interface FormerManager {
  /** The id of the identity; undefined if the reference was never resolved. */
  id: string | undefined;
  /** False if the identity does not exist any more. */
  isKnown: boolean;
  travelId: string | undefined;
}

/** The search for the former manager among those who had the place one after the other stops after this many. */
const LONGEST_SUCCESSION = 50;

/**
 * True if the user whom a value names now is in the place of the former manager, perhaps after others, and is another person, or may be
 * one. What was resolved belongs to the former manager until the value changes. A former manager who comes back after others have had the
 * place is judged by the own departure.
 */
export function* isReplacementFor(
  found: Identity,
  { id, isKnown, travelId }: FormerManager,
): Program<boolean> {
  let isOther = false;
  let next: Identity | undefined = id === undefined ? undefined : found;
  for (let step = 0; next && step < LONGEST_SUCCESSION; step += 1) {
    const known = next.progress.predecessor;
    if (!known) return false;
    isOther ||= !isSamePerson(known);
    // The traveler had no identity of an IdP: the imported one is removed when its traveler or its place is taken.
    if (known.id === undefined) return isOther && (!isKnown || known.travelId === travelId);
    const isDirect = next === found;
    next = yield* perform('findIdentity', known.connection, known.id);
    if (known.id === id)
      return isOther && (isDirect || next === undefined || !hasSameExternalId(next, found));
  }
  return false;
}

/** True if the externalId says that a newcomer is the leaver. What the names say counts at the arrival only: they may have changed since. */
function hasSameExternalId(leaver: Identity, { desired, connection }: Identity): boolean {
  return (
    leaver.connection === connection && haveSameExternalId(departureOf(leaver), personalValuesOf(desired))
  );
}

import { findManagerReferences, type Rules } from '../translator/rules.ts';
import type { Reference } from '../translator/translation.ts';
import { toText } from '../translator/values.ts';
import type { Identity } from './identity.ts';
import type { Identities, IdentityMatch, ReferenceRow, References } from './store-ports.ts';

interface ReferenceDeps {
  identities: Pick<Identities, 'findById' | 'find'>;
  references: Pick<References, 'findRows' | 'save' | 'update'>;
}

/** What an identity's references came to: for the translator by raw value, and as the rows to keep. */
export interface ResolvedReferences {
  references: Map<string, Reference>;
  rows: ReferenceRow[];
  /** The rows as they were before. */
  before: ReferenceRow[];
}

/**
 * Resolves an identity's references inside its connection. What was once resolved sticks to its raw value until the
 * target is gone, so that a later namesake changes nobody's manager.
 */
export async function resolveReferences(
  directory: ReferenceDeps,
  identity: Identity,
  rules: Rules,
): Promise<ResolvedReferences> {
  const { connection, id } = identity;
  const before = await directory.references.findRows(connection, id);
  const kept = new Map(before.map((row) => [row.raw, row]));
  const raws = findManagerReferences(rules, identity.desired);
  // An unclaimed identity follows its traveler, so its references are never sent and stand in nobody's way.
  const isKept = identity.claimed;
  // Kept before anybody is sought: who appears from now on finds this identity among the referrers.
  const isNew = !raws.every((raw) => kept.has(raw));
  if (isNew && isKept) await directory.references.save(connection, id, raws.map(toRow(kept)));
  const found: FoundTarget[] = [];
  for (const raw of raws) found.push(await resolveTarget(directory, { identity, raw, kept: kept.get(raw) }));
  const linked = found.map(toLinkedRow(identity));
  const admit = (of: ReadRows) => withoutCycles(of, id, { found, linked });
  const isAsBefore = areSameRows(before, linked);
  const admitted = !isKept || isAsBefore ? linked : await directory.references.update(connection, id, admit);
  const references = new Map<string, Reference>();
  for (const [index, one] of found.entries())
    references.set(one.raw, toReference(identity, one, admitted[index]));
  const rows = found.map(({ raw, target }) => {
    const reference = references.get(raw);
    const travelId = reference && 'travelId' in reference ? reference.travelId : undefined;
    return { raw, target: target?.id, travelId };
  });
  return { references, rows: isKept ? rows : [], before };
}

function areSameRows(some: ReferenceRow[], others: ReferenceRow[]): boolean {
  const isAt = ({ raw, target, travelId }: ReferenceRow, index: number) => {
    const other = others[index];
    return other?.raw === raw && other.target === target && other.travelId === travelId;
  };
  return some.length === others.length && some.every(isAt);
}

interface RawReference {
  identity: Identity;
  raw: string;
  kept: ReferenceRow | undefined;
}

interface FoundTarget {
  raw: string;
  target: Identity | undefined;
  /** The travel user that it led to before, when the target or its traveler is gone. */
  lost: string | undefined;
}

function toRow(kept: Map<string, ReferenceRow>): (raw: string) => ReferenceRow {
  return (raw) => kept.get(raw) ?? { raw, target: undefined, travelId: undefined };
}

/** That a target is gone must be told again until the traveler has followed: its travel user stays in the row until then. */
function toLinkedRow(identity: Identity): (found: FoundTarget) => ReferenceRow {
  return ({ raw, target, lost }) => {
    const travelId = target?.id === identity.id ? undefined : (target?.travelId ?? lost);
    return { raw, target: target?.id, travelId };
  };
}

async function resolveTarget(
  directory: ReferenceDeps,
  { identity, raw, kept }: RawReference,
): Promise<FoundTarget> {
  const sent = sentTravelIdFor(identity, raw);
  const before = kept?.target
    ? await directory.identities.findById(identity.connection, kept.target)
    : await findLinkedIdentity(directory, identity.connection, sent);
  const target = before && isLive(before) ? before : await findTarget(directory, identity.connection, raw);
  return { raw, target, lost: target?.travelId === undefined ? (kept?.travelId ?? sent) : undefined };
}

/** The travel user that was sent for the value: whoever returns inherits what was sent, but no references. */
function sentTravelIdFor({ applied: { managerId } }: Identity, raw: string): string | undefined {
  const isFromRaw = managerId !== undefined && toText(managerId.source) === raw;
  return isFromRaw && typeof managerId.sent === 'string' ? managerId.sent : undefined;
}

async function findLinkedIdentity(
  directory: ReferenceDeps,
  connection: string,
  travelId: string | undefined,
): Promise<Identity | undefined> {
  if (travelId === undefined) return undefined;
  return (await directory.identities.find(connection, { by: 'travelId', value: travelId })).find(isLive);
}

/**
 * In the order of docs/architecture.md, References: a SCIM id, a travel user id, an email, the externalId or userName
 * of a known user.
 */
async function findTarget(
  directory: ReferenceDeps,
  connection: string,
  raw: string,
): Promise<Identity | undefined> {
  const byId = await directory.identities.findById(connection, raw);
  if (byId && isLive(byId)) return byId;
  const matches: IdentityMatch[] = [
    { by: 'travelId', value: raw },
    { by: 'email', value: raw },
    { by: 'travelEmail', value: raw },
    { by: 'externalId', value: raw },
    { by: 'userName', value: raw },
  ];
  for (const match of matches) {
    const found = (await directory.identities.find(connection, match)).filter(isLive);
    // Several with one address: the eldest, so that the answer does not change when another comes.
    const eldest = found.at(-1);
    if (eldest) return eldest;
  }
  return undefined;
}

function toReference(
  identity: Identity,
  { target, lost }: FoundTarget,
  row: ReferenceRow | undefined,
): Reference {
  if (!target) return { unresolved: lost === undefined ? 'unknown' : 'gone' };
  if (target.id === identity.id) return { unresolved: 'self' };
  if (target.travelId === undefined) return { unresolved: lost === undefined ? 'notLinked' : 'gone' };
  return row?.travelId === undefined ? { unresolved: 'circle' } : { travelId: target.travelId };
}

/** The rows without the links that would close a circle: nobody else follows these. */
async function withoutCycles(
  of: ReadRows,
  id: string,
  { found, linked }: { found: FoundTarget[]; linked: ReferenceRow[] },
): Promise<ReferenceRow[]> {
  const rows: ReferenceRow[] = [];
  for (const [index, row] of linked.entries()) {
    const { travelId } = found[index]?.target ?? {};
    const isLink = row.target !== undefined && travelId !== undefined && row.travelId === travelId;
    const closes = isLink && (await managerChain(of, row.target)).includes(id);
    rows.push(closes ? { ...row, travelId: undefined } : row);
  }
  return rows;
}

function isLive(identity: Identity): boolean {
  return identity.deletedAt === undefined;
}

/** How far a chain of managers is followed. Longer ones exist only by mistake, and each link costs a look-up. */
const LONGEST_CHAIN = 1_000;

/** Reads the references of one identity. */
export type ReadRows = (id: string) => Promise<ReferenceRow[]>;

/** The manager that an identity has: of several references the first that leads to a traveler. */
export function managerOf(rows: ReferenceRow[]): string | undefined {
  return rows.find(({ travelId }) => travelId !== undefined)?.target;
}

/** An identity, its manager, the manager's manager, and so on; each once. */
export async function managerChain(of: ReadRows, id: string | undefined): Promise<string[]> {
  const chain = new Set<string>();
  let next = id;
  while (next !== undefined && !chain.has(next) && chain.size < LONGEST_CHAIN) {
    chain.add(next);
    next = managerOf(await of(next));
  }
  return [...chain];
}

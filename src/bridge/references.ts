import { referencesOf } from '../translator/references.ts';
import type { Rules } from '../translator/rules.ts';
import type { Reference } from '../translator/snapshot.ts';
import type { Identity } from './identity.ts';
import type { Identities, IdentityMatch, ReferenceRow, References } from './ports.ts';

/** How far a chain of managers is followed in search of a circle. */
const LONGEST_CHAIN = 100;

interface Directory {
  identities: Pick<Identities, 'byId' | 'find'>;
  references: Pick<References, 'of' | 'save'>;
}

/** What an identity's references came to: for the translator by raw value, and as the rows to keep. */
export interface Resolved {
  references: Map<string, Reference>;
  rows: ReferenceRow[];
  /** True when it refers to somebody else than before, or no longer. */
  isNew: boolean;
}

/**
 * Resolves an identity's references inside its connection. What was once resolved sticks to its raw value until the
 * target is gone, so that a later namesake changes nobody's manager.
 */
export async function resolveReferences(
  directory: Directory,
  identity: Identity,
  rules: Rules,
): Promise<Resolved> {
  const before = await directory.references.of(identity.connection, identity.id);
  const keep = keeper(directory, identity, before);
  const kept = new Map(before.map((row) => [row.raw, row]));
  const raws = referencesOf(rules, identity.desired);
  // Kept before anybody is sought: who appears from now on finds this identity among the referrers.
  if (!raws.every((raw) => kept.has(raw))) await keep(raws.map(rowOf(kept)));
  const found: Found[] = [];
  for (const raw of raws) found.push(await targetOf(directory, { identity, raw, kept: kept.get(raw) }));
  // And before circles are sought: of two who close one in the same moment at least one sees it.
  await keep(found.map(linkOf(identity)));
  const references = new Map<string, Reference>();
  for (const one of found) references.set(one.raw, await judge(directory, identity, one));
  const rows = found.map(({ raw, target }) => {
    const reference = references.get(raw);
    const travelId = reference && 'travelId' in reference ? reference.travelId : undefined;
    return { raw, target: target?.id, travelId };
  });
  // An edge that would close a circle is taken back at once, so that it stands in nobody else's way.
  if ([...references.values()].some(isCircle)) await keep(rows);
  return { references, rows, isNew: !isSame(before, rows) };
}

/** Keeps rows that are others than those kept last. */
function keeper(
  { references }: Directory,
  { connection, id }: Identity,
  before: ReferenceRow[],
): (rows: ReferenceRow[]) => Promise<void> {
  let last = before;
  return async (rows) => {
    if (!isSame(last, rows)) await references.save(connection, id, rows);
    last = rows;
  };
}

function isSame(some: ReferenceRow[], others: ReferenceRow[]): boolean {
  const isAt = ({ raw, target, travelId }: ReferenceRow, index: number) => {
    const other = others[index];
    return other?.raw === raw && other.target === target && other.travelId === travelId;
  };
  return some.length === others.length && some.every(isAt);
}

function isCircle(reference: Reference): boolean {
  return 'unresolved' in reference && reference.unresolved === 'circle';
}

interface Question {
  identity: Identity;
  raw: string;
  kept: ReferenceRow | undefined;
}

interface Found {
  raw: string;
  target: Identity | undefined;
  /** The travel user that it led to before, when the target or its traveler is gone. */
  lost: string | undefined;
}

function rowOf(kept: Map<string, ReferenceRow>): (raw: string) => ReferenceRow {
  return (raw) => kept.get(raw) ?? { raw, target: undefined, travelId: undefined };
}

/** That a target is gone must be told again until the traveler has followed: its travel user stays in the row until then. */
function linkOf(identity: Identity): (found: Found) => ReferenceRow {
  return ({ raw, target, lost }) => {
    const travelId = target?.id === identity.id ? undefined : (target?.travelId ?? lost);
    return { raw, target: target?.id, travelId };
  };
}

async function targetOf(directory: Directory, { identity, raw, kept }: Question): Promise<Found> {
  const before = kept?.target ? await directory.identities.byId(identity.connection, kept.target) : undefined;
  const target = before && isLive(before) ? before : await seek(directory, identity.connection, raw);
  return { raw, target, lost: target?.travelId === undefined ? kept?.travelId : undefined };
}

/** In the order of DESIGN §5: a SCIM id, a travel user id, an email, the externalId or userName of a known user. */
async function seek(directory: Directory, connection: string, raw: string): Promise<Identity | undefined> {
  const byId = await directory.identities.byId(connection, raw);
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

async function judge(directory: Directory, identity: Identity, { target, lost }: Found): Promise<Reference> {
  if (!target) return { unresolved: lost === undefined ? 'unknown' : 'gone' };
  if (target.id === identity.id) return { unresolved: 'self' };
  if (target.travelId === undefined) return { unresolved: lost === undefined ? 'notLinked' : 'gone' };
  if (await leadsTo(directory, target, identity.id)) return { unresolved: 'circle' };
  return { travelId: target.travelId };
}

async function leadsTo(directory: Directory, from: Identity, id: string): Promise<boolean> {
  const seen = new Set<string>();
  let next: string | undefined = from.id;
  while (next !== undefined && !seen.has(next) && seen.size < LONGEST_CHAIN) {
    seen.add(next);
    const rows: ReferenceRow[] = await directory.references.of(from.connection, next);
    const target: string | undefined = rows.find((row) => row.travelId !== undefined)?.target;
    if (target === id) return true;
    next = target;
  }
  return false;
}

function isLive(identity: Identity): boolean {
  return identity.deletedAt === undefined;
}

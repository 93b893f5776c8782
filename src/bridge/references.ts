import { referencesOf } from '../translator/references.ts';
import type { Rules } from '../translator/rules.ts';
import type { Reference } from '../translator/snapshot.ts';
import type { Identity } from './identity.ts';
import type { Identities, IdentityMatch, ReferenceRow, References } from './ports.ts';

/** How far a chain of managers is followed in search of a circle. */
const LONGEST_CHAIN = 100;

interface Directory {
  identities: Pick<Identities, 'byId' | 'find'>;
  references: Pick<References, 'of'>;
}

/** What an identity's references came to: for the translator by raw value, and as the rows to keep. */
export interface Resolved {
  references: Map<string, Reference>;
  rows: ReferenceRow[];
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
  const kept = new Map(
    (await directory.references.of(identity.connection, identity.id)).map((row) => [row.raw, row]),
  );
  const references = new Map<string, Reference>();
  const rows: ReferenceRow[] = [];
  for (const raw of referencesOf(rules, identity.desired)) {
    const { reference, target } = await resolve(directory, { identity, raw, kept: kept.get(raw) });
    references.set(raw, reference);
    rows.push({ raw, target, travelId: 'travelId' in reference ? reference.travelId : undefined });
  }
  return { references, rows };
}

interface Question {
  identity: Identity;
  raw: string;
  kept: ReferenceRow | undefined;
}

async function resolve(
  directory: Directory,
  { identity, raw, kept }: Question,
): Promise<{ reference: Reference; target: string | undefined }> {
  const before = kept?.target ? await directory.identities.byId(identity.connection, kept.target) : undefined;
  const target = before && isLive(before) ? before : await seek(directory, identity.connection, raw);
  if (!target) {
    const reference: Reference = { unresolved: kept?.travelId ? 'gone' : 'unknown' };
    return { reference, target: undefined };
  }
  return { reference: await judge(directory, identity, target), target: target.id };
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

async function judge(directory: Directory, identity: Identity, target: Identity): Promise<Reference> {
  if (target.id === identity.id) return { unresolved: 'self' };
  if (target.travelId === undefined) return { unresolved: 'notLinked' };
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

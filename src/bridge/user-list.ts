import { addressKey } from './address.ts';
import type { Connection } from './connection.ts';
import type { Discovery } from './discovery.ts';
import type { Identity } from './identity.ts';
import { emailsOf } from './names.ts';
import type { Identities, IdentityMatch } from './ports.ts';

/** What a list asks for: all matches must hold; none means everybody, in the stable order. */
export interface UserQuery {
  matches: IdentityMatch[];
  offset: number;
  limit: number;
}

/** Answers a list from the indexes; a search for one person that misses asks the travel API once. */
export async function listUsers(
  shop: { identities: Pick<Identities, 'find' | 'page'>; discovery: Discovery },
  connection: Connection,
  query: UserQuery,
): Promise<{ total: number; identities: Identity[] }> {
  const [first, ...others] = query.matches;
  if (!first) return shop.identities.page(connection.id, query.offset, query.limit);
  const known = await found(shop, connection, first);
  const candidates = known.length > 0 ? known : await discovered(shop, connection, first);
  const hits = candidates
    .filter((identity) => others.every((match) => agrees(identity, match)))
    .sort(byStableKey);
  return { total: hits.length, identities: hits.slice(query.offset, query.offset + query.limit) };
}

async function found(
  shop: { identities: Pick<Identities, 'find'> },
  connection: Connection,
  match: IdentityMatch,
): Promise<Identity[]> {
  return (await shop.identities.find(connection.id, match)).filter(
    ({ deletedAt }) => deletedAt === undefined,
  );
}

async function discovered(
  shop: { identities: Pick<Identities, 'find'>; discovery: Discovery },
  connection: Connection,
  match: IdentityMatch,
): Promise<Identity[]> {
  if (match.by !== 'userName' && match.by !== 'email') return [];
  const isNew = await shop.discovery.seek(connection, match.value);
  return isNew ? found(shop, connection, match) : [];
}

function agrees(identity: Identity, match: IdentityMatch): boolean {
  switch (match.by) {
    case 'id':
      return identity.id === match.value;
    case 'externalId':
      return identity.desired.externalId === match.value;
    case 'travelId':
      return identity.travelId === match.value;
    case 'userName':
      return isSame(identity.desired.userName, match.value);
    case 'travelEmail':
      return isSame(identity.observed?.email, match.value);
    case 'email':
      return emailsOf(identity.desired).some((email) => isSame(email, match.value));
  }
}

function isSame(value: unknown, wanted: string): boolean {
  return typeof value === 'string' && addressKey(value) === addressKey(wanted);
}

function byStableKey(left: Identity, right: Identity): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}

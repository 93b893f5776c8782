import type { TravelAnswer, TravelUsers } from '../provisioning/travel-ports.ts';
import { foldCase } from '../schema/case-fold.ts';
import { type Field, fields } from '../translator/fields.ts';
import type { CustomFieldValue, TravelUser } from '../translator/traveler.ts';
import { asArray, asObject, asString, readItems, readStrings, toCollectionAnswer } from './answers.ts';
import type { TravelClient, TravelRequest } from './client.ts';
import { readPage } from './collection.ts';

const readEnvelopeUser = ({ data }: { data: unknown }): TravelUser | undefined => readTravelUser(data);

/**
 * Reads and writes travelers over HTTP. Each method makes one request and does not retry. `errors` says whether the travel API
 * sends its error codes, so that a 403 or 404 about one traveler without a code may come from a gateway.
 */
export function travelUsers(
  client: TravelClient,
  { users: path }: { users: string },
  errors: 'coded' | 'bare' = 'coded',
): TravelUsers {
  const needsErrorCode = errors === 'coded';
  const callOne = async (
    id: string,
    request: Omit<TravelRequest, 'path'>,
  ): Promise<TravelAnswer<TravelUser>> =>
    isPathSegment(id)
      ? client.call(
          { ...request, path: `${path}/${encodeURIComponent(id)}`, needsErrorCode },
          readEnvelopeUser,
        )
      : { kind: 'notFound' };
  return {
    create: async (user, cause) => {
      const request = { method: 'POST', path, data: user, cause, needsErrorCode } as const;
      return toCollectionAnswer(`POST ${path}`, await client.call(request, readEnvelopeUser));
    },
    read: (id, cause) => callOne(id, { method: 'GET', cause }),
    patch: (id, patch, cause) => callOne(id, { method: 'PATCH', data: patch, cause }),
    remove: (id, cause) => callOne(id, { method: 'DELETE', cause }),
    findByEmails: async (emails, timeoutMs, cause) => {
      if (emails.length === 0) return { kind: 'ok', value: [] };
      const wanted = new Set(emails.map(foldCase));
      const query = { emails: [...new Set(emails.flatMap(spellingsOf))].join(','), limit: 100 };
      const answer = await readPage(client, { path, query, read: readTravelUser, timeoutMs, cause });
      if (answer.kind !== 'ok') return answer;
      // A travel API that ignores the filter returns all travelers; another person must not be linked.
      const found = answer.value.items.filter(({ email }) => wanted.has(foldCase(email)));
      // Travelers are sorted by the order of the addresses, because the first address is the preferred one.
      const order = [...wanted];
      const rank = ({ email }: TravelUser) => order.indexOf(foldCase(email));
      return { kind: 'ok', value: found.sort((one, other) => rank(one) - rank(other)) };
    },
    readPage: async (offset, limit) => {
      const answer = await readPage(client, { path, query: { offset, limit }, read: readTravelUser });
      if (answer.kind !== 'ok') return answer;
      const { items: users, unreadable, ...rest } = answer.value;
      return { kind: 'ok', value: { users, unreadable: unreadable.map(readTravelUserId), ...rest } };
    },
    serverTime: client.serverTime,
  };
}

/** Returns false for an id that is not one path segment: `users/..` is not the path of a traveler. */
function isPathSegment(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..';
}

/**
 * The spellings under which an address is searched. A travel API that compares exactly may have stored another spelling
 * than the identity provider sends.
 */
function spellingsOf(email: string): string[] {
  const folded = foldCase(email);
  return [email, email.normalize('NFC'), email.normalize('NFD'), folded, folded.normalize('NFD')];
}

/**
 * Reads a traveler with the fields of the table. Of unknown members and members of another type only the names are read; enum values are
 * taken as they are. Roles and custom fields are sorted, because their order has no meaning. Undefined if the id or the
 * email is missing or blank.
 */
export function readTravelUser(value: unknown, table: readonly Field[] = fields): TravelUser | undefined {
  const source = asObject(value);
  const id = readTravelUserId(value);
  const email = asString(source?.email);
  if (!source || id === undefined || email === undefined || email.trim() === '') return undefined;
  const { address, customFields, roles } = source;
  const parts = asObject(address);
  const members = membersOf(table);
  const traveler: TravelUser = {
    id,
    email,
    archived: source.archived === true,
    ...(typeof source.archived === 'boolean' ? {} : { isArchivedUnknown: true as const }),
    createdAt: asString(source.createdAt) ?? '',
    ...readMembers(source, members.ofTraveler),
    ...(parts ? { address: readMembers(parts, members.ofAddress) } : {}),
    ...(Array.isArray(customFields) ? { customFields: readCustomFieldValues(customFields) } : {}),
    ...(Array.isArray(roles) ? { roles: readItems(roles, asString).sort() } : {}),
  };
  const others = Object.keys(source).filter(
    (name) => !(name in traveler) && isRemovableMember(name, source[name]),
  );
  return others.length > 0 ? { ...traveler, otherFields: others.sort() } : traveler;
}

/** Members that a travel API keeps itself, as far as they are known: a patch that removes one would be refused. */
const readOnlyMembers = new Set([
  ...['id', 'type', 'url', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy', 'archivedAt'],
]);

function isRemovableMember(name: string, value: unknown): boolean {
  if (readOnlyMembers.has(name) || name.includes('.')) return false;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value !== null && value !== undefined && !isEmpty;
}

/** The members of travelers and of their addresses that are fields of the table. */
interface Members {
  ofTraveler: Member[];
  ofAddress: Member[];
}

type Member = Pick<Field, 'type'> & { name: string };

/** Caches the members of each table, which never changes. */
const membersByTable = new WeakMap<readonly Field[], Members>();

function membersOf(table: readonly Field[]): Members {
  const known = membersByTable.get(table) ?? {
    ofTraveler: table.filter(({ key }) => !key.includes('.')).map(({ key, type }) => ({ name: key, type })),
    ofAddress: table
      .filter(({ key }) => key.startsWith('address.'))
      .map(({ key, type }) => ({ name: key.slice('address.'.length), type })),
  };
  membersByTable.set(table, known);
  return known;
}

/** Reads the members of an object that have the expected type. */
function readMembers(
  source: Record<string, unknown>,
  members: readonly Member[],
): { [name: string]: string | boolean } {
  const found: { [name: string]: string | boolean } = {};
  for (const { name, type } of members) {
    const value = source[name];
    if (typeof value === type) found[name] = value as string | boolean; // `type` is one of these two.
  }
  return found;
}

/** Reads only the id of a traveler, even if the traveler cannot be parsed; undefined if there is none. */
export function readTravelUserId(value: unknown): string | undefined {
  const id = asString(asObject(value)?.id);
  return id === '' ? undefined : id;
}

function readCustomFieldValues(values: unknown[]): CustomFieldValue[] {
  return readItems(values, readCustomFieldValue).sort(compareBy(({ customFieldId }) => customFieldId));
}

function readCustomFieldValue(value: unknown): CustomFieldValue | undefined {
  const source = asObject(value);
  const customFieldId = asString(source?.customFieldId);
  if (!source || customFieldId === undefined) return undefined;
  const values = asArray(source.values).flatMap((item) => {
    const members = asObject(item);
    return members ? [readStrings(members, ['customFieldOptionId', 'data', 'displayName'])] : [];
  });
  const ordered = values.sort(
    compareBy(({ customFieldOptionId, data }) => `${customFieldOptionId ?? ''} ${data ?? ''}`),
  );
  return { customFieldId, ...readStrings(source, ['name']), values: ordered };
}

/** Compares by character codes, so that the order does not depend on the locale. */
function compareBy<T>(keyOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => {
    const [left, right] = [keyOf(one), keyOf(other)];
    if (left === right) return 0;
    return left < right ? -1 : 1;
  };
}

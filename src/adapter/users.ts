import type { TravelUsers } from '../provisioning/travel-ports.ts';
import { foldCase } from '../schema/case-fold.ts';
import { type Field, fields } from '../translator/fields.ts';
import type { CustomFieldValue, TravelUser } from '../translator/traveler.ts';
import { list, ofCollection, readable, record, text, texts } from './answers.ts';
import type { TravelClient } from './client.ts';
import { page } from './collection.ts';

const one = ({ data }: { data: unknown }): TravelUser | undefined => readTravelUser(data);

/** The travelers over HTTP; each method is one request, tried once. */
export function travelUsers(client: TravelClient, { users: path }: { users: string }): TravelUsers {
  const item = (id: string) => `${path}/${encodeURIComponent(id)}`;
  return {
    create: async (user) => {
      const answer = await client.call({ method: 'POST', path, data: user }, one);
      return ofCollection(`POST ${path}`, answer);
    },
    read: async (id) =>
      isName(id) ? client.call({ method: 'GET', path: item(id) }, one) : { kind: 'notFound' },
    patch: async (id, patch) =>
      isName(id) ? client.call({ method: 'PATCH', path: item(id), data: patch }, one) : { kind: 'notFound' },
    remove: async (id) =>
      isName(id) ? client.call({ method: 'DELETE', path: item(id) }, one) : { kind: 'notFound' },
    findByEmails: async (emails, timeoutMs) => {
      if (emails.length === 0) return { kind: 'ok', value: [] };
      const wanted = new Set(emails.map(foldCase));
      const query = { emails: [...new Set(emails.flatMap(formsOf))].join(','), limit: 100 };
      const answer = await page(client, { path, query, read: readTravelUser, timeoutMs });
      if (answer.kind !== 'ok') return answer;
      // A travel API that passes over the filter answers everybody; linking one of those would be somebody else.
      const found = answer.value.items.filter(({ email }) => wanted.has(foldCase(email)));
      // In the order of the addresses, whatever the order of the list: the first wanted address is the preferred one.
      const places = [...wanted];
      const placeOf = ({ email }: TravelUser) => places.indexOf(foldCase(email));
      return { kind: 'ok', value: found.sort((one, other) => placeOf(one) - placeOf(other)) };
    },
    readPage: async (offset, limit) => {
      const answer = await page(client, { path, query: { offset, limit }, read: readTravelUser });
      if (answer.kind !== 'ok') return answer;
      const { items: users, unreadable, ...rest } = answer.value;
      return { kind: 'ok', value: { users, unreadable: unreadable.map(readTravelUserId), ...rest } };
    },
    serverTime: client.serverTime,
  };
}

/** False for what a URL would not take as the name of one thing: `users/..` is not a user. */
function isName(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..';
}

/**
 * The forms of an address that the travel API is asked for: one that compares exactly may have stored another form than
 * the one the identity provider sends.
 */
function formsOf(email: string): string[] {
  const folded = foldCase(email);
  return [email, email.normalize('NFC'), email.normalize('NFD'), folded, folded.normalize('NFD')];
}

/**
 * Reads a traveler with the fields of the table. Unknown members and members of another type are ignored; enum values are
 * taken as they are. Roles and custom fields are sorted, because their order has no meaning. Undefined if the id or the
 * email is missing or blank.
 */
export function readTravelUser(value: unknown, table: readonly Field[] = fields): TravelUser | undefined {
  const source = record(value);
  const id = readTravelUserId(value);
  const email = text(source?.email);
  if (!source || id === undefined || email === undefined || email.trim() === '') return undefined;
  const { address, customFields, roles } = source;
  const parts = record(address);
  return {
    id,
    email,
    archived: source.archived === true,
    createdAt: text(source.createdAt) ?? '',
    ...readMembers(source, table, ''),
    ...(parts ? { address: readMembers(parts, table, 'address.') } : {}),
    ...(Array.isArray(customFields) ? { customFields: readCustomFieldValues(customFields) } : {}),
    ...(Array.isArray(roles) ? { roles: readable(roles, text).sort() } : {}),
  };
}

/** The members of an object that are fields of the table: those whose key is `prefix` and the name of the member. */
function readMembers(
  source: Record<string, unknown>,
  table: readonly Field[],
  prefix: string,
): { [name: string]: string | boolean } {
  const found = table.flatMap(({ key, type }) => {
    const name = key.slice(prefix.length);
    const isMember = key.startsWith(prefix) && !name.includes('.');
    return isMember && typeof source[name] === type ? [[name, source[name]] as const] : [];
  });
  return Object.fromEntries(found) as { [name: string]: string | boolean }; // `typeof` has checked each value.
}

/** The id of a traveler that perhaps cannot be read otherwise; undefined when there is none. */
export function readTravelUserId(value: unknown): string | undefined {
  const id = text(record(value)?.id);
  return id === '' ? undefined : id;
}

function readCustomFieldValues(values: unknown[]): CustomFieldValue[] {
  return readable(values, readCustomFieldValue).sort(by(({ customFieldId }) => customFieldId));
}

function readCustomFieldValue(value: unknown): CustomFieldValue | undefined {
  const source = record(value);
  const customFieldId = text(source?.customFieldId);
  if (!source || customFieldId === undefined) return undefined;
  const values = list(source.values).flatMap((item) => {
    const members = record(item);
    return members ? [texts(members, ['customFieldOptionId', 'data', 'displayName'])] : [];
  });
  const ordered = values.sort(
    by(({ customFieldOptionId, data }) => `${customFieldOptionId ?? ''} ${data ?? ''}`),
  );
  return { customFieldId, ...texts(source, ['name']), values: ordered };
}

/** Compares by the codes of characters, which is the same everywhere. */
function by<T>(keyOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => {
    const [left, right] = [keyOf(one), keyOf(other)];
    if (left === right) return 0;
    return left < right ? -1 : 1;
  };
}

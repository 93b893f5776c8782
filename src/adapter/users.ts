import type { TravelUsers } from '../provisioning/travel-ports.ts';
import { foldCase } from '../schema/case-fold.ts';
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

const plain = [
  'billingProfileId',
  'costCenterId',
  'currency',
  'dateOfBirth',
  'firstName',
  'gender',
  'lang',
  'lastName',
  'managerId',
  'phoneNumber',
  'travelPolicyId',
] as const satisfies readonly (keyof TravelUser)[];

const addressParts = ['city', 'countryCode', 'postalCode', 'region', 'streetAddress'] as const;

/**
 * Reads a traveler with tolerance: fields that are unknown or of another type are passed over, enum values are taken as
 * they come. The order of roles and custom fields means nothing, so it is made the same each time. Undefined when there is no id or no email, or it is blank, without which nothing can be decided about anybody.
 */
export function readTravelUser(value: unknown): TravelUser | undefined {
  const source = record(value);
  const id = readTravelUserId(value);
  const email = text(source?.email);
  if (!source || id === undefined || email === undefined || email.trim() === '') return undefined;
  const { address, customFields, roles, separateIcsEmails } = source;
  const parts = record(address);
  return {
    id,
    email,
    archived: source.archived === true,
    createdAt: text(source.createdAt) ?? '',
    ...texts(source, plain),
    ...(parts ? { address: texts(parts, addressParts) } : {}),
    ...(Array.isArray(customFields) ? { customFields: readCustomFieldValues(customFields) } : {}),
    ...(Array.isArray(roles) ? { roles: readable(roles, text).sort() } : {}),
    ...(typeof separateIcsEmails === 'boolean' ? { separateIcsEmails } : {}),
  };
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

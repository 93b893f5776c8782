import type { CustomFieldValue, TravelUser } from '../model/traveler.ts';
import { type Field, fields, preferencePrefix } from '../translator/fields/fields.ts';
import { asArray, asObject, asString, type JsonRecord, readItems, readStrings } from './json.ts';

/**
 * Converts an object to a traveler. A profile gives its members the names that the bridge has for them: `id`, `createdAt`, `archived`,
 * `customFields`, `roles`, `address`, `travelerPrefs`, and the fields of the table. Of unknown members and members of another type only the names are read;
 * enum values are taken as they are. Roles and custom fields are sorted, because their order has no meaning. Undefined if the id or the
 * email is missing or blank.
 *
 * @param readOnly Members that the travel API keeps itself, as far as they are known: a change that removes one would be refused.
 */
export function toTravelUser(
  source: JsonRecord,
  readOnly: ReadonlySet<string>,
  table: readonly Field[] = fields,
): TravelUser | undefined {
  const { address, customFields, roles } = source;
  const [id, email] = [asString(source.id), asString(source.email)];
  if (!id || !email?.trim()) return undefined;
  const parts = asObject(address);
  const preferences = readPreferences(asObject(source.travelerPrefs));
  const members = membersOf(table);
  const traveler: TravelUser = {
    id,
    email,
    archived: source.archived === true,
    ...(typeof source.archived === 'boolean' ? {} : { isArchivedUnknown: true as const }),
    createdAt: asString(source.createdAt) ?? '',
    ...readMembers(source, members.ofTraveler),
    ...(parts ? { address: readMembers(parts, members.ofAddress) } : {}),
    ...(preferences ? { travelerPrefs: preferences.simple } : {}),
    ...(Array.isArray(customFields) ? { customFields: readCustomFieldValues(customFields) } : {}),
    ...(Array.isArray(roles) ? { roles: readItems(roles, asString).sort() } : {}),
  };
  const unknown = Object.keys(source).filter(
    (name) => !(name in traveler) && !readOnly.has(name) && isRemovableMember(name, source[name]),
  );
  const others = [...unknown, ...(preferences?.others ?? [])];
  return others.length > 0 ? { ...traveler, otherFields: others.sort() } : traveler;
}

function isRemovableMember(name: string, value: unknown): boolean {
  if (name.includes('.')) return false;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value !== null && value !== undefined && !isEmpty;
}

/** Reads the preferences that are a text or a boolean, and the keys of the others. */
function readPreferences(
  source: JsonRecord | undefined,
): { simple: { [name: string]: string | boolean }; others: string[] } | undefined {
  if (!source || Object.keys(source).length === 0) return undefined;
  const entries = Object.entries(source).filter(([, value]) => value !== null);
  const isSimple = (entry: [string, unknown]): entry is [string, string | boolean] =>
    typeof entry[1] === 'string' || typeof entry[1] === 'boolean';
  const others = entries.filter((entry) => !isSimple(entry)).map(([name]) => `${preferencePrefix}${name}`);
  return { simple: Object.fromEntries(entries.filter(isSimple)), others };
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
function readMembers(source: JsonRecord, members: readonly Member[]): { [name: string]: string | boolean } {
  const found: { [name: string]: string | boolean } = {};
  for (const { name, type } of members) {
    const value = source[name];
    if (typeof value === type) found[name] = value as string | boolean; // `type` is one of these two.
  }
  return found;
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

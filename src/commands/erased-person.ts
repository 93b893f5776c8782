import { foldCase } from '../schema/fold.ts';
import type { Json } from '../schema/resource.ts';
import type { Database } from '../store/database.ts';
import { type Mentions, mentions, struck } from '../store/erasure/mentions.ts';
import { type Belonging, findPeople } from '../store/erasure/person.ts';
import { travelResources } from '../store/travel-resources.ts';
import type { JsonObject } from '../travel/json.ts';
import type { StoredResource, TravelReading } from '../travel/ports.ts';
import { inLine } from './escape.ts';

/** Everything by which a person is known. */
export interface ErasedPerson {
  account: string;
  /** Live and deleted users of all connections of the account. */
  identities: Belonging[];
  travelIds: string[];
  /** Those of the travelers who are in the embedded travel service. */
  travelers: StoredResource[];
  /** Values by which other people and groups refer to the person. */
  names: string[];
  /** Finds the person in what is kept of other people: by every name. */
  inIdentities: Mentions;
  /** Finds the person in requests: by addresses and ids. */
  inRequests: Mentions;
  /** Whether a value in a document of the travel service is an address or the full name. */
  isNamed(value: string): boolean;
  /** A document of the travel service without the addresses, and without the travel ids where these go. */
  strike(doc: JsonObject, withId: boolean): JsonObject;
}

/** The person whom a text names; a sentence where there is none, or where there are several. */
export async function findPerson(
  database: Database,
  { user, connection, account }: { user: string; connection?: string; account: string },
): Promise<ErasedPerson | string> {
  const store = travelResources(database);
  const people = await findPeople(database, user, connection);
  const [identities = [], ...others] = people;
  if (others.length > 0) return severalText(user, people);
  const linked = [...new Set(identities.flatMap(({ travelId }) => travelId ?? []))];
  const found = identities.length === 0 && connection === undefined ? await travelersNamed(store, user) : [];
  const travelers = [...(await store.read(linked.map((id) => ({ type: 'user', id })))), ...found];
  if (identities.length + travelers.length === 0)
    return `Nobody has the userName, email address, SCIM id or travel id ${inLine(user)}${connection === undefined ? '' : ` in the connection ${connection}`}.`;
  return {
    account: identities[0]?.account ?? account,
    identities,
    travelIds: [...new Set([...linked, ...found.map(({ id }) => id)])],
    travelers,
    ...namesOf(identities, travelers, linked),
  };
}

function severalText(user: string, people: Belonging[][]): string {
  const places = people.map((identities) =>
    identities
      .map(
        ({ id, connection, deletedAt }) =>
          `${id} (connection ${connection}${deletedAt === undefined ? '' : ', deleted'})`,
      )
      .join(' and '),
  );
  return `${inLine(user)} names several people: ${places.join('; ')}. Give the SCIM id of one, or add --connection.`;
}

async function travelersNamed(store: TravelReading, user: string): Promise<StoredResource[]> {
  const byId = await store.read([{ type: 'user', id: user }]);
  return byId.length > 0 ? byId : store.find({ type: 'user', name: 'email', values: [foldCase(user)] });
}

type Naming = Pick<ErasedPerson, 'names' | 'inIdentities' | 'inRequests' | 'isNamed' | 'strike'>;

function namesOf(identities: Belonging[], travelers: StoredResource[], linked: string[]): Naming {
  const texts = identities.flatMap((identity) => textsOf(identity));
  const docs = travelers.flatMap(({ doc }) => [
    doc['email'] ?? '',
    fullName(doc['firstName'], doc['lastName']),
  ]);
  const all = [...texts, ...docs].filter((text) => typeof text === 'string' && text !== '');
  const known = all.filter((text) => typeof text === 'string');
  const addresses = known.filter((text) => text.includes('@'));
  const travelIds = [...linked, ...travelers.map(({ id }) => id)];
  const ids = [...travelIds, ...identities.map(({ id }) => id)];
  const fullNames = known.filter((text) => text.includes(' '));
  const plain = mentions({ unique: addresses, whole: [] });
  const withIds = mentions({ unique: [...addresses, ...travelIds], whole: [] });
  return {
    names: [...new Set([...known, ...travelIds])],
    inIdentities: mentions({ unique: [...addresses, ...ids], whole: known }),
    inRequests: withIds,
    isNamed: mentions({ unique: addresses, whole: fullNames }).isNamed,
    strike: (doc, withId) => struck(doc as Json, withId ? withIds : plain) as JsonObject, // An object stays one.
  };
}

/** UserName, externalId, names, addresses and phone numbers: as the IdP wants them, as imported, as sent and as seen. */
function textsOf({ desired, origin, observed, creating, applied, progress }: Belonging): Json[] {
  const { parkedFrom, announced, late } = progress;
  const resources = [desired, origin.baseline ?? {}];
  const sent = [applied.email?.sent, applied.email?.answered, applied.email?.source, announced?.email?.value];
  return [
    ...resources.flatMap(({ userName, externalId, displayName }) => [userName, externalId, displayName]),
    ...resources.flatMap(({ name }) =>
      isObject(name) ? [name.formatted, fullName(name.givenName, name.familyName)] : [],
    ),
    ...resources.flatMap(({ emails, phoneNumbers }) => [...valuesOf(emails), ...valuesOf(phoneNumbers)]),
    ...[observed?.email, observed?.phoneNumber, observed && fullName(observed.firstName, observed.lastName)],
    ...[creating, parkedFrom, ...sent, ...(late?.sent.email ?? [])],
  ].flatMap((text) => text ?? []);
}

function valuesOf(list: Json | undefined): (Json | undefined)[] {
  return Array.isArray(list) ? list.map((one) => (isObject(one) ? one.value : one)) : [];
}

function fullName(given: Json | undefined, family: Json | undefined): string {
  return typeof given === 'string' && typeof family === 'string' ? `${given} ${family}` : '';
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

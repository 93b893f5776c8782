import { findFormerNames } from '../../log/erasure.ts';
import { elementValues, nonEmptyTexts, travelAddresses } from '../../provisioning/people/identity-names.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { employeeNumberOf, isObject, type Json } from '../../schema/resource.ts';
import {
  findLinkedTravelers,
  findNamesInReferences,
  findPeople,
  findSharedNames,
  type IdentityInAccount,
} from '../../store/erasure/find-person.ts';
import { type NameMatcher, nameMatcher, redactNames } from '../../store/erasure/matchers.ts';
import type { PersonReferences } from '../../store/erasure/referrers.ts';
import type { Database } from '../../store/sql/database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { findInEvents } from '../../travel/erasure.ts';
import type { JsonObject } from '../../travel/json.ts';
import type { StoredResource, TravelReader } from '../../travel/ports.ts';
import { Refused } from '../exit-code.ts';
import { escapeLine } from '../output.ts';

/** All records and names of the person to erase. The names are those that nobody else has. */
export interface ErasedPerson extends PersonReferences {
  /** The person's SCIM users in all connections of the account, deleted ones included. */
  identities: IdentityInAccount[];
  /** The person's travelers in the embedded travel service. */
  travelers: StoredResource[];
  /**
   * The person's travel ids in the embedded travel service, including those of deleted travelers, because events about
   * them may still be stored.
   */
  embeddedIds: string[];
  /** Returns true if a path or body in the log has one of the person's names. */
  isNamed(text: string, connection: string): boolean;
  /** Recognizes the person in names that admins of the travel service chose, by addresses, travel ids and full names. */
  inTravel: NameMatcher;
  /** Returns true if a value in a document of the travel service is one of the person's addresses or full names. */
  isNamedInTravel(value: string): boolean;
  /** Returns a document of the travel service without the addresses and, if `withId` is set, without the travel ids. */
  strike(doc: JsonObject, withId: boolean): JsonObject;
}

/** The search for a person. */
export interface PersonQuery {
  user: string;
  connection?: string;
  /** The travel account of the person if no connection knows the person. */
  account: string;
  /** Returns true if the travelers of an account are in the embedded travel service. */
  isEmbedded(account: string): boolean;
}

/** Finds a person by userName, email address, SCIM id or travel id. Throws if none or several match. */
export async function findPerson(
  database: Database,
  { user, connection, account: ownAccount, isEmbedded }: PersonQuery,
): Promise<ErasedPerson> {
  const store = travelStore(database);
  const people = await findPeople(database, user, connection);
  const [identities = [], ...others] = people;
  if (others.length > 0) throw new Refused(ambiguousText(user, people));
  const linked = [...new Set(identities.flatMap(({ travelId }) => travelId ?? []))];
  const found = identities.length === 0 && connection === undefined ? await findTravelers(store, user) : [];
  const travelers = [...(await store.read(linked.map((id) => ({ type: 'user', id })))), ...found];
  if (identities.length + travelers.length === 0)
    throw new Refused(
      `Nobody has the userName, email address, SCIM id or travel id ${escapeLine(user)}${connection === undefined ? '' : ` in the connection ${connection}`}.`,
    );
  const account = identities[0]?.account ?? ownAccount;
  const isHere = isEmbedded(account);
  const known = [...linked, ...found.map(({ id }) => id)];
  const events = isHere ? await findInOwnEvents(database, known, identities) : { deleted: [], addresses: [] };
  const travelIds = [...new Set([...known, ...events.deleted])];
  const ids = identities.map(({ id }) => id);
  const former = [...events.addresses, ...(await findFormerNames(database, ids))];
  const person = {
    ...{ account, identities, ids, travelIds, travelers },
    embeddedIds: isHere ? travelIds : travelers.map(({ id }) => id),
  };
  return { ...person, ...(await namesOf(database, person, former)) };
}

/** Finds deleted travelers by their addresses, since no identity is linked to them any more, and former addresses. */
async function findInOwnEvents(database: Database, ids: string[], identities: IdentityInAccount[]) {
  const own = new Set(identities.flatMap(travelAddresses).map(foldCase));
  const found = await findInEvents(travelStore(database), ids, (email) => own.has(foldCase(email)));
  const linked = await findLinkedTravelers(database, found.deleted);
  return { ...found, deleted: found.deleted.filter((id) => !linked.has(id)) };
}

function ambiguousText(user: string, people: IdentityInAccount[][]): string {
  const places = people.map((identities) =>
    identities
      .map(
        ({ id, connection, deletedAt }) =>
          `${id} (connection ${connection}${deletedAt === undefined ? '' : ', deleted'})`,
      )
      .join(' and '),
  );
  return `${escapeLine(user)} names several people: ${places.join('; ')}. Give the SCIM id of one, or add --connection.`;
}

async function findTravelers(store: TravelReader, user: string): Promise<StoredResource[]> {
  const byId = await store.read([{ type: 'user', id: user }]);
  return byId.length > 0 ? byId : store.find({ type: 'user', name: 'email', values: [foldCase(user)] });
}

type Person = Pick<
  ErasedPerson,
  'account' | 'identities' | 'ids' | 'travelIds' | 'travelers' | 'embeddedIds'
>;
type PersonNames = Omit<ErasedPerson, keyof Person>;

/**
 * Returns the names of the person, without those that another person has too: a record with such a name may be about
 * the other person. In a connection that has provisioned the person all names count; in others, the addresses and ids in the travel
 * service.
 */
async function namesOf(database: Database, person: Person, former: string[]): Promise<PersonNames> {
  const { identities, ids, travelIds, travelers } = person;
  const own = new Set(identities.map(({ connection, id }) => `${connection}/${id}`));
  const texts = [...identities.flatMap(identityTexts), ...travelers.flatMap(travelerTexts), ...former];
  const all = [...new Set(texts)];
  const shared = await findSharedNames(database, { account: person.account, own, names: all });
  const inUse = await addressesOfOthers(travelStore(database), person, all.filter(isAddress));
  const isOwn = (name: string) => !shared.has(name) && !inUse.has(foldCase(name));
  const addresses = all.filter(isAddress).filter(isOwn);
  const sent = [
    ...identities.flatMap(travelAddresses),
    ...travelers.flatMap(({ doc }) => nonEmptyTexts(doc['email'])),
  ];
  const elsewhere = [...new Set(sent)].filter(isOwn);
  const namesInOwn = (connection: string) =>
    all.filter((name) => (isAddress(name) ? isOwn(name) : !shared.get(name)?.has(connection)));
  const names = new Map(identities.map(({ connection }) => [connection, namesInOwn(connection)]));
  const named = await findNamesInReferences(database, person);
  const unique = [...addresses, ...travelIds, ...ids];
  const found = new Map(
    [...names].map(([id, whole]) => [
      id,
      nameMatcher({ unique, whole: [...whole, ...(named.get(id) ?? [])] }),
    ]),
  );
  const foundElsewhere = nameMatcher({ unique: [...elsewhere, ...travelIds], whole: [] });
  const inStrangers = nameMatcher({ unique, whole: all.filter(isOwn) });
  const matcherInLog = (connection: string) => found.get(connection) ?? nameMatcher({ unique, whole: [] });
  return {
    isNamed: (text, connection) =>
      (connection === '' ? inStrangers : matcherInLog(connection)).matchesText(text),
    namesIn: (connection) => [...(names.get(connection) ?? elsewhere), ...travelIds],
    matcherFor: (connection) => found.get(connection) ?? foundElsewhere,
    ...namesInTravelService(addresses, travelIds, all.filter(isFullName)),
  };
}

function namesInTravelService(addresses: string[], travelIds: string[], fullNames: string[]) {
  const plain = nameMatcher({ unique: addresses, whole: [] });
  const withIds = nameMatcher({ unique: [...addresses, ...travelIds], whole: [] });
  return {
    inTravel: nameMatcher({ unique: [...addresses, ...travelIds], whole: fullNames }),
    isNamedInTravel: nameMatcher({ unique: addresses, whole: fullNames }).matchesValue,
    strike: (doc: JsonObject, withId: boolean) =>
      redactNames(doc as Json, (withId ? withIds : plain).matchesUnique) as JsonObject, // Redaction keeps the type: an object stays an object.
  };
}

function isAddress(name: string): boolean {
  return name.includes('@');
}

function isFullName(name: string): boolean {
  return name.includes(' ');
}

/** Returns the addresses that another traveler of the embedded service has too, folded for comparison. */
async function addressesOfOthers(
  store: TravelReader,
  { travelIds }: Person,
  addresses: string[],
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const found = await store.find({ type: 'user', name: 'email', values: addresses.map(foldCase) });
  const others = found.filter(({ id }) => !travelIds.includes(id));
  return new Set(others.flatMap(({ doc }) => nonEmptyTexts(doc['email'])).map(foldCase));
}

function travelerTexts({ doc }: StoredResource): string[] {
  return nonEmptyTexts(doc['email'], fullName(doc['firstName'], doc['lastName']));
}

/** Returns userName, externalId, employee number, names, addresses and phone numbers: desired, imported, sent and observed ones. */
function identityTexts(identity: IdentityInAccount): string[] {
  const { desired, origin, observed } = identity;
  const resources = [desired, origin.baseline ?? {}];
  const all = [
    ...resources.flatMap(({ userName, externalId, displayName }) => [userName, externalId, displayName]),
    ...resources.map(employeeNumberOf),
    ...resources.flatMap(({ name }) =>
      isObject(name) ? [name.formatted, fullName(name.givenName, name.familyName)] : [],
    ),
    ...resources.flatMap(({ emails, phoneNumbers }) => [
      ...elementValues(emails),
      ...elementValues(phoneNumbers),
    ]),
    ...[observed?.phoneNumber, observed && fullName(observed.firstName, observed.lastName)],
  ];
  return [...nonEmptyTexts(...all), ...travelAddresses(identity)];
}

function fullName(given: Json | undefined, family: Json | undefined): string {
  return typeof given === 'string' && typeof family === 'string' ? `${given} ${family}` : '';
}

import { findFormerNames, type PersonInLog } from '../../log/erasure.ts';
import { elementValues, nonEmptyTexts, travelAddresses } from '../../provisioning/people/identity-names.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { employeeNumberOf, isObject, type Json, type ScimResource } from '../../schema/resource.ts';
import type { PersonToDelete } from '../../store/erasure/delete-person.ts';
import { findPeople, findSharedNames, type IdentityInAccount } from '../../store/erasure/find-person.ts';
import { nameMatcher, redactNames } from '../../store/erasure/names.ts';
import type { Database } from '../../store/sql/database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import type { ErasureDeps } from '../../travel/erasure.ts';
import type { JsonObject } from '../../travel/json.ts';
import type { StoredResource, TravelReader } from '../../travel/ports.ts';
import { Refused } from '../exit-code.ts';
import { escapeLine } from '../output.ts';

/** All records and names of the person to erase. */
export interface ErasedPerson
  extends PersonToDelete,
    PersonInLog,
    Pick<ErasureDeps, 'namesPerson' | 'redact'> {
  /** The person's SCIM users in all connections of the account, deleted ones included. */
  identities: IdentityInAccount[];
  /** The person's travelers in the embedded travel service. */
  travelers: StoredResource[];
}

/** The search for a person. */
interface PersonQuery {
  user: string;
  connection?: string;
  /** The travel account of the person if no connection knows the person. */
  account: string;
}

/** Finds a person by userName, email address, SCIM id or travel id. Throws if none or several match. */
export async function findPerson(
  database: Database,
  { user, connection, account: ownAccount }: PersonQuery,
): Promise<ErasedPerson> {
  const store = travelStore(database);
  const people = await findPeople(database, user, connection);
  const [identities = [], ...others] = people;
  if (others.length > 0) throw new Refused(ambiguousText(user, people));
  const linked = [...new Set(identities.flatMap(({ travelId }) => travelId ?? []))];
  const travelers =
    identities.length > 0 || connection !== undefined
      ? await store.read(linked.map((id) => ({ type: 'user', id })))
      : await findTravelers(store, user);
  if (identities.length + travelers.length === 0)
    throw new Refused(
      `Nobody has the userName, email address, SCIM id or travel id ${escapeLine(user)}${connection === undefined ? '' : ` in the connection ${connection}`}.`,
    );
  const account = identities[0]?.account ?? ownAccount;
  const travelIds = [...new Set([...linked, ...travelers.map(({ id }) => id)])];
  const person = { account, identities, travelers, travelIds, ids: identities.map(({ id }) => id) };
  return { ...person, ...(await namesOf(database, person)) };
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

type Found = Pick<ErasedPerson, 'account' | 'identities' | 'ids' | 'travelIds' | 'travelers'>;

/**
 * Returns what recognizes the person: ids, addresses and other names that nobody else in the account has, since a record with such a name
 * may be about the other person. Names that are no addresses count only in connections that have had the person.
 */
async function namesOf(database: Database, person: Found): Promise<Omit<ErasedPerson, keyof Found>> {
  const { account, identities, ids, travelIds, travelers } = person;
  const former = await findFormerNames(database, ids);
  const all = [
    ...identities.flatMap(identityNames),
    ...travelers.flatMap(({ doc }) => nonEmptyTexts(doc['email'])),
  ];
  const names = [...new Set([...all, ...former])];
  const taken = await addressesOfOthers(travelStore(database), person, names.filter(isAddress));
  const shared = await findSharedNames(database, { account, ids, names });
  const own = names.filter((name) => !shared.has(name) && !taken.has(foldCase(name)));
  const addresses = own.filter(isAddress);
  const unique = [...addresses, ...ids, ...travelIds];
  const everywhere = { unique, whole: [] };
  const atHome = { unique, whole: own.filter((name) => !isAddress(name)) };
  const home = new Set(['', ...identities.map(({ connection }) => connection)]);
  const [inLog, inLogAtHome] = [nameMatcher(everywhere), nameMatcher(atHome)];
  const inTravel = nameMatcher({ unique: addresses, whole: await fullNames(database, person) });
  return {
    namesIn: (connection) => (home.has(connection) ? atHome : everywhere),
    isNamed: (text, connection) => (home.has(connection) ? inLogAtHome : inLog).matchesText(text),
    namesPerson: inTravel.matchesValue,
    redact: (doc) => redactNames(doc, inTravel.matchesUnique) as JsonObject, // Redaction keeps the type: an object stays an object.
  };
}

function isAddress(name: string): boolean {
  return name.includes('@');
}

/** Returns the addresses that another traveler of the embedded service has too, folded for comparison. */
async function addressesOfOthers(
  store: TravelReader,
  { travelIds }: Found,
  addresses: string[],
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const found = await store.find({ type: 'user', name: 'email', values: addresses.map(foldCase) });
  const others = found.filter(({ id }) => !travelIds.includes(id));
  return new Set(others.flatMap(({ doc }) => nonEmptyTexts(doc['email'])).map(foldCase));
}

/** Returns userName, externalId, employee number and addresses, as they are wanted now, as they were imported, and as they were sent. */
function identityNames(identity: IdentityInAccount): string[] {
  const names = resourcesOf(identity).flatMap((resource) => [
    ...[resource.userName, resource.externalId, employeeNumberOf(resource)],
    ...elementValues(resource.emails),
  ]);
  return [...nonEmptyTexts(...names), ...travelAddresses(identity)];
}

function resourcesOf({ desired, origin }: IdentityInAccount): ScimResource[] {
  return [desired, origin.baseline ?? {}];
}

/** Returns the full names of the person that nobody else has. */
async function fullNames(
  database: Database,
  { account, identities, ids, travelers }: Found,
): Promise<string[]> {
  const travelerNames = [...travelers.map(({ doc }) => doc), ...identities.map(({ observed }) => observed)];
  const all = [
    ...identities
      .flatMap(resourcesOf)
      .flatMap(({ displayName, name }) => [
        displayName,
        ...(isObject(name) ? [name.formatted, fullName(name.givenName, name.familyName)] : []),
      ]),
    ...travelerNames.map((one) => one && fullName(one['firstName'], one['lastName'])),
  ];
  const names = [...new Set(nonEmptyTexts(...all))];
  const shared = await findSharedNames(database, { account, ids, names });
  return names.filter((name) => name.includes(' ') && !shared.has(name));
}

function fullName(given: Json | undefined, family: Json | undefined): string {
  return typeof given === 'string' && typeof family === 'string' ? `${given} ${family}` : '';
}

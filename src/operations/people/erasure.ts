import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { deleteExchanges, findExchanges, findFormerNames } from '../../log/erasure.ts';
import { type Identity, isInactive, isLive, userNameOf } from '../../model/identity.ts';
import { nonEmptyTexts, searchedNames } from '../../provisioning/people/identity-names.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { employeeNumberOf } from '../../schema/resource.ts';
import { countReferences, deletePerson } from '../../store/erasure/delete-person.ts';
import { nameMatcher, redactNames } from '../../store/erasure/names.ts';
import type { Database } from '../../store/sql/database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { eraseTravelers, findErasable } from '../../travel/deletion/erasure.ts';
import type { JsonObject } from '../../travel/json.ts';
import type { OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type Operations, operation } from '../operation.ts';
import { count, optionalText } from '../schemas.ts';
import { findPerson } from './person.ts';

/** The erasure of a person (docs/operations/erase-a-person.md). */
export const erasureOperations = {
  erasePerson: operation(
    {
      ...{ method: 'post', path: '/people/{connection}/{id}/erase', tag: 'People', access: 'admin' },
      summary: 'Erase a person who has left; without `confirm`, only count what would be erased',
      body: z.strictObject({ confirm: z.literal(true).optional() }),
      result: z.object({
        erased: z.boolean(),
        identities: z.array(z.object({ connection: z.string(), id: z.string(), userName: z.string() })),
        travelUserIds: z.array(z.string()),
        place: optionalText.describe('The travel API of the travelers. Only those of `embedded` are erased'),
        counts: z.record(z.string(), count).describe('The numbers of other records that go or change'),
      }),
      errors: ['conflict'],
    },
    async ({ params, body: { confirm = false } }, deps, { note }) => {
      note({ confirm });
      // A running service writes requests to its log half a second later.
      if (confirm) await setTimeout(1_000);
      const person = await readPerson(await findPerson(params, deps), deps);
      const records = await findRecords(person, deps);
      if (confirm) await erase(person, records, deps);
      return {
        ...{ erased: confirm, place: person.place, travelUserIds: person.travelIds, counts: records.counts },
        identities: person.identities.map((one) => ({ ...one, userName: userNameOf(one) })),
      };
    },
  ),
} satisfies Operations;

type Person = Awaited<ReturnType<typeof readPerson>>;

/** Collects the ids and names of a person. Throws 409 if the person must not be erased now. */
async function readPerson(identity: Identity, deps: OperationDeps) {
  const { database, settings, connectionIds } = deps;
  const { account } = database.scopeOf(identity.connection);
  const connections = connectionIds().filter((one) => database.scopeOf(one).account === account);
  const identities = await findIdentities(identity, connections, deps);
  refuseUnfinished(identities);
  const place = settings.connections.find((one) => one.account === account)?.travelApi.url;
  const travelIds = [...new Set(identities.flatMap(({ travelId }) => travelId ?? []))];
  const ids = [...identities.map(({ id }) => id), ...travelIds];
  const scopes = connections.map(database.scopeOf);
  const person = { scopes, connections, place, identities, travelIds, ids };
  const known = identities.flatMap((one) => [...searchedNames(one), employeeNumberOf(one.desired)]);
  const names: string[] = [];
  for (const name of new Set([...nonEmptyTexts(...known), ...(await findFormerNames(database, ids))]))
    if (!ids.includes(name) && !(await isOfOthers(name, person, deps))) names.push(name);
  const addresses = names.filter((name) => name.includes('@'));
  const whole = names.filter((name) => !addresses.includes(name));
  return { ...person, addresses, unique: [...ids, ...addresses], whole };
}

/** Returns the users of the person: those of one traveler, and deleted ones without a traveler who had the same userName. */
async function findIdentities(first: Identity, connections: string[], { store }: OperationDeps) {
  const { travelId = '' } = first;
  const found = new Map([[first.id, first]]);
  for (const connection of connections) {
    const named = await store.identities.find(connection, { by: 'userName', value: userNameOf(first) });
    const gone = named.filter((one) => !isLive(one) && one.travelId === undefined);
    const linked = await store.identities.find(connection, { by: 'travelId', value: travelId });
    for (const one of [...gone, ...linked]) found.set(one.id, one);
  }
  return [...found.values()];
}

function refuseUnfinished(identities: Identity[]): void {
  const found = identities.find((identity) => {
    const { state, creating, readAgainAt } = identity;
    const isCalled = creating !== undefined || readAgainAt !== undefined;
    return !isInactive(identity) || state === 'dirty' || state === 'held' || isCalled;
  });
  if (!found) return;
  const { id, connection, state } = found;
  const message = isInactive(found)
    ? `The traveler of ${userNameOf(found)} is not taken out of use yet (SCIM id ${id}, ${state}). Let the server run until it is, or decide the hold (npx jetbridge holds); then erase the person.`
    : `${userNameOf(found)} is active in the connection ${connection} (SCIM id ${id}). Deactivate or delete the person in the identity provider, or archive the traveler if none has sent it; once that has arrived here, erase the person.`;
  throw new OperationError('conflict', message);
}

const nameKinds = ['userName', 'externalId', 'email', 'employeeNumber', 'travelEmail'] as const;

/** True if somebody else of the account has a name, too: records with it may be about them, so that it is not searched. */
async function isOfOthers(
  name: string,
  { connections, place, ids }: Pick<Person, 'connections' | 'place' | 'ids'>,
  { store, database }: OperationDeps,
): Promise<boolean> {
  const isOther = ({ id }: { id: string }) => !ids.includes(id);
  for (const connection of connections)
    for (const by of nameKinds) {
      const found = await store.identities.find(connection, { by, value: name });
      if (found.filter(isLive).some(isOther)) return true;
    }
  const values = place === 'embedded' ? [foldCase(name)] : [];
  return (await travelStore(database).find({ type: 'user', name: 'email', values })).some(isOther);
}

type Records = Awaited<ReturnType<typeof findRecords>>;

/** Finds the records of others that name the person, and counts them. */
async function findRecords(person: Person, { database }: OperationDeps) {
  const { place, identities, travelIds, addresses } = person;
  const fullNames = identities.map(({ observed }) => `${observed?.['firstName']} ${observed?.['lastName']}`);
  const hasAddress = nameMatcher({ unique: addresses, whole: [] }).matchesValue;
  const travelers = {
    ids: travelIds,
    isName: nameMatcher({ unique: addresses, whole: fullNames }).matchesValue,
    redact: (doc: JsonObject) => redactNames(doc, hasAddress) as JsonObject, // An object stays an object.
  };
  const resources = place === 'embedded' ? await findErasable(travelStore(database), travelers) : [];
  const requests = await findExchanges(database, { ...person, isNamed: nameMatcher(person).matchesText });
  const counts: Record<string, number> = await countReferences(database, person);
  counts['requests'] = requests.length;
  for (const { type } of resources) counts[type] = (counts[type] ?? 0) + 1;
  return { counts, requests, travelers, resources };
}

/** Erases the person in one transaction, and empties the write-ahead log, so that the files of the database contain nothing of the person. */
async function erase({ place, ...person }: Person, records: Records, deps: OperationDeps): Promise<void> {
  const { database, settings, now } = deps;
  // The beginning of a UUID that begins with the time has the form of the ids of events.
  const newId = () => deps.newId().replaceAll('-', '').slice(0, 24);
  const domain = settings.parkingDomain ?? 'jetbridge.invalid';
  const work = async (within: Database) => {
    if (!(await deletePerson(within, person, now()))) return false;
    await deleteExchanges(within, records.requests);
    const service = { store: travelStore(within), now, newId, domain };
    if (place === 'embedded') await eraseTravelers(service, records.travelers, records.resources);
    return true;
  };
  const isErased = await database.transaction(
    (tx) => work({ ...database, db: tx, transaction: (inner) => inner(tx) }),
    { commitIf: (isDone) => isDone },
  );
  if (!isErased) throw new OperationError('conflict', 'A server is at work on this person. Try again.');
  deps.wake();
  // A running server reads from that log for short times.
  for (let tries = 0; tries < 50 && !(await database.emptyLog()); tries += 1) await setTimeout(100);
}

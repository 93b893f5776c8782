import { randomUUID } from 'node:crypto';
import { deleteExchanges, findExchanges } from '../log/erasure.ts';
import { OperationError } from '../operations/errors.ts';
import { foldCase } from '../schema/case-fold.ts';
import type { Json } from '../schema/resource.ts';
import type { Scope } from '../store/connection-scopes.ts';
import { deleteConnection } from '../store/connections.ts';
import {
  type DemoIdentity,
  findLinkedTravelers,
  leaseIdentities,
  listIdentities,
  recordErasedTravelers,
  releaseIdentities,
} from '../store/demo-day.ts';
import { deleteUserCredentials } from '../store/erasure/delete-person.ts';
import { nameMatcher, redactNames } from '../store/erasure/names.ts';
import { deleteErasedTravelers } from '../store/identities/erased-travelers.ts';
import { countServers } from '../store/queues/replicas.ts';
import { travelStore } from '../store/travel/travel-writes.ts';
import { remove } from '../travel/changes.ts';
import { type ErasureDeps, eraseTravelers } from '../travel/erasure.ts';
import { ApiError } from '../travel/errors.ts';
import { type JsonObject, stringMember } from '../travel/json.ts';
import { readResource } from '../travel/ports.ts';
import { customField } from '../travel/resources/custom-field.ts';
import { user } from '../travel/resources/user.ts';
import type { ServiceParts } from './connection.ts';

/** The demo day to remove, which no replica serves any more. */
interface RemovedDemoDay {
  scope: Scope;
  /** The custom field that it has created. */
  fieldId: string | undefined;
  /** The email addresses of its people. */
  addresses: string[];
  /** The start of the demo day, in epoch milliseconds. */
  since: number;
  /** Extends the lease on the demo day. Throws if it has ended. */
  extend(): Promise<void>;
}

/**
 * The time in which all replicas learn that the connection is not served any more, and write what they know to the logs, in
 * milliseconds.
 */
const QUIET_MS = 2_000;
/** Duration of the leases on the identities, in milliseconds. They are needed only until running reconciliations have ended. */
const LEASE_MS = 60_000;
/** Attempts to get the leases and to delete the connection, and the wait between two; a running call takes 10 s at most. */
const ATTEMPTS = 60;
const RETRY_MS = 500;

/**
 * Removes everything that the demo day has made: travelers, custom field, credentials, exchanges, people, connection. The
 * connection goes last, so that an interrupted removal can be repeated. Events about the travelers are reduced to what such
 * records must have, and the log of requests loses them, as by an erasure.
 */
export async function removeDemoDay(parts: ServiceParts, day: RemovedDemoDay): Promise<void> {
  const { database, runtime } = parts;
  await runtime.wait(QUIET_MS);
  const token = randomUUID();
  const people = await retry(parts, async () => {
    await day.extend();
    // A replica that has not noticed the removal yet, or has died less than 20 s ago.
    const servers = await countServers(database.db, database.dialect, runtime.now());
    if (servers.has(day.scope.connection)) return undefined;
    const all = await listIdentities(database, day.scope);
    const isHeld = await leaseIdentities(database, all, { token, ms: LEASE_MS, now: runtime.now() });
    return isHeld ? all : undefined;
  });
  try {
    await removePeople(parts, people, day);
  } catch (error) {
    await releaseIdentities(database, people, token);
    throw error;
  }
}

async function removePeople(parts: ServiceParts, people: DemoIdentity[], day: RemovedDemoDay): Promise<void> {
  const { database, runtime } = parts;
  const travelIds = await findTravelers(parts, people, day.since);
  const ids = people.map(({ id }) => id);
  const { account } = day.scope;
  await recordErasedTravelers(database, { account, travelIds }, runtime.wallClock());
  for (const travelId of travelIds) {
    await day.extend();
    await removeTraveler(parts, travelId);
  }
  if (day.fieldId !== undefined) await removeField(parts, day.fieldId);
  // A request with a wrong token belongs to no connection.
  const isNamed = nameMatcher({ unique: [...ids, ...travelIds, ...day.addresses], whole: [] }).matchesText;
  await deleteExchanges(database, await findExchanges(database, { ids, travelIds, isNamed }));
  // An import that has read one of them before may list it until the next one, as after any deletion in the travel service.
  await deleteErasedTravelers(database.db, account, travelIds);
  await retry(parts, async () => {
    await day.extend();
    const deleted = { connection: day.scope.connection, now: runtime.now() };
    const end = await deleteConnection(database, deleted);
    return end === 'done' ? true : undefined;
  });
}

/**
 * Returns the travelers of the people, and those that were created by a call without an answer. An address alone is no proof: a
 * traveler of somebody else may have it.
 */
async function findTravelers(
  { database }: ServiceParts,
  people: DemoIdentity[],
  since: number,
): Promise<string[]> {
  const linked = people.flatMap(({ travelId }) => travelId ?? []);
  const values = people.flatMap(({ unconfirmed }) => unconfirmed.map(foldCase));
  const found = await travelStore(database).find({ type: user.type, name: 'email', values });
  const created = found.filter(({ createdAt }) => createdAt >= since).map(({ id }) => id);
  const ofOthers = await findLinkedTravelers(database, created);
  return [...new Set([...linked, ...created.filter((id) => !ofOthers.has(id))])];
}

async function removeTraveler(parts: ServiceParts, id: string): Promise<void> {
  const store = travelStore(parts.database);
  const traveler = await readResource(store, user.type, id);
  const deps = erasureDeps(parts, traveler && stringMember(traveler.doc, 'email'));
  await eraseTravelers(deps, [id]);
  await deleteUserCredentials(parts.database, id);
}

function erasureDeps(
  { database, embedded, settings, runtime }: ServiceParts,
  email: string | undefined,
): ErasureDeps {
  if (!embedded) throw new Error('there is no embedded travel service');
  const addresses = email === undefined ? [] : [email];
  const byAddress = nameMatcher({ unique: addresses, whole: [] }).matchesUnique;
  return {
    store: travelStore(database),
    now: runtime.wallClock,
    newId: embedded.travel.newId,
    namesPerson: byAddress,
    redact: (doc) => redactNames(doc as Json, byAddress) as JsonObject, // Redaction keeps the type: an object stays an object.
    domain: settings.parkingDomain ?? 'jetbridge.invalid',
    pause: () => runtime.wait(0),
  };
}

/** The field stays if somebody uses it: a mapping of the travel service or another user. */
async function removeField({ embedded }: ServiceParts, id: string): Promise<void> {
  if (!embedded) return;
  try {
    await remove({ resource: customField, deps: embedded.travel }, { parentId: '', id, caller: '' });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

async function retry<T>({ runtime }: ServiceParts, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let left = ATTEMPTS; left > 0; left -= 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    await runtime.wait(RETRY_MS);
  }
  throw new OperationError('conflict', 'The service is at work on the people of the demo day. Try again.');
}

import { type BridgeExchange, type ExchangeLog, isOfBridge } from '../../log/exchange.ts';
import { type Explanation, findPeople, readExplanation } from '../../provisioning/explain-person.ts';
import type { Identity } from '../../provisioning/identity.ts';
import { findPredecessor, joinPeople } from '../../provisioning/join-people.ts';
import {
  displayNameOf,
  type ListedPerson,
  type People,
  type PeopleFilter,
  type PersonPlace,
  toListedPerson,
} from '../../provisioning/people.ts';
import type { RulesStore } from '../../provisioning/rules-ports.ts';
import type { Identities, ReconcileQueue, References } from '../../provisioning/store-ports.ts';
import type { Handlers } from '../contract/operation.ts';
import type { peopleContract } from '../contract/people.ts';
import { toTime } from '../contract/schemas.ts';
import { AdminError } from '../errors.ts';
import type { PeopleSummaries, PeopleSummary } from '../ports.ts';
import type { AdminContext } from '../router.ts';

/** Dependencies of the operations on people. */
export interface PeopleDeps {
  people: People;
  identities: Pick<Identities, 'findById' | 'find' | 'commit'>;
  references: Pick<References, 'findRows'>;
  rules: Pick<RulesStore, 'find'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  exchanges: Pick<ExchangeLog, 'list'>;
  peopleSummaries: PeopleSummaries;
  /** Returns the ids of all connections, sorted. */
  connectionIds(): string[];
  /** Starts the attempts that are due. */
  wake(): void;
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
}

/** Handles lists of people, the search for them, and what is known about one. */
export function peopleHandlers(deps: PeopleDeps): Handlers<typeof peopleContract, AdminContext> {
  return {
    listPeople: ({ query: { archived, userName, ...query } }) =>
      listPage({ ...query, archived: archived === 'true', userNamePrefix: userName }, deps),
    countPeople: async () => ({ connections: (await deps.peopleSummaries.read()).map(toCounts) }),
    findPeople: async ({ query: { text } }) => ({ people: (await search(text, deps)).map(toPerson) }),
    explainPerson: async ({ params }) => {
      const identity = await findPerson(params, deps);
      const explanation = await readExplanation(deps, identity, deps.now());
      return { ...withTimes(explanation), name: displayNameOf(identity.desired) };
    },
    reconcilePerson: async ({ params }, { note }) => {
      const { connection, id, desired } = await findPerson(params, deps);
      note({ userName: desired.userName });
      await deps.reconcileQueue.markDirty(connection, [id], deps.now());
      deps.wake();
    },
    joinPerson: async ({ params }, { note }) => {
      const newcomer = await findPerson(params, deps);
      note({ userName: newcomer.desired.userName });
      await join(newcomer, deps);
      deps.wake();
    },
  };
}

/** Gives a person the traveler of the leaver in whose place the person is. */
async function join(newcomer: Identity, deps: PeopleDeps): Promise<void> {
  const leaver = await findPredecessor(deps, newcomer);
  if (!leaver) throw new AdminError('conflict', 'There is no leaver with whom this person can be joined.');
  const runtime = { now: deps.now, wallClock: deps.now, newId: deps.newId };
  const result = await joinPeople({ identities: deps.identities, runtime }, { leaver, newcomer });
  if (result === 'joined') return;
  throw new AdminError(
    'conflict',
    result === 'stale' ? 'One of the two has just changed; look again.' : result.refused,
  );
}

interface PageQuery extends PeopleFilter {
  connection?: string | undefined;
  after?: string | undefined;
  limit: number;
}

/** The place after which a page begins: in a connection, or at its beginning. */
interface Place {
  connection: string;
  after: PersonPlace | undefined;
}

/** The number of pages of the store that one request reads at most, so that it ends soon if few people match. */
const MAX_STEPS = 10;

async function listPage({ connection, after, limit, ...filter }: PageQuery, deps: PeopleDeps) {
  const connections = deps.connectionIds();
  const chosen = connection === undefined ? connections : [connection];
  if (!chosen.every((one) => connections.includes(one)))
    throw invalid('connection', 'There is no such connection.');
  let place = after === undefined ? placeAt(chosen[0]) : parsePlace(after, chosen);
  const people: ListedPerson[] = [];
  for (let step = 0; place && step < MAX_STEPS && people.length < limit; step += 1) {
    const page = await deps.people.findPage(place.connection, filter, place.after, limit - people.length);
    people.push(...page.people);
    place = page.next
      ? { connection: place.connection, after: page.next }
      : placeAt(chosen[chosen.indexOf(place.connection) + 1]);
  }
  return { people: people.map(toPerson), connections, ...(place ? { next: placeText(place) } : {}) };
}

function toCounts({ connection, states, findings, areFindingsCut }: PeopleSummary) {
  return {
    ...{ connection, states, areFindingsCut },
    people: Object.values(states).reduce((sum, people) => sum + people, 0),
    findings: [...findings].map(([code, people]) => ({ code, people })),
  };
}

function placeAt(connection: string | undefined): Place | undefined {
  return connection === undefined ? undefined : { connection, after: undefined };
}

function placeText({ connection, after }: Place): string {
  const parts = [connection, ...(after ? [after.key, after.id] : [])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function parsePlace(text: string, connections: string[]): Place {
  const [connection, key, id] = parseTexts(Buffer.from(text, 'base64url').toString());
  if (connection === undefined || !connections.includes(connection))
    throw invalid('after', 'is not the end of a page of this list');
  return { connection, after: key === undefined || id === undefined ? undefined : { key, id } };
}

/** Parses a JSON array of strings; returns an empty one for any other text. */
function parseTexts(text: string): string[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) && parsed.every((one) => typeof one === 'string') ? parsed : [];
  } catch {
    return [];
  }
}

function invalid(field: string, message: string): AdminError {
  return new AdminError('invalid', undefined, { faults: [{ field, message }] });
}

/** The number of people that a search returns. */
const MAX_FOUND = 20;

/** Searches people. The people that the text names exactly come first, deleted ones included. */
async function search(text: string, deps: PeopleDeps): Promise<ListedPerson[]> {
  if (text === '') return [];
  const connections = deps.connectionIds();
  const exact = (await findPeople(deps, connections, text)).map(toListedPerson);
  const others = await Promise.all(
    connections.map((connection) => deps.people.findByPrefix(connection, text, MAX_FOUND)),
  );
  const found = new Map([...others.flat(), ...exact].map((person) => [keyOf(person), person]));
  const first = new Set(exact.map(keyOf));
  const rest = [...found.values()].filter((person) => !first.has(keyOf(person)));
  return [...exact, ...rest].slice(0, MAX_FOUND);
}

function keyOf({ connection, id }: ListedPerson): string {
  return `${connection} ${id}`;
}

async function findPerson(
  { connection, id }: { connection: string; id: string },
  { identities, connectionIds }: Pick<PeopleDeps, 'identities' | 'connectionIds'>,
): Promise<Identity> {
  const identity = connectionIds().includes(connection) && (await identities.findById(connection, id));
  if (!identity)
    throw new AdminError('notFound', `There is no person ${id} in the connection ${connection}.`);
  return identity;
}

function toPerson({ lastModified, nextAttemptAt, ...person }: ListedPerson) {
  return { ...person, lastModified: toTime(lastModified), nextAttemptAt: toTime(nextAttemptAt) };
}

function withTimes({ verdict, exchanges, ...explanation }: Explanation) {
  const { createdAt, lastModified, deletedAt, nextAttemptAt, checkAt } = explanation;
  return {
    ...explanation,
    verdict: { ...verdict, since: toTime(verdict.since), until: toTime(verdict.until) },
    exchanges: exchanges.filter(isOfBridge).map(toExchange),
    createdAt: toTime(createdAt),
    lastModified: toTime(lastModified),
    deletedAt: toTime(deletedAt),
    nextAttemptAt: toTime(nextAttemptAt),
    checkAt: toTime(checkAt),
  };
}

function toExchange(exchange: BridgeExchange) {
  const { position, direction, at, ms, method, path, status, error, requestId } = exchange;
  return { position, direction, at: toTime(at), ms, method, path, status, error, requestId };
}

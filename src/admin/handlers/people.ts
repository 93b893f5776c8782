import type { z } from 'zod';
import { isOfBridge } from '../../log/exchange.ts';
import type { Identity } from '../../provisioning/identity.ts';
import { findPeople, readExplanation } from '../../provisioning/people/explain-person.ts';
import { countFindingValues } from '../../provisioning/people/finding-values.ts';
import { findPredecessor, joinPeople } from '../../provisioning/people/join-people.ts';
import {
  displayNameOf,
  type ListedPerson,
  listPeople,
  type PeopleFilter,
  toListedPerson,
} from '../../provisioning/people/people.ts';
import { reconcilePeople } from '../../provisioning/people/reconcile-people.ts';
import type { PeopleSummary } from '../../store/identities/people-summaries.ts';
import { batches, yieldToEventLoop } from '../../store/sql/queries.ts';
import type { Handlers } from '../contract/operation.ts';
import type { peopleContract } from '../contract/people.ts';
import { type AdminDeps, chosenConnections } from '../deps.ts';
import { AdminError } from '../errors.ts';
import { type Place, parsePlace, placeText } from '../person-place.ts';
import type { AdminContext } from '../router.ts';

/** Handles lists of people, the search for them, and what is known about one. */
export function peopleHandlers(deps: AdminDeps): Handlers<typeof peopleContract, AdminContext> {
  return {
    listPeople: ({ query }) => listPage(query, deps),
    downloadPeople: async ({ query }) => selectPeople(query, deps),
    listFindingValues: ({ query }) => listFindingValues(query, deps),
    downloadFindingValues: ({ query }) => downloadFindingValues(query, deps),
    countSelectedPeople: ({ query }) => countSelected(query, deps),
    reconcilePeople: ({ body }, { note }) => reconcileSelected(body, note, deps),
    countPeople: async () => ({ connections: (await deps.peopleSummaries.read()).map(toCounts) }),
    findPeople: async ({ query: { text } }) => ({ people: await search(text, deps) }),
    explainPerson: async ({ params }) => {
      const identity = await findPerson(params, deps);
      const explanation = await readExplanation(
        { ...deps.store, exchanges: deps.exchanges, findOutage: deps.conditions.findOutage },
        identity,
        deps.now(),
      );
      const exchanges = explanation.exchanges.filter(isOfBridge);
      return { ...explanation, exchanges, name: displayNameOf(identity.desired) };
    },
    reconcilePerson: async ({ params }, { note }) => {
      const { connection, id, desired } = await findPerson(params, deps);
      note({ userName: desired.userName });
      await deps.store.reconcileQueue.markDirty(connection, [id], deps.now());
      deps.provisioning.wake();
    },
    joinPerson: async ({ params }, { note }) => {
      const newcomer = await findPerson(params, deps);
      note({ userName: newcomer.desired.userName });
      await join(newcomer, deps);
      deps.provisioning.wake();
    },
  };
}

/** Gives a person the traveler of the leaver in whose place the person is. */
async function join(newcomer: Identity, deps: AdminDeps): Promise<void> {
  const leaver = await findPredecessor(deps.store, newcomer);
  if (!leaver) throw new AdminError('conflict', 'There is no leaver with whom this person can be joined.');
  const runtime = { now: deps.now, wallClock: deps.now, newId: deps.newId };
  const result = await joinPeople({ identities: deps.store.identities, runtime }, { leaver, newcomer });
  if (result === 'joined') return;
  throw new AdminError(
    'conflict',
    result === 'stale' ? 'One of the two has just changed; look again.' : result.refused,
  );
}

/** The number of pages of the store that one request reads at most, so that it ends soon if few people match. */
const MAX_STEPS = 10;

type Filters = z.output<(typeof peopleContract)['downloadPeople']['query']>;

function toFilter({ connection: _connection, archived, userName, ...others }: Filters): PeopleFilter {
  return { ...others, archived: archived === 'true', userNamePrefix: userName };
}

/** Yields the people whom filters select page by page. Throws 422 at once if there is no such connection. */
function selectPeople(filters: Filters, deps: AdminDeps): AsyncGenerator<ListedPerson[]> {
  return listPeople(deps.store.people, chosenConnections(deps, filters.connection), toFilter(filters));
}

async function listPage(
  { after, limit, sort, ...filters }: z.output<(typeof peopleContract)['listPeople']['query']>,
  deps: AdminDeps,
) {
  const filter = { ...toFilter(filters), sort };
  const connections = deps.connectionIds();
  const chosen = chosenConnections(deps, filters.connection);
  let place = after === undefined ? placeAt(chosen[0]) : parsePlace(after, chosen);
  const people: ListedPerson[] = [];
  for (let step = 0; place && step < MAX_STEPS && people.length < limit; step += 1) {
    const page = await deps.store.people.findPage(
      place.connection,
      filter,
      place.after,
      limit - people.length,
    );
    people.push(...page.people);
    place = page.next
      ? { connection: place.connection, after: page.next }
      : placeAt(chosen[chosen.indexOf(place.connection) + 1]);
  }
  return { people, connections, ...(place ? { next: placeText(place) } : {}) };
}

type FindingFilters = Pick<Filters, 'connection' | 'finding'>;

function selectWithFindings({ connection, finding }: FindingFilters, deps: AdminDeps) {
  const filter = { finding, hasFindings: true } as const;
  return listPeople(deps.store.people, chosenConnections(deps, connection), filter);
}

/** The pages of people with findings that one request counts: 10,000 people, so that it ends soon. */
const MAX_PAGES = 20;
const MAX_FINDING_VALUES = 1_000;

async function listFindingValues(query: FindingFilters, deps: AdminDeps) {
  const pages = selectWithFindings(query, deps);
  let isCut = false;
  async function* firstPages() {
    let count = 0;
    for await (const people of pages) {
      count += 1;
      isCut = count > MAX_PAGES;
      if (isCut) return;
      yield people;
    }
  }
  const values = await countFindingValues(firstPages(), query.finding);
  return { values: values.slice(0, MAX_FINDING_VALUES), isCut: isCut || values.length > MAX_FINDING_VALUES };
}

async function downloadFindingValues(query: FindingFilters, deps: AdminDeps) {
  const people = selectWithFindings(query, deps);
  async function* pages() {
    yield* batches(await countFindingValues(people, query.finding));
  }
  return pages();
}

/** The people whom one request reconciles, or counts, at most. */
const MAX_RECONCILED = 10_000;
/** The pages that are counted at most, so that the request ends soon if few people match. */
const MAX_COUNTED_PAGES = 60;

/** Counts the people whom filters select; as the overview does if a connection and a state are all that they name. */
async function countSelected(filters: Filters, deps: AdminDeps) {
  const { connection, state, ...others } = filters;
  const chosen = chosenConnections(deps, connection);
  if (state === undefined && Object.keys(others).length === 0) {
    const summaries = (await deps.peopleSummaries.read()).filter((one) => chosen.includes(one.connection));
    const sum = (numberOf: (one: PeopleSummary) => number) =>
      summaries.reduce((total, one) => total + numberOf(one), 0);
    return { people: sum(countAll), withFindings: sum((one) => one.withFindings), isMore: false };
  }
  let [people, withFindings, pages] = [0, 0, 0];
  for await (const page of selectPeople(filters, deps)) {
    pages += 1;
    people += page.length;
    withFindings += page.filter(({ findings }) => findings.length > 0).length;
    if (people > MAX_RECONCILED) return { people: MAX_RECONCILED, withFindings, isMore: true };
    if (pages === MAX_COUNTED_PAGES) return { people, withFindings, isMore: true };
  }
  return { people, withFindings, isMore: false };
}

function countAll({ states }: PeopleSummary): number {
  return Object.values(states).reduce((sum, people) => sum + people, 0);
}

/** Reads the people whom filters select; undefined if they are too many to be reconciled. */
async function readSelection(filters: Filters, deps: AdminDeps): Promise<ListedPerson[][] | undefined> {
  const pages: ListedPerson[][] = [];
  let people = 0;
  for await (const page of selectPeople(filters, deps)) {
    people += page.length;
    if (people > MAX_RECONCILED) return undefined;
    pages.push(page);
  }
  return pages;
}

async function reconcileSelected(filters: Filters, note: AdminContext['note'], deps: AdminDeps) {
  note(filters);
  const pages = await readSelection(filters, deps);
  if (!pages)
    throw new AdminError('conflict', 'More than 10,000 people match these filters. Choose narrower ones.');
  const people = await reconcilePeople(deps.store.reconcileQueue, inTurns(pages), deps.now);
  note({ people });
  deps.provisioning.wake();
  return { people };
}

async function* inTurns(pages: ListedPerson[][]): AsyncGenerator<ListedPerson[]> {
  for (const page of pages) {
    yield page;
    await yieldToEventLoop();
  }
}

function toCounts(summary: PeopleSummary) {
  const { connection, states, findings, areFindingsCut } = summary;
  return {
    ...{ connection, states, areFindingsCut },
    people: countAll(summary),
    findings: [...findings].map(([code, people]) => ({ code, people })),
  };
}

function placeAt(connection: string | undefined): Place | undefined {
  return connection === undefined ? undefined : { connection, after: undefined };
}

/** The number of people that a search returns. */
const MAX_FOUND = 10;

/**
 * Searches people: first those whom the text names exactly, deleted ones included, then those of whom a name or address begins with it, then
 * those who have it in any place, which takes longest.
 */
async function search(text: string, deps: AdminDeps): Promise<ListedPerson[]> {
  if (text === '') return [];
  const { store } = deps;
  const connections = deps.connectionIds();
  const found = new Map<string, ListedPerson>();
  const add = (people: ListedPerson[]) => {
    for (const person of people) if (!found.has(keyOf(person))) found.set(keyOf(person), person);
  };
  add((await findPeople(store, connections, text)).map(toListedPerson));
  for (const find of [store.people.findByPrefix, store.people.findByText])
    for (const connection of connections)
      if (found.size < MAX_FOUND) add(await find(connection, text, MAX_FOUND));
  return [...found.values()].slice(0, MAX_FOUND);
}

function keyOf({ connection, id }: ListedPerson): string {
  return `${connection} ${id}`;
}

async function findPerson(
  { connection, id }: { connection: string; id: string },
  { store, connectionIds }: AdminDeps,
): Promise<Identity> {
  const identity = connectionIds().includes(connection) && (await store.identities.findById(connection, id));
  if (!identity)
    throw new AdminError('notFound', `There is no person ${id} in the connection ${connection}.`);
  return identity;
}

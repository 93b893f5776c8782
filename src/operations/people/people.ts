import { z } from 'zod';
import { holdCauses, identityStates } from '../../model/identity.ts';
import { type ListedPerson, type PeopleFilter, peopleSorts } from '../../model/people.ts';
import { usedNames } from '../../provisioning/people/explain-fields.ts';
import { findPeople } from '../../provisioning/people/explain-person.ts';
import { countFindingValues, findingValueColumns } from '../../provisioning/people/finding-values.ts';
import { listPeople, peopleColumns, toListedPerson } from '../../provisioning/people/people.ts';
import { stateNamesText } from '../../provisioning/people/person-texts.ts';
import { reconcilePeople } from '../../provisioning/people/reconcile-people.ts';
import type { PeopleSummary } from '../../store/identities/people-summaries.ts';
import { batches, yieldToEventLoop } from '../../store/sql/queries.ts';
import { chosenConnections, type OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type OperationContext, type Operations, operation } from '../operation.ts';
import { count, optionalText, optionalTime, time } from '../schemas.ts';
import { finding } from './person.ts';
import { parsePlace, placeAt, placeText } from './person-place.ts';

const text = z.string().max(300);

/** A person in a list. */
export const person = z
  .object({
    connection: z.string(),
    id: z.string(),
    userName: z.string(),
    name: z.string().describe('Empty if the user has none'),
    state: z.enum(identityStates).describe(stateNamesText),
    holdCause: z.enum(holdCauses).optional(),
    travelId: optionalText,
    isUnmanaged: z.boolean().describe('True if no identity provider has sent the person'),
    isActive: z.boolean(),
    isDeleted: z.boolean(),
    findings: z.array(finding),
    lastModified: time,
    nextAttemptAt: optionalTime,
  })
  .meta({ id: 'Person' });

export type Person = z.input<typeof person>;

const peopleCounts = z
  .object({
    connection: z.string(),
    people: count,
    states: z.object({ synced: count, dirty: count, pending: count, refused: count, held: count }),
    unmanaged: count.describe('People in step whom no identity provider has sent'),
    findings: z.array(z.object({ code: z.string(), people: count })),
    areFindingsCut: z.boolean().describe('True if only the first 20,000 people with findings were counted'),
  })
  .meta({ id: 'PeopleCounts', description: 'The people of a connection by state and finding' });

export type PeopleCounts = z.input<typeof peopleCounts>;

/** The filters of lists of people. */
const filters = {
  connection: text.optional(),
  state: z
    .enum([...identityStates, 'unmanaged'])
    .optional()
    .describe(`Only people in this state: ${stateNamesText}, or unmanaged`),
  finding: text.optional().describe('The code of a finding'),
  field: text.optional().describe('The field of that finding'),
  value: text.optional().describe('The value of that finding, as the counts of findings have it'),
  archived: z.enum(['true']).optional().describe('Only inactive and deleted people'),
  userName: text.optional().describe('The beginning of the userName'),
  search: z
    .string()
    .trim()
    .min(1)
    .max(300)
    .optional()
    .describe('A part of a name, address, employee number, id, or value of a finding'),
};

const filterQuery = z.strictObject(filters);
const findingQuery = filterQuery.pick({ connection: true, finding: true });

const pageQuery = z.strictObject({
  ...filters,
  sort: z
    .enum(peopleSorts)
    .optional()
    .describe(
      'The order in each connection; without it by userName. state: those first who need an admin; changed: the latest first; unchanged: the latest last',
    ),
  after: z.string().max(4_000).optional().describe('`next` of the page before'),
  limit: z.coerce.number<number>().int().min(1).max(500).default(100),
});

const findingValue = z
  .object({
    ...{ connection: z.string(), code: z.string(), field: z.string() },
    value: z.string().describe('Empty if the finding has none. A long one is cut'),
    people: count,
    example: z.object({ id: z.string(), userName: z.string(), name: z.string() }),
    isRest: z
      .boolean()
      .describe('True for the people with other values than the first 1,000 of that code and field'),
  })
  .meta({ id: 'FindingValue', description: 'The number of people who have a finding with this value' });

export type FindingValue = z.input<typeof findingValue>;

/** The people of all connections, and everything that is known about one of them. */
export const peopleOperations = {
  listPeople: operation(
    {
      ...{ method: 'get', path: '/people', tag: 'People', access: 'viewer' },
      summary: 'List people by connection. A page can be short, or empty, although others follow',
      query: pageQuery,
      result: z.object({
        people: z.array(person),
        next: optionalText,
        connections: z.array(z.string()).describe('All connections'),
      }),
    },
    ({ query }, deps) => listPage(query, deps),
  ),
  downloadPeople: operation(
    {
      ...{ method: 'get', path: '/people.csv', tag: 'People', access: 'viewer' },
      summary: 'Download the people whom filters select as CSV',
      query: filterQuery,
      csv: peopleColumns,
    },
    async ({ query }, deps) => selectPeople(query, deps),
  ),
  listFindingValues: operation(
    {
      ...{ method: 'get', path: '/people/findings', tag: 'People', access: 'viewer' },
      summary: 'Count people by the codes, fields and values of their findings, the most frequent first',
      query: findingQuery,
      result: z.object({
        values: z.array(findingValue),
        names: z.record(z.string(), z.string()).describe('The names of ids in fields and values'),
        isCut: z
          .boolean()
          .describe(
            'True if only the first 10,000 people with findings were counted, or only the 1,000 most frequent values are listed',
          ),
      }),
    },
    ({ query }, deps) => listFindingValues(query, deps),
  ),
  downloadFindingValues: operation(
    {
      ...{ method: 'get', path: '/people/findings.csv', tag: 'People', access: 'viewer' },
      summary:
        'Download the counts of listFindingValues as CSV, of everybody. They follow when all are counted',
      query: findingQuery,
      csv: findingValueColumns,
    },
    ({ query }, deps) => downloadFindingValues(query, deps),
  ),
  countSelectedPeople: operation(
    {
      ...{ method: 'get', path: '/people/selection', tag: 'People', access: 'viewer' },
      summary: 'Count the people whom filters select, up to some 10,000',
      query: filterQuery,
      result: z.object({
        people: count,
        withFindings: count,
        isMore: z.boolean().describe('True if counting stopped at `people`'),
      }),
    },
    ({ query }, deps) => countSelected(query, deps),
  ),
  reconcilePeople: operation(
    {
      ...{ method: 'post', path: '/people/reconcile', tag: 'People', access: 'admin' },
      summary:
        'Bring the travelers of the people whom filters select up to date now; 409 for more than 10,000',
      body: filterQuery,
      result: z.object({ people: count }),
      errors: ['conflict'],
    },
    ({ body }, deps, { note }) => reconcileSelected(body, note, deps),
  ),
  countPeople: operation(
    {
      ...{ method: 'get', path: '/people/counts', tag: 'People', access: 'viewer' },
      summary: 'Count the people of each connection by state and by the codes of their findings',
      result: z.object({ connections: z.array(peopleCounts) }),
    },
    async (_input, deps) => ({ connections: (await deps.peopleSummaries.read()).map(toCounts) }),
  ),
  findPeople: operation(
    {
      ...{ method: 'get', path: '/people/search', tag: 'People', access: 'viewer' },
      summary:
        'Find ten people by a part of a name, address, employee number, id, or value of a finding; those whom it names or who begin with it first',
      query: z.strictObject({ text: z.string().trim().max(300).default('') }),
      result: z.object({ people: z.array(person) }),
    },
    async ({ query: { text } }, deps) => ({ people: await search(text, deps) }),
  ),
} satisfies Operations;

/** The number of pages of the store that one request reads at most, so that it ends soon if few people match. */
const MAX_STEPS = 10;

type Filters = z.output<typeof filterQuery>;

function toFilter({ connection: _connection, archived, userName, ...others }: Filters): PeopleFilter {
  return { ...others, archived: archived === 'true', userNamePrefix: userName };
}

/** Yields the people whom filters select page by page. Throws 422 at once if there is no such connection. */
function selectPeople(filters: Filters, deps: OperationDeps): AsyncGenerator<ListedPerson[]> {
  return listPeople(deps.store.people, chosenConnections(deps, filters.connection), toFilter(filters));
}

async function listPage({ after, limit, sort, ...filters }: z.output<typeof pageQuery>, deps: OperationDeps) {
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

function selectWithFindings({ connection, finding }: FindingFilters, deps: OperationDeps) {
  const filter = { finding, hasFindings: true } as const;
  return listPeople(deps.store.people, chosenConnections(deps, connection), filter);
}

/** The pages of people with findings that one request counts: 10,000 people, so that it ends soon. */
const MAX_PAGES = 20;

const MAX_FINDING_VALUES = 1_000;

async function listFindingValues(query: FindingFilters, deps: OperationDeps) {
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
  const all = await countFindingValues(firstPages(), query.finding);
  const values = all.slice(0, MAX_FINDING_VALUES);
  return {
    ...{ values, names: await readNames(values, query, deps) },
    isCut: isCut || all.length > MAX_FINDING_VALUES,
  };
}

async function readNames(
  shown: object,
  { connection }: FindingFilters,
  deps: OperationDeps,
): Promise<Record<string, string>> {
  const ids = chosenConnections(deps, connection);
  const rules = await Promise.all(ids.map((id) => deps.store.rules.find(id)));
  return Object.assign({}, ...rules.map((one) => (one?.lookups ? usedNames(shown, one.lookups) : {})));
}

async function downloadFindingValues(query: FindingFilters, deps: OperationDeps) {
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
async function countSelected(filters: Filters, deps: OperationDeps) {
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

function countAll({ states, unmanaged }: PeopleSummary): number {
  return Object.values(states).reduce((sum, people) => sum + people, unmanaged);
}

/** Reads the people whom filters select; undefined if they are too many to be reconciled. */
async function readSelection(filters: Filters, deps: OperationDeps): Promise<ListedPerson[][] | undefined> {
  const pages: ListedPerson[][] = [];
  let people = 0;
  for await (const page of selectPeople(filters, deps)) {
    people += page.length;
    if (people > MAX_RECONCILED) return undefined;
    pages.push(page);
  }
  return pages;
}

async function reconcileSelected(filters: Filters, note: OperationContext['note'], deps: OperationDeps) {
  note(filters);
  const pages = await readSelection(filters, deps);
  if (!pages)
    throw new OperationError(
      'conflict',
      'More than 10,000 people match these filters. Choose narrower ones.',
    );
  const people = await reconcilePeople(deps.store.reconcileQueue, inTurns(pages), deps.now);
  note({ people });
  deps.wake();
  return { people };
}

async function* inTurns(pages: ListedPerson[][]): AsyncGenerator<ListedPerson[]> {
  for (const page of pages) {
    yield page;
    await yieldToEventLoop();
  }
}

function toCounts(summary: PeopleSummary) {
  const { connection, states, unmanaged, findings, areFindingsCut } = summary;
  return {
    ...{ connection, states, unmanaged, areFindingsCut },
    people: countAll(summary),
    findings: [...findings].map(([code, people]) => ({ code, people })),
  };
}

/** The number of people that a search returns. */
const MAX_FOUND = 10;

/**
 * Searches people: first those whom the text names exactly, deleted ones included, then those of whom a name or address begins with it, then
 * those who have it in any place, which takes longest.
 */
async function search(text: string, deps: OperationDeps): Promise<ListedPerson[]> {
  if (text === '') return [];
  const { store } = deps;
  const connections = deps.connectionIds();
  const found = new Map<string, ListedPerson>();
  const add = (people: ListedPerson[]) => {
    for (const person of people) if (!found.has(keyOf(person))) found.set(keyOf(person), person);
  };
  for (const connection of connections) {
    const own = await store.people.findOwnTravelId(connection);
    const named = (await findPeople(store, [connection], text)).map(toListedPerson);
    add(
      named.filter(({ isUnmanaged, travelId }) => !isUnmanaged || travelId === undefined || travelId !== own),
    );
  }
  for (const find of [store.people.findByPrefix, store.people.findByText])
    for (const connection of connections)
      if (found.size < MAX_FOUND) add(await find(connection, text, MAX_FOUND));
  return [...found.values()].slice(0, MAX_FOUND);
}

function keyOf({ connection, id }: ListedPerson): string {
  return `${connection} ${id}`;
}

import { z } from 'zod';
import { holdCauses, identityStates, successionEffects } from '../../provisioning/identity.ts';
import { fieldStandings } from '../../provisioning/people/explain-fields.ts';
import { personStatuses } from '../../provisioning/people/explain-person.ts';
import { findingValueColumns } from '../../provisioning/people/finding-values.ts';
import { peopleColumns, peopleSorts } from '../../provisioning/people/people.ts';
import { verdicts } from '../../provisioning/users/evidence.ts';
import type { Contract } from './operation.ts';
import {
  count,
  findingMembers,
  optionalInteger,
  optionalText,
  optionalTime,
  ruleMembers,
  time,
} from './schemas.ts';

const text = z.string().max(300);
const json = z.unknown().optional();

const finding = z
  .object({
    ...findingMembers,
    field: z.string().describe('The key of a field of the traveler; * for all'),
    mappingPath: optionalText.describe('The place of the fault in the mapping'),
  })
  .meta({ id: 'Finding', description: 'A value that was not set on the traveler, why, and what to do' });

const person = z
  .object({
    connection: z.string(),
    id: z.string(),
    userName: z.string(),
    name: z.string().describe('Empty if the user has none'),
    state: z.enum(identityStates),
    holdCause: z.enum(holdCauses).optional(),
    travelId: optionalText,
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
    findings: z.array(z.object({ code: z.string(), people: count })),
    areFindingsCut: z.boolean().describe('True if only the first 20,000 people with findings were counted'),
  })
  .meta({ id: 'PeopleCounts', description: 'The people of a connection by state and finding' });
export type PeopleCounts = z.input<typeof peopleCounts>;

const rule = z.object(ruleMembers).meta({
  id: 'AppliedRule',
  description: 'The effect of one rule on one field, when the user was last translated',
});

const field = z
  .object({
    field: z.string(),
    standing: z.enum(fieldStandings),
    rules: z.array(rule),
    source: json.describe('The value of the identity provider'),
    wanted: json.describe('The value that the rules made of it'),
    sent: json,
    answered: json.describe('The answer of the travel API, if it is spelled differently'),
    observed: json.describe('The value of the traveler as last read'),
    refusal: optionalText,
  })
  .meta({ id: 'PersonField', description: 'One field, from the identity provider to the traveler' });
export type PersonField = z.input<typeof field>;

const explanation = z
  .object({
    ...{ connection: z.string(), id: z.string(), userName: z.string(), name: z.string() },
    ...{ isDeleted: z.boolean(), state: z.enum(identityStates) },
    verdict: z.object({
      status: z.enum(personStatuses),
      because: optionalText,
      since: optionalTime,
      until: optionalTime,
    }),
    findings: z.array(finding),
    fields: z.array(field),
    references: z.array(
      z.object({
        raw: z.string().describe('The value of the identity provider'),
        standing: z.enum(['resolved', 'unknown', 'notLinked', 'self', 'circle']),
        ...{ id: optionalText, userName: optionalText, travelId: optionalText },
      }),
    ),
    predecessor: z
      .object({
        verdict: z.enum(verdicts),
        row: z.int().min(1).max(7),
        effect: z.enum(successionEffects),
        ...{ connection: z.string(), id: optionalText, travelId: optionalText },
      })
      .optional()
      .describe('The leaver in whose place the person is, with the row of the table of evidence'),
    travelId: optionalText,
    version: z.int(),
    reconciledVersion: optionalInteger.describe('The version that fields and findings belong to'),
    ...{ rulesGeneration: z.int(), rulesInForce: z.int(), attempts: z.int() },
    mappingVersion: optionalInteger.describe(
      'The version of the mapping with which the person was translated last, as in its history',
    ),
    mappingInForce: optionalInteger,
    ...{ createdAt: time, lastModified: time, deletedAt: optionalTime },
    ...{ nextAttemptAt: optionalTime, checkAt: optionalTime },
    exchanges: z
      .array(
        z.object({
          position: z.string(),
          direction: z.enum(['scim', 'oauth', 'travel']),
          at: time,
          ms: z.number(),
          method: z.string(),
          path: z.string(),
          status: optionalInteger,
          error: optionalText,
          requestId: optionalText,
        }),
      )
      .describe('The last requests about the person and calls for them, newest first'),
    names: z.record(z.string(), z.string()).describe('The names of ids in the fields'),
  })
  .meta({ id: 'PersonExplanation', description: 'Everything that is stored about a person' });
export type PersonExplanation = z.input<typeof explanation>;

/** The filters of lists of people. */
const filters = {
  connection: text.optional(),
  state: z.enum(identityStates).optional(),
  finding: text.optional().describe('The code of a finding'),
  field: text.optional().describe('The field of that finding'),
  value: text.optional().describe('The value of that finding, as listFindingValues has it'),
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
const findingFilters = { connection: filters.connection, finding: filters.finding };

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
export const peopleContract = {
  listPeople: {
    ...{ method: 'get', path: '/people', tag: 'People', access: 'viewer' },
    summary: 'List people by connection. A page can be short, or empty, although others follow',
    query: z.strictObject({
      ...filters,
      sort: z
        .enum(peopleSorts)
        .optional()
        .describe(
          'The order in each connection; without it by userName. state: those first who need an admin; changed: the latest first',
        ),
      after: z.string().max(4_000).optional().describe('`next` of the page before'),
      limit: z.coerce.number<number>().int().min(1).max(500).default(100),
    }),
    result: z.object({
      people: z.array(person),
      next: optionalText,
      connections: z.array(z.string()).describe('All connections'),
    }),
  },
  downloadPeople: {
    ...{ method: 'get', path: '/people.csv', tag: 'People', access: 'viewer' },
    summary: 'Download the people whom filters select as CSV',
    query: z.strictObject(filters),
    csv: peopleColumns,
  },
  listFindingValues: {
    ...{ method: 'get', path: '/people/findings', tag: 'People', access: 'viewer' },
    summary: 'Count people by the codes, fields and values of their findings, the most frequent first',
    query: z.strictObject(findingFilters),
    result: z.object({
      values: z.array(findingValue),
      isCut: z
        .boolean()
        .describe(
          'True if only the first 10,000 people with findings were counted, or only the 1,000 most frequent values are listed',
        ),
    }),
  },
  downloadFindingValues: {
    ...{ method: 'get', path: '/people/findings.csv', tag: 'People', access: 'viewer' },
    summary:
      'Download the counts of listFindingValues as CSV, of everybody. They follow when all are counted',
    query: z.strictObject(findingFilters),
    csv: findingValueColumns,
  },
  countSelectedPeople: {
    ...{ method: 'get', path: '/people/selection', tag: 'People', access: 'viewer' },
    summary: 'Count the people whom filters select, up to some 10,000',
    query: z.strictObject(filters),
    result: z.object({
      people: count,
      withFindings: count,
      isMore: z.boolean().describe('True if counting stopped at `people`'),
    }),
  },
  reconcilePeople: {
    ...{ method: 'post', path: '/people/reconcile', tag: 'People', access: 'admin' },
    summary: 'Bring the travelers of the people whom filters select up to date now; 409 for more than 10,000',
    body: z.strictObject(filters),
    result: z.object({ people: count }),
    errors: ['conflict'],
  },
  countPeople: {
    ...{ method: 'get', path: '/people/counts', tag: 'People', access: 'viewer' },
    summary: 'Count the people of each connection by state and by the codes of their findings',
    result: z.object({ connections: z.array(peopleCounts) }),
  },
  findPeople: {
    ...{ method: 'get', path: '/people/search', tag: 'People', access: 'viewer' },
    summary:
      'Find ten people by a part of a name, address, employee number, id, or value of a finding; those whom it names or who begin with it first',
    query: z.strictObject({ text: z.string().trim().max(300).default('') }),
    result: z.object({ people: z.array(person) }),
  },
  explainPerson: {
    ...{ method: 'get', path: '/people/{connection}/{id}', tag: 'People', access: 'viewer' },
    summary: 'Explain a person: the state and why, findings, and each field from the IdP to the traveler',
    result: explanation,
  },
  reconcilePerson: {
    ...{ method: 'post', path: '/people/{connection}/{id}/reconcile', tag: 'People', access: 'admin' },
    summary: 'Bring the traveler of a person up to date now',
  },
  joinPerson: {
    ...{ method: 'post', path: '/people/{connection}/{id}/join', tag: 'People', access: 'admin' },
    summary:
      'Give a person the traveler of the leaver in whose place the person is, because both are one person',
    errors: ['conflict'],
  },
} as const satisfies Contract;

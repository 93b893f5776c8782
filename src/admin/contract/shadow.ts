import { z } from 'zod';
import { connectionModeNames } from '../../provisioning/policies.ts';
import { shadowColumns, shadowOutcomes } from '../../provisioning/shadow/report.ts';
import type { Contract } from './operation.ts';
import { count, findingMembers, limit, next, optionalText, time } from './schemas.ts';

const outcome = z
  .enum(shadowOutcomes)
  .describe(
    'What going live does: create, link, change, reactivate or end (archive or delete) the traveler; leftOut: no traveler is made or changed, because a value is missing or an admin must decide; same: nothing; unplanned: no attempt has planned the person yet under the rules in force; notSent: nothing, because the identity provider has never sent such a person',
  );

const field = z.object({
  field: z.string(),
  before: z.unknown().describe('Null if there is no value'),
  after: z.unknown().describe('An object with `travelerOf` is the traveler of that user, who has none yet'),
});

const person = z
  .object({
    ...{ connection: z.string(), id: z.string(), userName: z.string() },
    name: z.string().describe('Empty if the user has none'),
    travelId: optionalText,
    outcome,
    fields: z.array(field),
    findings: z.array(z.object(findingMembers)),
  })
  .meta({ id: 'ShadowPerson', description: 'What going live would do with a person' });
export type ShadowPerson = z.input<typeof person>;

const names = z.record(z.string(), z.string()).describe('The names of the ids in the fields');

const digest = z.string().max(100).describe('Names the plan of everybody at one time');

/** The modes of connections, and the reports of those in shadow mode. */
export const shadowContract = {
  changeConnectionMode: {
    ...{ method: 'put', path: '/connections/{id}/mode', tag: 'Shadow', access: 'admin' },
    summary: 'Put a connection into another mode. To leave shadow mode with an approved plan, use `goLive`',
    body: z.strictObject({ mode: z.enum(connectionModeNames) }),
    errors: ['notFound', 'conflict'],
  },
  listShadowPeople: {
    ...{ method: 'get', path: '/connections/{id}/shadow/people', tag: 'Shadow', access: 'viewer' },
    summary:
      'List what going live would do with each person, by userName. A page can be short, or empty, although others follow',
    query: z.strictObject({
      outcome: outcome.optional(),
      after: z.string().max(4_000).optional().describe('`next` of the page before'),
      limit,
    }),
    result: z.object({ people: z.array(person), names, next }),
    errors: ['notFound', 'conflict'],
  },
  summarizeShadow: {
    ...{ method: 'get', path: '/connections/{id}/shadow', tag: 'Shadow', access: 'viewer' },
    summary: 'Sum up what going live would do. Reads everybody: 10,000 people take about a second',
    result: z.object({
      since: time,
      people: z.record(z.enum(shadowOutcomes), count),
      fields: z
        .record(z.string(), count)
        .describe('The number of existing travelers of whom each field changes'),
      names,
      digest,
    }),
    errors: ['notFound', 'conflict'],
  },
  downloadShadow: {
    ...{ method: 'get', path: '/connections/{id}/shadow.csv', tag: 'Shadow', access: 'viewer' },
    summary: 'Download what going live would do as CSV, with a line for each changed field',
    csv: shadowColumns,
    errors: ['notFound', 'conflict'],
  },
  goLive: {
    ...{ method: 'post', path: '/connections/{id}/go-live', tag: 'Shadow', access: 'admin' },
    summary:
      'Go live with the plan of a report. If plans have changed since, nothing is done, and they are returned. While people are not planned yet under the rules in force, the request is refused',
    body: z.strictObject({
      digest,
      acceptedChanges: count
        .optional()
        .describe(
          'The number of changed plans that an earlier answer has returned: the connection goes live nevertheless, and the safety valve applies to them',
        ),
    }),
    result: z.object({
      outcome: z.enum(['live', 'changed']),
      approved: count.describe('The number of approved changes that the safety valve counts'),
      changed: count.describe('The number of plans that have changed since the report'),
      examples: z.array(person).describe('Some of the changed plans'),
    }),
    errors: ['notFound', 'conflict'],
  },
} as const satisfies Contract;

import { z } from 'zod';
import { heldPersonColumns } from '../../provisioning/holds/held-people.ts';
import { holdAnswers, holdCauses, identityStates } from '../../provisioning/identity.ts';
import type { Contract } from './operation.ts';
import { count, id, limit, optionalInteger, optionalText, time } from './schemas.ts';

const cause = z
  .enum(holdCauses)
  .describe(
    'safetyValve: too many people left at once; guarded: an administrator of the travel service; neverProvisioned: the identity provider has deleted somebody whom it had never sent; return: another person takes the place of a leaver; rules: other rules or lookups would change many people; groups: changes of groups have cleared or replaced values of many people',
  );

const answer = z.enum(holdAnswers);
const effects = z
  .object({ archived: count, deleted: count, changed: count })
  .meta({ id: 'HoldEffects', description: 'The number of travelers by what an approval does to them' });
export type HoldEffects = z.input<typeof effects>;

const heldPerson = z
  .object({
    id,
    userName: z.string(),
    since: time,
    version: z.int().describe('The version that a decision applies to; a later write has another one'),
    wants: z
      .enum(['change', 'deactivate', 'delete'])
      .describe('The change that the identity provider requested'),
    effect: z.enum(['archived', 'deleted', 'changed']).describe('The effect of an approval on the traveler'),
  })
  .meta({ id: 'HeldPerson' });
export type HeldPerson = z.input<typeof heldPerson>;

const change = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() });

const rulesEffect = z
  .object({
    looked: count.describe('The number of people who were looked at so far'),
    isComplete: z.boolean().describe('False while people are being looked at'),
    people: count.describe('The number of people whom the change affects'),
    fields: z.array(
      z.object({
        ...{ field: z.string(), people: count },
        values: z
          .array(z.object({ before: z.unknown(), after: z.unknown(), people: count }))
          .describe('The most frequent changes of values; null is a missing value'),
        others: count.describe('The number of people with other changes of values'),
      }),
    ),
    examples: z.array(z.object({ id, userName: z.string(), changes: z.array(change) })),
    names: z
      .record(z.string(), z.string())
      .describe('The names of custom fields by key, and of the resources that the values contain by id'),
  })
  .meta({ id: 'RulesEffect', description: 'The effect of a held change of rules or lookups' });
export type RulesEffect = z.input<typeof rulesEffect>;

const progress = {
  people: count.describe('The number of people who are reconciled because of the decision'),
  left: count.describe('The number of them who are not reconciled yet'),
  affected: count.optional().describe('Of a change of rules: the number of people whom it affects'),
};

const decision = z.int().min(1).describe('The number of a decision, by which its people are listed');

const openDecision = z
  .object({ connection: id, cause, answer, by: z.string(), decision, ...progress })
  .meta({ id: 'OpenDecision', description: 'A decision that is being carried out' });
export type OpenDecision = z.input<typeof openDecision>;

const group = z
  .object({
    connection: id,
    cause,
    people: count,
    isMore: z.boolean().describe('True if not all people were counted'),
    since: time,
    causedBy: z.string(),
    why: z.string(),
    ifDiscarded: z.string(),
    effects,
    examples: z.array(heldPerson),
    generation: optionalInteger.describe('Of a change of rules that waits for a decision: its generation'),
    effect: rulesEffect
      .optional()
      .describe('Of a change of rules that waits for a decision: its effect, once it is being computed'),
  })
  .meta({ id: 'HoldGroup', description: 'The people of a connection who are held for one cause' });
export type HoldGroup = z.input<typeof group>;

/** The operations on changes that wait for the decision of an admin. */
export const holdsContract = {
  listHolds: {
    ...{ method: 'get', path: '/holds', tag: 'Holds', access: 'viewer' },
    summary: 'List how many people wait for the decision of an admin, by connection and cause',
    result: z.object({
      people: count,
      groups: z.array(group),
      decisions: z.array(openDecision).describe('The decisions of the last day that are being carried out'),
    }),
  },
  downloadHeldPeople: {
    ...{ method: 'get', path: '/holds.csv', tag: 'Holds', access: 'viewer' },
    summary: 'Download the people who wait as CSV, by connection and cause, the longest waiting first',
    query: z.strictObject({ connection: id.optional(), cause: cause.optional() }),
    csv: heldPersonColumns,
  },
  listHeldPeople: {
    ...{ method: 'get', path: '/holds/{connection}/{cause}', tag: 'Holds', access: 'viewer' },
    summary: 'List the people of a group, the longest waiting first',
    query: z.strictObject({
      after: z
        .string()
        .regex(/^\d{1,15}\..{1,200}$/, 'is not a `next` of this list')
        .optional()
        .describe('The `next` of the page before'),
      limit,
    }),
    result: z.object({ people: z.array(heldPerson), next: optionalText }),
  },
  explainHold: {
    ...{ method: 'get', path: '/people/{connection}/{id}/hold', tag: 'Holds', access: 'viewer' },
    summary: 'Tell why a person waits, and what each decision would do; 404 if the person is not held',
    result: z.object({
      ...heldPerson.shape,
      connection: id,
      cause,
      why: z.string(),
      causedBy: z.string(),
      answer: answer.optional().describe('The decision that has been made about this version'),
      ifApproved: z.string(),
      ifDiscarded: z.string(),
    }),
  },
  decideHolds: {
    ...{ method: 'post', path: '/holds/decisions', tag: 'Holds', access: 'admin' },
    summary: 'Approve or discard what is held, for some people or for a whole group',
    body: z
      .strictObject({
        ...{ connection: id, cause, answer },
        people: z
          .array(z.strictObject({ id, version: z.int() }))
          .min(1)
          .max(1000)
          .optional()
          .describe('The people whom the decision concerns'),
        count: z
          .int()
          .min(0)
          .optional()
          .describe('Instead of `people`: the `people` of the group; 409 if it is another number by now'),
        generation: optionalInteger.describe('With `count`: the `generation` of the group, if it has one'),
      })
      .refine(({ people, count }) => (people === undefined) !== (count === undefined), {
        path: ['people'],
        message: 'either people or count is needed',
      }),
    result: z.object({
      decided: count.describe('The number of people whom the decision concerned'),
      decision,
      skipped: count.describe(
        'The number of people that were left out, because another admin has decided or the identity provider has written',
      ),
    }),
    errors: ['notFound', 'conflict'],
  },
  readDecision: {
    ...{ method: 'get', path: '/holds/decisions/{connection}/{decision}', tag: 'Holds', access: 'viewer' },
    summary: 'Tell how far a decision is carried out, and list its people who have no later one',
    query: z.strictObject({ after: id.optional().describe('The `next` of the page before'), limit }),
    result: z.object({
      ...progress,
      listed: z.array(z.object({ id, userName: z.string(), state: z.enum(identityStates) })),
      next: optionalText,
    }),
  },
} as const satisfies Contract;

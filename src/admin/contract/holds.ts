import { z } from 'zod';
import { heldPersonColumns } from '../../provisioning/holds/held-people.ts';
import { holdAnswers, holdCauses } from '../../provisioning/identity.ts';
import type { Contract } from './operation.ts';
import { id, limit, time } from './schemas.ts';

const cause = z.enum(holdCauses).meta({
  description:
    'safetyValve: too many people left at once; guarded: an administrator of the travel service; neverProvisioned: the identity provider has deleted somebody whom it had never sent; return: another person takes the place of a leaver; rules: other rules or lookups would change many people; groups: changes of groups have cleared or replaced values of many people',
});

const answer = z.enum(holdAnswers);
const count = z.int().min(0);

const effects = z
  .object({ archived: count, deleted: count, changed: count })
  .meta({ id: 'HoldEffects', description: 'The number of travelers by what an approval does to them' });
export type HoldEffects = z.input<typeof effects>;

const heldPerson = z
  .object({
    id,
    userName: z.string(),
    since: time,
    version: z
      .int()
      .meta({ description: 'The version that a decision applies to; a later write has another one' }),
    wants: z
      .enum(['change', 'deactivate', 'delete'])
      .meta({ description: 'The change that the identity provider requested' }),
    effect: z
      .enum(['archived', 'deleted', 'changed'])
      .meta({ description: 'The effect of an approval on the traveler' }),
  })
  .meta({ id: 'HeldPerson' });
export type HeldPerson = z.input<typeof heldPerson>;

const group = z
  .object({
    connection: id,
    cause,
    people: count,
    isMore: z.boolean().meta({ description: 'True if counting stopped at `people`' }),
    since: time,
    causedBy: z.string(),
    why: z.string(),
    ifDiscarded: z.string(),
    effects,
    examples: z.array(heldPerson),
    generation: z
      .int()
      .optional()
      .meta({ description: 'Of a change of rules that waits for a decision: its generation' }),
  })
  .meta({ id: 'HoldGroup', description: 'The people of a connection who are held for one cause' });
export type HoldGroup = z.input<typeof group>;

/** The operations on changes that wait for the decision of an admin. */
export const holdsContract = {
  listHolds: {
    ...{ method: 'get', path: '/holds', tag: 'Holds', access: 'viewer' },
    summary: 'List how many people wait for the decision of an admin, by connection and cause',
    result: z.object({ people: count, groups: z.array(group) }),
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
        .meta({ description: 'The `next` of the page before' }),
      limit,
    }),
    result: z.object({ people: z.array(heldPerson), next: z.string().optional() }),
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
      answer: answer.optional().meta({ description: 'The decision that has been made about this version' }),
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
          .meta({ description: 'The people whom the decision concerns' }),
        count: z.int().min(1).optional().meta({
          description: 'Instead of `people`: the `people` of the group; 409 if it is another number by now',
        }),
        generation: z
          .int()
          .optional()
          .meta({ description: 'With `count`: the `generation` of the group, if it has one' }),
      })
      .refine(({ people, count }) => (people === undefined) !== (count === undefined), {
        path: ['people'],
        message: 'either people or count is needed',
      }),
    result: z.object({
      decided: count.meta({ description: 'The number of people whom the decision concerned' }),
      skipped: count.meta({
        description:
          'The number of people that were left out, because another admin has decided or the identity provider has written',
      }),
    }),
    errors: ['notFound', 'conflict'],
  },
} as const satisfies Contract;

import { z } from 'zod';
import type { HeldPerson, HoldCount, RequestedChanges } from '../../model/holds.ts';
import type { HoldCause } from '../../model/identity.ts';
import { holdAnswers, holdCauses, identityStates } from '../../model/identity.ts';
import type { Policies } from '../../model/policies.ts';
import { countText } from '../../model/texts.ts';
import {
  type DecisionSubject,
  decide,
  resultDetails,
  subjectDetails,
} from '../../provisioning/holds/decide.ts';
import { heldPeoplePages, heldPersonColumns } from '../../provisioning/holds/held-people.ts';
import {
  answerTo,
  approvalText,
  causeTexts,
  requestedChange,
  toHeldPerson,
  travelerEnd,
} from '../../provisioning/holds/holds.ts';
import { chosenConnections, type OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type OperationContext, type Operations, operation } from '../operation.ts';
import { count, id, limit, optionalText, time } from '../schemas.ts';
import { listOpenDecisions } from './open-decisions.ts';

const cause = z
  .enum(holdCauses)
  .describe(
    'safetyValve: too many people left at once, or a departure that was discarded before or that only a restored backup states; guarded: an administrator of the travel service; neverProvisioned: the identity provider has deleted somebody whom it had never sent',
  );

const answer = z.enum(holdAnswers);

const effects = z
  .object({ archived: count, deleted: count, changed: count })
  .meta({ id: 'HoldEffects', description: 'The number of travelers by what an approval does to them' });

export type HoldEffects = z.input<typeof effects>;

const listedPerson = z
  .object({
    id,
    userName: z.string(),
    name: z.string().describe('Empty if the user has none'),
    since: time,
    version: z.int().describe('The version that a decision applies to; a later write has another one'),
    wants: z
      .enum(['change', 'deactivate', 'delete'])
      .describe('The change that the identity provider requested'),
    effect: z.enum(['archived', 'deleted', 'changed']).describe('The effect of an approval on the traveler'),
  })
  .meta({ id: 'HeldPerson' });

export type ListedHeldPerson = z.input<typeof listedPerson>;

const progress = {
  people: count.describe(
    'The number of people whose travelers are brought up to date because of the decision',
  ),
  left: count.describe('The number of them who still wait'),
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
    since: time,
    causedBy: z.string(),
    why: z.string(),
    ifDiscarded: z.string(),
    effects,
    examples: z.array(listedPerson),
  })
  .meta({ id: 'HoldGroup', description: 'The people of a connection who are held for one cause' });

export type HoldGroup = z.input<typeof group>;

const decisionBody = z
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
  })
  .refine(({ people, count }) => (people === undefined) !== (count === undefined), {
    path: ['people'],
    message: 'either people or count is needed',
  });

/** The operations on changes that wait for the decision of an admin. */
export const holdOperations = {
  listHolds: operation(
    {
      ...{ method: 'get', path: '/holds', tag: 'Holds', access: 'viewer' },
      summary: 'List how many people wait for the decision of an admin, by connection and cause',
      result: z.object({
        people: count,
        groups: z.array(group),
        proposed: z
          .array(z.object({ connection: id, since: time }))
          .describe('The connections for which proposed rules wait'),
        decisions: z.array(openDecision).describe('The decisions of the last day that are being carried out'),
      }),
    },
    async (_input, deps) => {
      const [counts, requested] = [
        await deps.store.holds.countHolds(),
        await deps.store.holds.countRequestedChanges(),
      ];
      const groups = await Promise.all(counts.map((count) => toGroup(count, requested, deps)));
      const { audit, now } = deps;
      const source = { audit, holds: deps.store.holds, now: now() };
      return {
        people: counts.reduce((sum, { count }) => sum + count, 0),
        proposed: (await deps.store.modes.list()).flatMap(({ connection, proposedSince: since }) =>
          since === undefined ? [] : [{ connection, since }],
        ),
        groups: groups.sort((one, other) => one.since - other.since),
        decisions: await listOpenDecisions(source, deps.connectionIds()),
      };
    },
  ),
  downloadHeldPeople: operation(
    {
      ...{ method: 'get', path: '/holds.csv', tag: 'Holds', access: 'viewer' },
      summary: 'Download the people who wait as CSV, by connection and cause, the longest waiting first',
      query: z.strictObject({ connection: id.optional(), cause: cause.optional() }),
      csv: heldPersonColumns,
    },
    async ({ query: { connection, cause } }, deps) =>
      heldPeoplePages(deps.store.holds, chosenConnections(deps, connection), cause),
  ),
  listHeldPeople: operation(
    {
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
      result: z.object({ people: z.array(listedPerson), next: optionalText }),
    },
    ({ params, query }, deps) => listHeldPeople(params, query, deps),
  ),
  explainHold: operation(
    {
      ...{ method: 'get', path: '/people/{connection}/{id}/hold', tag: 'Holds', access: 'viewer' },
      summary: 'Tell why a person waits, and what each decision would do; 404 if the person is not held',
      result: z.object({
        ...listedPerson.shape,
        connection: id,
        cause,
        why: z.string(),
        causedBy: z.string(),
        answer: answer.optional().describe('The decision that has been made about this version'),
        ifApproved: z.string(),
        ifDiscarded: z.string(),
      }),
    },
    ({ params }, deps) => explainHold(params, deps),
  ),
  decideHolds: operation(
    {
      ...{ method: 'post', path: '/holds/decisions', tag: 'Holds', access: 'admin' },
      summary: 'Approve or discard what is held, for some people or for a whole group',
      body: decisionBody,
      result: z.object({
        decided: count.describe('The number of people whom the decision concerned'),
        decision,
        skipped: count.describe(
          'The number of people that were left out, because another admin has decided or the identity provider has written',
        ),
      }),
      errors: ['notFound', 'conflict'],
    },
    ({ body }, deps, context) => decideHolds(body, context, deps),
  ),
  readDecision: operation(
    {
      ...{ method: 'get', path: '/holds/decisions/{connection}/{decision}', tag: 'Holds', access: 'viewer' },
      summary: 'Tell how far a decision is carried out, and list its people who have no later one',
      query: z.strictObject({ after: id.optional().describe('The `next` of the page before'), limit }),
      result: z.object({
        ...progress,
        listed: z.array(z.object({ id, userName: z.string(), state: z.enum(identityStates) })),
        next: optionalText,
      }),
    },
    ({ params, query }, deps) => readDecision(params, query, deps),
  ),
} satisfies Operations;

/** The number of people that a group names. */
const EXAMPLES = 3;

async function toGroup(hold: HoldCount, requested: RequestedChanges[], deps: OperationDeps) {
  const { connection, cause, count, since } = hold;
  const policies = findPolicies(connection, deps);
  const examples = await deps.store.holds.findHeldPeople({ connection, cause, limit: EXAMPLES });
  const wanted = requested.find((one) => one.connection === connection && one.cause === cause);
  return {
    ...{ connection, cause, people: count, since },
    causedBy: causedBy(connection),
    why: causeTexts[cause].why(policies),
    ifDiscarded: causeTexts[cause].discarded,
    effects: wanted ? effectsOf(wanted, policies) : { archived: 0, deleted: 0, changed: count },
    examples: examples.map((person) => toPerson(person, policies)),
  };
}

function causedBy(connection: string): string {
  return `the identity provider of connection ${connection}`;
}

function effectsOf(wanted: RequestedChanges, policies: Policies | undefined) {
  const deleted = policies?.deprovision === 'delete' ? wanted.delete : 0;
  return { archived: wanted.deactivate + wanted.delete - deleted, deleted, changed: wanted.change };
}

function toPerson(person: HeldPerson, policies: Policies | undefined) {
  const { id, userName, name, hold, version } = person;
  return {
    ...{ id, userName, name, version, since: hold.since },
    wants: requestedChange(person),
    effect: travelerEnd(person, policies) ?? ('changed' as const),
  };
}

async function listHeldPeople(
  { connection, cause: name }: { connection: string; cause: string },
  { after, limit }: { after?: string | undefined; limit: number },
  deps: OperationDeps,
) {
  const cause = causeNamed(name);
  const policies = findPolicies(requireStored(connection, deps), deps);
  const place = after === undefined ? {} : { after: { ...toPlace(after), connection } };
  const people = await deps.store.holds.findHeldPeople({ connection, cause, ...place, limit: limit + 1 });
  const shown = people.slice(0, limit);
  const last = people.length > limit ? shown.at(-1) : undefined;
  return {
    people: shown.map((person) => toPerson(person, policies)),
    ...(last ? { next: `${last.hold.since}.${last.id}` } : {}),
  };
}

function toPlace(after: string): { since: number; id: string } {
  const point = after.indexOf('.');
  return { since: Number(after.slice(0, point)), id: after.slice(point + 1) };
}

function causeNamed(name: string): HoldCause {
  if (!Object.hasOwn(causeTexts, name)) throw new OperationError('notFound', `There is no cause ${name}.`);
  return name as HoldCause; // The table of texts has all causes and nothing else.
}

/** Returns the id of a connection of the database, whether or not the settings have it. Throws 404 if there is none of that name. */
function requireStored(id: string, { connectionIds }: OperationDeps): string {
  if (!connectionIds().includes(id)) throw new OperationError('notFound', `There is no connection ${id}.`);
  return id;
}

/** Returns the policies of a connection; undefined if the settings do not have it. */
function findPolicies(id: string, { connections }: OperationDeps): Policies | undefined {
  return connections.find(({ settings }) => settings.id === id)?.settings.policies;
}

async function explainHold({ connection, id }: { connection: string; id: string }, deps: OperationDeps) {
  const policies = findPolicies(requireStored(connection, deps), deps);
  const identity = await deps.store.identities.findById(connection, id);
  if (!identity) throw new OperationError('notFound', 'There is no such person.');
  const person = toHeldPerson(identity);
  if (!person) throw new OperationError('notFound', 'This person is not held.');
  const { cause } = person.hold;
  return {
    ...toPerson(person, policies),
    ...{ connection, cause },
    why: causeTexts[cause].why(policies),
    causedBy: causedBy(connection),
    ifApproved: approvalText(person, policies),
    ifDiscarded: causeTexts[cause].discarded,
    answer: answerTo(identity),
  };
}

/** Tells how far a decision is carried out, and lists its people. Throws 404 if nobody has it any more. */
async function readDecision(
  { connection, decision }: { connection: string; decision: string },
  { after = '', limit }: { after?: string | undefined; limit: number },
  deps: OperationDeps,
) {
  requireStored(connection, deps);
  const { holds } = deps.store;
  const at = Number(decision);
  const progress = Number.isSafeInteger(at) ? await holds.readProgress(connection, at) : undefined;
  if (!progress || progress.people === 0)
    throw new OperationError('notFound', 'No person has this decision as the last one.');
  const people = await holds.listDecided(connection, at, { after, limit: limit + 1 });
  const listed = people.slice(0, limit);
  const last = people.length > limit ? listed.at(-1) : undefined;
  return { ...progress, listed, ...(last ? { next: last.id } : {}) };
}

type Decided = z.output<typeof decisionBody>;

/** Carries out the decision of an admin. */
async function decideHolds(
  body: Decided,
  { note, caller }: Pick<OperationContext, 'note' | 'caller'>,
  deps: OperationDeps,
) {
  const { holds } = deps.store;
  const { connection, cause, answer } = body;
  note({ connection, cause, answer, asked: body.people?.length ?? body.count });
  requireStored(connection, deps);
  const subject = await toSubject(body, holds);
  note(subjectDetails(subject));
  const admin = { answer, by: caller?.shownName ?? '', now: deps.now() };
  const result = await decide(holds, subject, admin);
  const details = resultDetails(result, admin);
  note(details);
  if (result.decided === 0) throw new OperationError('conflict', NOBODY_LEFT);
  deps.wake();
  return { ...details, decision: admin.now };
}

const NOBODY_LEFT =
  'None of these people waits for this decision any more: somebody else has decided, or the identity provider has changed them. Nothing was decided now.';

/** Throws 409 if a group is not as large any more as the admin has seen it. */
async function toSubject(
  { connection, cause, people, count = 0 }: Decided,
  holds: OperationDeps['store']['holds'],
): Promise<DecisionSubject> {
  if (people) return { connection, cause, people };
  const waiting = await holds.findUndecided(connection, cause);
  if (waiting.length > 0 && waiting.length !== count)
    throw new OperationError(
      'conflict',
      `${countText(waiting.length, 'person waits', 'people wait')} by now, not ${count}. Nothing was decided; look again.`,
    );
  return { connection, cause, people: waiting };
}

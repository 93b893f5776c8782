import { z } from 'zod';
import { isOfBridge } from '../../model/exchange.ts';
import { evidenceRows, type Identity, identityStates } from '../../model/identity.ts';
import { displayNameOf } from '../../model/people.ts';
import { fieldStandings } from '../../provisioning/people/explain-fields.ts';
import { personStatuses, readExplanation } from '../../provisioning/people/explain-person.ts';
import { findPredecessor, joinPeople } from '../../provisioning/people/join-people.ts';
import { findConnection, type OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type Operations, operation } from '../operation.ts';
import {
  count,
  findingMembers,
  id,
  optionalInteger,
  optionalText,
  optionalTime,
  ruleMembers,
  time,
} from '../schemas.ts';

const json = z.unknown().optional();

/** The schema of a finding of a person. */
export const finding = z
  .object({
    ...findingMembers,
    field: z.string().describe('The key of a field of the traveler; * for all'),
    mappingPath: optionalText.describe('The place of the fault in the mapping'),
  })
  .meta({ id: 'Finding', description: 'A value that was not set on the traveler, why, and what to do' });

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
        row: z.union([z.literal(evidenceRows), z.literal('joined')]),
        ...{ connection: z.string(), id: optionalText, travelId: optionalText },
      })
      .optional()
      .describe('The user in whose place the person is, with the row of the table that says who is who'),
    travelId: optionalText,
    version: z.int(),
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

/** One person: what is known, and what an admin can do about it. */
export const personOperations = {
  explainPerson: operation(
    {
      ...{ method: 'get', path: '/people/{connection}/{id}', tag: 'People', access: 'viewer' },
      summary: 'Explain a person: the state and why, findings, and each field from the IdP to the traveler',
      result: explanation,
    },
    async ({ params }, deps) => {
      const identity = await findPerson(params, deps);
      const explanation = await readExplanation(
        { ...deps.store, exchanges: deps.exchanges, findOutage: deps.conditions.findOutage },
        identity,
        deps.now(),
      );
      const exchanges = explanation.exchanges.filter(isOfBridge);
      return { ...explanation, exchanges, name: displayNameOf(identity.desired) };
    },
  ),
  reconcilePerson: operation(
    {
      ...{ method: 'post', path: '/people/{connection}/{id}/reconcile', tag: 'People', access: 'admin' },
      summary: 'Bring the traveler of a person up to date now',
    },
    async ({ params }, deps, { note }) => {
      const { connection, id, desired } = await findPerson(params, deps);
      note({ userName: desired.userName });
      await deps.store.reconcileQueue.markDirty(connection, [id], deps.now());
      deps.wake();
    },
  ),
  sendAgain: operation(
    {
      ...{ method: 'post', path: '/connections/{id}/send-again', tag: 'People', access: 'admin' },
      summary:
        'After a restored backup, send the stored values of a person, or of everybody in the connection, where the travelers have others',
      body: z.strictObject({ person: id.optional().describe('The SCIM id; everybody if it is absent') }),
      result: z.object({ people: count }),
      errors: ['notFound'],
    },
    async ({ params, body: { person } }, deps, { note }) => {
      note({ connection: params.id, person });
      findConnection(deps, params.id);
      const people = await deps.store.restored.sendAgain(params.id, person, deps.now());
      note({ people });
      deps.wake();
      return { people };
    },
  ),
  joinPerson: operation(
    {
      ...{ method: 'post', path: '/people/{connection}/{id}/join', tag: 'People', access: 'admin' },
      summary:
        'Give a person the traveler of a leaver, because both are one person: of the one in whose place the person is, or of another',
      body: z.strictObject({
        leaver: z
          .strictObject({ connection: id, id })
          .optional()
          .describe('Somebody who left, or whom no identity provider has sent, in the same travel account'),
      }),
      errors: ['conflict'],
    },
    async ({ params, body }, deps, { note }) => {
      const newcomer = await findPerson(params, deps);
      note({ userName: newcomer.desired.userName, leaver: body.leaver });
      await join(newcomer, body.leaver && (await findPerson(body.leaver, deps)), deps);
      deps.wake();
    },
  ),
} satisfies Operations;

/** Gives a person the traveler of the chosen leaver, or of the one in whose place the person is. */
async function join(newcomer: Identity, chosen: Identity | undefined, deps: OperationDeps): Promise<void> {
  const { database } = deps;
  const accountOf = ({ connection }: Identity) => database.scopeOf(connection).account;
  if (chosen && accountOf(chosen) !== accountOf(newcomer))
    throw new OperationError('conflict', 'The two people belong to different travel accounts.');
  const leaver = chosen ?? (await findPredecessor(deps.store, newcomer));
  if (!leaver)
    throw new OperationError('conflict', 'There is no leaver with whom this person can be joined.');
  const runtime = { now: deps.now, wallClock: deps.now, newId: deps.newId };
  const result = await joinPeople({ identities: deps.store.identities, runtime }, { leaver, newcomer });
  if (result === 'joined') return;
  throw new OperationError(
    'conflict',
    result === 'stale' ? 'One of the two has just changed; look again.' : result.refused,
  );
}

/** Finds a person by the parameters of a path. Throws 404. */
export async function findPerson(
  { connection, id }: { connection: string; id: string },
  { store, connectionIds }: OperationDeps,
): Promise<Identity> {
  const identity = connectionIds().includes(connection) && (await store.identities.findById(connection, id));
  if (!identity)
    throw new OperationError('notFound', `There is no person ${id} in the connection ${connection}.`);
  return identity;
}

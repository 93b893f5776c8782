import { z } from 'zod';
import type { PersonPlace } from '../../model/people.ts';
import { connectionModeNames } from '../../model/policies.ts';
import { namesById, usedNames } from '../../provisioning/people/explain-fields.ts';
import { goLive, planningText } from '../../provisioning/shadow/go-live.ts';
import {
  type ShadowOutcome,
  shadowColumns,
  shadowOutcomes,
  shadowRowPages,
  summarizeShadow,
  toShadowPerson,
} from '../../provisioning/shadow/report.ts';
import type { Shadow } from '../../store/connection-modes.ts';
import { findConnection, type OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type OperationContext, type Operations, operation } from '../operation.ts';
import { parsePlace, placeText } from '../people/person-place.ts';
import { count, findingMembers, limit, next, optionalText, time } from '../schemas.ts';

const outcome = z
  .enum(shadowOutcomes)
  .describe(
    'What going live does: live: nothing, because the person is in the pilot, whose changes are carried out already; create, link, change, reactivate or end (archive or delete) the traveler; leftOut: no traveler is made or changed, because a value is missing or an admin must decide; same: nothing; unplanned: no attempt has planned the person yet under the rules in force; notSent: nothing, because the identity provider has never sent such a person',
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
export const shadowOperations = {
  changeConnectionMode: operation(
    {
      ...{ method: 'put', path: '/connections/{id}/mode', tag: 'Shadow', access: 'admin' },
      summary: 'Put a connection into another mode. To leave shadow mode with an approved plan, use `goLive`',
      body: z.strictObject({ mode: z.enum(connectionModeNames) }),
      errors: ['notFound', 'conflict'],
    },
    async ({ params: { id }, body: { mode } }, deps, { note }) => {
      note({ connection: id, mode });
      findConnection(deps, id);
      if (!(await deps.store.modes.change(id, { to: mode, now: deps.now() })))
        throw new OperationError('conflict', `The connection is in the mode ${mode} already.`);
      deps.wake();
    },
  ),
  listShadowPeople: operation(
    {
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
    async ({ params: { id }, query: { outcome, after, limit } }, deps) => {
      const shadow = await readShadow(deps, id);
      const place = after === undefined ? undefined : parsePlace(after, [id]).after;
      const { people, next } = await readPeople(deps, shadow, { outcome, place, limit });
      const shown = people.map(({ fields }) => fields);
      return {
        people,
        names: await readNames(deps, id, shown),
        next: next && placeText({ connection: id, after: next }),
      };
    },
  ),
  summarizeShadow: operation(
    {
      ...{ method: 'get', path: '/connections/{id}/shadow', tag: 'Shadow', access: 'viewer' },
      summary: 'Sum up what going live would do. Reads everybody: 10,000 people take about a second',
      result: z.object({
        since: time,
        pilot: optionalText.describe(
          'The SCIM filter of the people who are provisioned; absent if there are none',
        ),
        people: z.record(z.enum(shadowOutcomes), count),
        fields: z
          .record(z.string(), count)
          .describe('The number of existing travelers of whom each field changes'),
        names,
        digest,
      }),
      errors: ['notFound', 'conflict'],
    },
    ({ params: { id } }, deps) => summarize(deps, id),
  ),
  downloadShadow: operation(
    {
      ...{ method: 'get', path: '/connections/{id}/shadow.csv', tag: 'Shadow', access: 'viewer' },
      summary: 'Download what going live would do as CSV, with a line for each changed field',
      csv: shadowColumns,
      errors: ['notFound', 'conflict'],
    },
    async ({ params: { id } }, deps) => {
      const shadow = await readShadow(deps, id);
      const lookups = (await deps.store.rules.find(id))?.lookups;
      const names = lookups ? Object.fromEntries(namesById(lookups)) : {};
      return shadowRowPages(deps.store.shadowPlans.findPage, shadow, names);
    },
  ),
  goLive: operation(
    {
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
    ({ params: { id }, body }, deps, context) => leaveShadow(deps, { id, ...body }, context),
  ),
} satisfies Operations;

async function summarize(deps: OperationDeps, id: string) {
  const shadow = await readShadow(deps, id);
  const sums = await summarizeShadow(deps.store.shadowPlans.findPage, shadow, deps.now());
  return { since: shadow.since, pilot: shadow.pilot, ...sums, names: await readNames(deps, id, sums.fields) };
}

async function leaveShadow(
  deps: OperationDeps,
  { id, ...body }: { id: string; digest: string; acceptedChanges?: number | undefined },
  { note, caller }: Pick<OperationContext, 'note' | 'caller'>,
) {
  note({ connection: id, digest: body.digest });
  findConnection(deps, id);
  const { store } = deps;
  const result = await goLive(store, { connection: id, ...body, by: caller?.shownName, now: deps.now() });
  if (result.outcome === 'notInShadow') throw notInShadow();
  if (result.outcome === 'outdated')
    throw new OperationError('conflict', 'The digest is not one of a report of this time in shadow mode.');
  if (result.outcome === 'planning') throw new OperationError('conflict', planningText(result.left));
  note({ result: result.outcome, approved: 'approved' in result ? result.approved : 0 });
  deps.wake();
  return { approved: 0, examples: [], ...result };
}

/** Returns the names of the ids that `shown` contains. */
async function readNames(
  { store }: OperationDeps,
  id: string,
  shown: object,
): Promise<Record<string, string>> {
  const inForce = await store.rules.find(id);
  return inForce?.lookups ? usedNames(shown, inForce.lookups) : {};
}

/** The error of a request about a connection that is live. */
export function notInShadow(): OperationError {
  return new OperationError('conflict', 'The connection is not in shadow mode.');
}

/** Reads what is known of a connection in shadow mode. Throws 404 if there is none of that name, and 409 if it is live. */
export async function readShadow(deps: OperationDeps, id: string): Promise<Shadow> {
  findConnection(deps, id);
  const shadow = await deps.store.modes.readShadow(id);
  if (!shadow) throw notInShadow();
  return shadow;
}

const BATCH = 500;

/** Makes the people of a connection in shadow mode due who follow earlier rules or another pilot, so that they are planned at once. */
export async function planAgain(
  { store, now, wake }: Pick<OperationDeps, 'store' | 'now' | 'wake'>,
  id: string,
): Promise<void> {
  const shadow = await store.modes.readShadow(id);
  if (!shadow) return;
  for (let marked = BATCH; marked === BATCH; )
    marked = await store.reconcileQueue.markStaleDirty(id, shadow.generation, BATCH, now());
  wake();
}

interface PageRequest {
  outcome: ShadowOutcome | undefined;
  place: PersonPlace | undefined;
  limit: number;
}

/** The number of pages of the store that one request reads at most, so that it ends soon if few people match. */
const MAX_STEPS = 10;

async function readPeople(
  { store }: OperationDeps,
  shadow: Shadow,
  { outcome, place, limit }: PageRequest,
): Promise<{ people: ShadowPerson[]; next: PersonPlace | undefined }> {
  const people: ShadowPerson[] = [];
  let after = place;
  for (let step = 0; step < MAX_STEPS && people.length < limit; step += 1) {
    const page = await store.shadowPlans.findPage(shadow.connection, after, limit - people.length);
    const read = page.people.map((identity) => toShadowPerson(identity, shadow));
    people.push(...read.filter((person) => outcome === undefined || person.outcome === outcome));
    after = page.next;
    if (!after) break;
  }
  return { people, next: after };
}

import { z } from 'zod';
import { previewPilot } from '../../provisioning/shadow/pilot.ts';
import { shadowOutcomes } from '../../provisioning/shadow/report.ts';
import { isSyntaxProblem, parseCondition } from '../../translator/mapping/rule-syntax.ts';
import { type MappingScope, toScope } from '../../translator/rules/scope.ts';
import { findConnection } from '../deps.ts';
import { invalidField, OperationError } from '../errors.ts';
import { type Operations, operation } from '../operation.ts';
import { count } from '../schemas.ts';
import { notInShadow, planAgain, readShadow } from './shadow.ts';

const filter = z
  .string()
  .trim()
  .min(1)
  .max(2_000)
  .describe('A SCIM filter, as `scope` of a mapping, e.g. `groups[display eq "Pilot"]`');

/** The pilot of a connection in shadow mode: the people who are provisioned while the others are planned. */
export const pilotOperations = {
  previewPilot: operation(
    {
      ...{ method: 'get', path: '/connections/{id}/pilot', tag: 'Shadow', access: 'viewer' },
      summary: 'Count the people of another pilot. Reads everybody: 10,000 people take some seconds',
      query: z.strictObject({ filter: filter.optional().describe('Absent: without a pilot') }),
      result: z.object({
        live: count.describe('The people who would be provisioned'),
        planned: count,
        entering: z
          .record(z.enum(shadowOutcomes), count)
          .describe('The people who would enter the pilot, by their outcome in the report'),
        leaving: count.describe(
          'The people who would be planned from then on. Their travelers stay as they are',
        ),
        unknownGroups: z.array(z.string()).describe('Groups of the filter that have not been sent'),
      }),
      errors: ['notFound', 'conflict'],
    },
    async ({ params: { id }, query }, deps) => {
      const pilot = query.filter === undefined ? undefined : parsePilot(query.filter);
      return previewPilot(deps.store, await readShadow(deps, id), pilot);
    },
  ),
  changePilot: operation(
    {
      ...{ method: 'put', path: '/connections/{id}/pilot', tag: 'Shadow', access: 'admin' },
      summary:
        'Give a connection in shadow mode another pilot, or none. The plans of those who enter it are carried out, and many departures at once wait for an admin. The travelers of those who leave it stay as they are',
      body: z.strictObject({ filter: filter.nullable().describe('Null: without a pilot') }),
      errors: ['notFound', 'conflict'],
    },
    async ({ params: { id }, body }, deps, { note }) => {
      note({ connection: id, pilot: body.filter });
      findConnection(deps, id);
      if (body.filter !== null) parsePilot(body.filter);
      const result = await deps.store.modes.changePilot(id, body.filter ?? undefined);
      if (result === 'notInShadow') throw notInShadow();
      if (result === 'unchanged')
        throw new OperationError('conflict', 'The connection has this pilot already.');
      await planAgain(deps, id);
    },
  ),
} satisfies Operations;

/** Throws 422 with the place of the fault. */
function parsePilot(text: string): MappingScope {
  const parsed = parseCondition(text);
  if (isSyntaxProblem(parsed)) throw invalidField('filter', `${parsed.problem}. ${parsed.remedy}`);
  return toScope(text, parsed);
}

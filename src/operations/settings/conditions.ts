import { z } from 'zod';
import { type Condition, conditionKinds } from '../../model/conditions.ts';
import { nextStepFor } from '../../provisioning/conditions/next-steps.ts';
import { EVERY_CONNECTION, reportedConditions } from '../../store/queues/reported-conditions.ts';
import type { OperationDeps } from '../deps.ts';
import { invalidField, OperationError } from '../errors.ts';
import { type OperationContext, type Operations, operation } from '../operation.ts';
import { count, optionalText, optionalTime, time } from '../schemas.ts';

const kind = z.enum(conditionKinds);

/** A condition in a list. */
export const listedCondition = z
  .object({
    kind,
    connection: optionalText.describe('Absent if it concerns the whole service'),
    subject: optionalText.describe('The cause of holds, the code of findings, or the name of a token'),
    severity: z.enum(['failing', 'warning']),
    since: optionalTime,
    people: count.optional(),
    text: z.string().describe('One sentence. Its times are like 2026-11-20T14:02Z'),
    path: optionalText.describe('The path of the page that shows it, below /admin'),
    command: optionalText.describe('The command that shows or remedies it'),
    next: z.string().describe('What to do about it, in a sentence. Empty if `text` says it'),
    acknowledged: z
      .object({
        by: z.string(),
        until: time,
        isOfKind: z.boolean().describe('True if all conditions of the kind are kept quiet'),
      })
      .optional()
      .describe('Until that time no alert tells the condition again'),
  })
  .meta({ id: 'Condition' });

const until = optionalTime.describe('At most 90 days from now. Without it, alerts are sent again');

/** The conditions that need attention, and which of them alerts do not tell. */
export const conditionOperations = {
  listConditions: operation(
    {
      ...{ method: 'get', path: '/conditions', tag: 'Alerts', access: 'viewer' },
      summary: 'List what needs attention now, and the kinds of conditions that are kept quiet',
      result: z.object({
        conditions: z.array(listedCondition).describe('What fails comes first'),
        quiet: z.array(z.object({ kind, by: z.string(), until: time })),
      }),
    },
    async (_input, deps) => ({
      conditions: (await readConditions(deps)).map((one) => withNextStep(one, deps)),
      quiet: await listQuiet(deps),
    }),
  ),
  acknowledgeCondition: operation(
    {
      ...{ method: 'put', path: '/conditions/acknowledgement', tag: 'Alerts', access: 'admin' },
      summary:
        'Acknowledge a condition: no alert tells it again until a time. It ends with the condition, whose end is told',
      body: z.strictObject({
        kind,
        connection: optionalText.describe('Absent for a condition of the whole service'),
        subject: optionalText.describe('The subject of the condition, if it has one'),
        until,
      }),
      errors: ['notFound'],
    },
    async ({ body }, deps, context) => {
      const { kind, connection, subject } = body;
      context.note({ kind, connection, subject });
      const isMeant = (one: Condition) =>
        one.kind === kind && one.connection === connection && one.subject === subject;
      const condition = (await readConditions(deps)).find(isMeant);
      if (!condition) throw new OperationError('notFound', 'There is no such condition at the moment.');
      await acknowledge({ ...condition, until: body.until }, deps, context);
    },
  ),
  quietConditions: operation(
    {
      ...{ method: 'put', path: '/conditions/quiet', tag: 'Alerts', access: 'admin' },
      summary:
        'Keep all conditions of a kind quiet: until a time no alert tells that one has opened or grown',
      body: z.strictObject({ kind, until }),
    },
    ({ body }, deps, context) => {
      context.note({ kind: body.kind });
      return acknowledge({ ...body, connection: EVERY_CONNECTION }, deps, context);
    },
  ),
} satisfies Operations;

async function readConditions(deps: OperationDeps): Promise<Condition[]> {
  return (await deps.conditions.read(await deps.peopleSummaries.read())).conditions;
}

/** Adds what to do about a condition. */
export function withNextStep(condition: Condition, { connections }: Pick<OperationDeps, 'connections'>) {
  const { settings } = connections.find(({ settings: { id } }) => id === condition.connection) ?? {};
  return { ...condition, next: nextStepFor(condition, settings?.travelApi.keyEnv) };
}

async function listQuiet({ database, now }: OperationDeps) {
  const reported = await reportedConditions(database).list();
  return reported.flatMap(({ kind, acknowledged }) =>
    acknowledged?.isOfKind && acknowledged.until > now() ? [{ kind, ...acknowledged }] : [],
  );
}

/** The longest time for which a condition can be acknowledged, in milliseconds. */
const MAX_MS = 90 * 86_400_000;

interface Acknowledged extends Pick<Condition, 'kind' | 'connection' | 'subject' | 'people' | 'since'> {
  /** Undefined to take the acknowledgement back. */
  until?: number | undefined;
}

async function acknowledge(
  { kind, connection = '', subject = '', people = 0, since = 0, until }: Acknowledged,
  { database, now }: OperationDeps,
  { caller, note }: OperationContext,
): Promise<void> {
  note({ until: until === undefined ? 'taken back' : new Date(until).toISOString() });
  if (until !== undefined && (until <= now() || until > now() + MAX_MS))
    throw invalidField('until', 'must be in the future, within 90 days.');
  await reportedConditions(database).acknowledge(
    { kind, connection, subject, people, since },
    until === undefined ? undefined : { by: caller?.shownName ?? '', until },
  );
}

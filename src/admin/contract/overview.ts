import { z } from 'zod';
import { conditionKinds } from '../../provisioning/conditions/conditions.ts';
import { holdCauses } from '../../provisioning/identity.ts';
import { connectionModeNames } from '../../provisioning/policies.ts';
import type { Contract } from './operation.ts';
import { count, optionalInteger, optionalText, optionalTime, time } from './schemas.ts';

const exchange = z
  .object({
    position: z.string().describe('The position in the log of exchanges'),
    at: time,
    method: z.string(),
    path: z.string(),
    status: optionalInteger.describe('Absent if there was no response'),
    error: optionalText,
    isFailed: z.boolean(),
  })
  .meta({ id: 'LastExchange' });
export type LastExchange = z.input<typeof exchange>;

const connection = z
  .object({
    id: z.string(),
    people: count,
    waiting: count.describe('People with changes that are not in the travel service yet'),
    lastRequest: exchange.optional().describe('Of the identity provider, within a day'),
    lastCall: exchange.optional().describe('Of the travel API, within a day'),
    paused: z
      .object({
        since: time,
        people: z.object({ create: count, reactivate: count, end: count, change: count }),
        isImported: z.boolean().describe('True if an import has ended since the pause'),
      })
      .optional()
      .describe(
        'The people whose changes wait in the pause, by what would be sent; absent unless the connection is paused',
      ),
    mode: z.enum(connectionModeNames),
    since: optionalTime.describe('The time at which the mode began; absent while it is live'),
    lastImport: z
      .object({ at: time, read: count, isIncomplete: z.boolean(), maximum: count.optional() })
      .optional(),
    feed: z
      .enum(['off', 'followed', 'notFollowed'])
      .describe('off: the settings disable it; notFollowed: the travel API has none, or it was not read yet'),
    mappingFaults: count.describe('Places of the mapping whose names the travel service does not know'),
    staleLookups: z
      .array(z.string())
      .describe('Lists of the travel API that this replica can no longer read: it uses older values'),
  })
  .meta({ id: 'ConnectionHealth' });
export type ConnectionHealth = z.input<typeof connection>;

const condition = z
  .object({
    kind: z.enum(conditionKinds),
    connection: optionalText.describe('Absent if it concerns the whole service'),
    subject: optionalText.describe('The cause of holds, the code of findings, or the name of a token'),
    severity: z.enum(['failing', 'warning']),
    since: optionalTime,
    people: count.optional(),
    text: z.string().describe('One sentence. Its times are like 2026-11-20T14:02Z'),
    path: optionalText.describe('The path of the page that shows it, below /admin'),
    command: optionalText.describe('The command that shows or remedies it'),
  })
  .meta({ id: 'Condition' });

const activityCounts = z
  .object({
    from: time.describe('The beginning of the span; it ends where the next one begins'),
    requests: count.describe('Of identity providers'),
    requestErrors: count,
    calls: count.describe('Of travel APIs'),
    callErrors: count,
  })
  .meta({ id: 'ActivityCounts' });
export type ActivityCounts = z.input<typeof activityCounts>;

const demoDay = z
  .object({
    phase: z
      .enum(['none', 'playing', 'interrupted', 'played', 'removing'])
      .describe('interrupted: the process that played or removed it has ended; play it again, or remove it'),
    done: count.describe('Requests that were sent'),
    total: count.describe('All requests of the day'),
    refusal: optionalText.describe('The reason for which it cannot be played; absent if it can'),
  })
  .meta({ id: 'DemoDay' });
export type DemoDayState = z.input<typeof demoDay>;

/** The state of the whole service. */
export const overviewContract = {
  readOverview: {
    ...{ method: 'get', path: '/overview', tag: 'Overview', access: 'viewer' },
    summary: 'Tell the state of the service in one sentence and in numbers',
    result: z.object({
      state: z.enum(['inStep', 'working', 'attention', 'failing', 'empty']),
      sentence: z.string().describe('Times in it are like 2026-11-20T14:02Z'),
      conditions: z.array(condition).describe('What needs attention now; what fails comes first'),
      people: z.object({
        total: count,
        ...{ synced: count, dirty: count, pending: count, refused: count, held: count },
      }),
      keptActive: count.describe('People whose departure an admin has discarded; nothing waits for them'),
      findings: z.object({
        kinds: z.array(z.object({ code: z.string(), people: count })),
        isCut: z.boolean().describe('True if only the first 20,000 people with findings were counted'),
      }),
      held: z.array(
        z.object({ connection: z.string(), cause: z.enum(holdCauses), people: count, since: time }),
      ),
      connections: z.array(connection),
      steps: z
        .object({ isConnected: z.boolean(), hasMapping: z.boolean() })
        .optional()
        .describe('Only until an identity provider has sent a person: what has been done so far'),
      demoDay,
    }),
  },
  resumeConnection: {
    ...{ method: 'post', path: '/connections/{id}/resume', tag: 'Overview', access: 'admin' },
    summary: 'Let a paused connection go on',
    errors: ['notFound', 'conflict'],
  },
  readDemoDay: {
    ...{ method: 'get', path: '/demo-day', tag: 'Overview', access: 'viewer' },
    summary: 'Tell how far the demo day is',
    result: demoDay,
  },
  playDemoDay: {
    ...{ method: 'post', path: '/demo-day', tag: 'Overview', access: 'admin' },
    summary: 'Play a day of an invented identity provider to a connection of its own',
    result: demoDay,
    errors: ['conflict'],
  },
  undoDemoDay: {
    ...{ method: 'delete', path: '/demo-day', tag: 'Overview', access: 'admin' },
    summary: 'Remove the demo day with its people, travelers, requests and connection',
    result: demoDay,
    errors: ['conflict'],
  },
  readActivity: {
    ...{ method: 'get', path: '/activity', tag: 'Overview', access: 'viewer' },
    summary: 'Count requests, calls and their errors of the last hour and the last day',
    result: z.object({
      isLogged: z.boolean().describe('False if the settings disable the log of exchanges'),
      completeSince: time.describe(
        'Everything since this time was counted. A long log is counted in several requests',
      ),
      hour: z.array(activityCounts).describe('By minute'),
      day: z.array(activityCounts).describe('By quarter of an hour'),
    }),
  },
} as const satisfies Contract;

import { z } from 'zod';
import { conditionKinds } from '../../provisioning/conditions/conditions.ts';
import { holdCauses } from '../../provisioning/identity.ts';
import { connectionModeNames } from '../../provisioning/policies.ts';
import type { Contract } from './operation.ts';
import { time } from './schemas.ts';

const count = z.int().min(0);

const exchange = z
  .object({
    position: z.string().meta({ description: 'The position in the log of exchanges' }),
    at: time,
    method: z.string(),
    path: z.string(),
    status: z.int().optional().meta({ description: 'Absent if there was no response' }),
    error: z.string().optional(),
    isFailed: z.boolean(),
  })
  .meta({ id: 'LastExchange' });
export type LastExchange = z.input<typeof exchange>;

const connection = z
  .object({
    id: z.string(),
    people: count,
    waiting: count.meta({ description: 'People with changes that are not in the travel service yet' }),
    lastRequest: exchange.optional().meta({ description: 'Of the identity provider, within a day' }),
    lastCall: exchange.optional().meta({ description: 'Of the travel API, within a day' }),
    paused: z
      .object({
        since: time,
        people: z.object({ create: count, reactivate: count, end: count, change: count }),
        isImported: z.boolean().meta({ description: 'True if an import has ended since the pause' }),
      })
      .optional()
      .meta({
        description:
          'The people whose changes wait in the pause, by what would be sent; absent unless the connection is paused',
      }),
    mode: z.enum(connectionModeNames),
    since: time.optional().meta({ description: 'The time at which the mode began; absent while it is live' }),
    lastImport: z
      .object({ at: time, read: count, isIncomplete: z.boolean(), maximum: count.optional() })
      .optional(),
    feed: z.enum(['off', 'followed', 'notFollowed']).meta({
      description:
        'off: the settings disable it; notFollowed: the travel API has none, or it was not read yet',
    }),
    mappingFaults: count.meta({
      description: 'Places of the mapping whose names the travel service does not know',
    }),
    staleLookups: z.array(z.string()).meta({
      description: 'Lists of the travel API that this replica can no longer read: it uses older values',
    }),
  })
  .meta({ id: 'ConnectionHealth' });
export type ConnectionHealth = z.input<typeof connection>;

const condition = z
  .object({
    kind: z.enum(conditionKinds),
    connection: z.string().optional().meta({ description: 'Absent if it concerns the whole service' }),
    subject: z.string().optional().meta({
      description: 'The cause of holds, the code of findings, or the name of a token',
    }),
    severity: z.enum(['failing', 'warning']),
    since: time.optional(),
    people: count.optional(),
    text: z.string().meta({ description: 'One sentence. Its times are like 2026-11-20T14:02Z' }),
    path: z.string().optional().meta({ description: 'The path of the page that shows it, below /admin' }),
    command: z.string().optional().meta({ description: 'The command that shows or remedies it' }),
  })
  .meta({ id: 'Condition' });

const activityCounts = z
  .object({
    from: time.meta({ description: 'The beginning of the span; it ends where the next one begins' }),
    requests: count.meta({ description: 'Of identity providers' }),
    requestErrors: count,
    calls: count.meta({ description: 'Of travel APIs' }),
    callErrors: count,
  })
  .meta({ id: 'ActivityCounts' });
export type ActivityCounts = z.input<typeof activityCounts>;

const demoDay = z
  .object({
    phase: z.enum(['none', 'playing', 'interrupted', 'played', 'removing']).meta({
      description:
        'interrupted: the process that played or removed it has ended; play it again, or remove it',
    }),
    done: count.meta({ description: 'Requests that were sent' }),
    total: count.meta({ description: 'All requests of the day' }),
    refusal: z
      .string()
      .optional()
      .meta({ description: 'The reason for which it cannot be played; absent if it can' }),
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
      sentence: z.string().meta({ description: 'Times in it are like 2026-11-20T14:02Z' }),
      conditions: z
        .array(condition)
        .meta({ description: 'What needs attention now; what fails comes first' }),
      people: z.object({
        total: count,
        ...{ synced: count, dirty: count, pending: count, refused: count, held: count },
      }),
      keptActive: count.meta({
        description: 'People whose departure an admin has discarded; nothing waits for them',
      }),
      findings: z.object({
        kinds: z.array(z.object({ code: z.string(), people: count })),
        isCut: z
          .boolean()
          .meta({ description: 'True if only the first 20,000 people with findings were counted' }),
      }),
      held: z.array(
        z.object({
          connection: z.string(),
          cause: z.enum(holdCauses),
          people: count,
          since: time,
        }),
      ),
      connections: z.array(connection),
      steps: z.object({ isConnected: z.boolean(), hasMapping: z.boolean() }).optional().meta({
        description: 'Only until an identity provider has sent a person: what has been done so far',
      }),
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
      isLogged: z.boolean().meta({ description: 'False if the settings disable the log of exchanges' }),
      completeSince: time.meta({
        description: 'Everything since this time was counted. A long log is counted in several requests',
      }),
      hour: z.array(activityCounts).meta({ description: 'By minute' }),
      day: z.array(activityCounts).meta({ description: 'By quarter of an hour' }),
    }),
  },
} as const satisfies Contract;

import { z } from 'zod';
import type { LoggedExchange } from '../model/exchange.ts';
import { planCodes } from '../model/findings.ts';
import { holdCauses } from '../model/identity.ts';
import { connectionModeNames } from '../model/policies.ts';
import { describeState } from '../provisioning/conditions/describe-state.ts';
import { isFeedFollowed } from '../provisioning/import/feed-task.ts';
import { isIncompleteImport, lastImportOf } from '../provisioning/import/import.ts';
import type { PeopleSummary } from '../store/identities/people-summaries.ts';
import { demoDayStates, type ServiceDeps } from './deps.ts';
import { OperationError } from './errors.ts';
import { type Operations, serviceOperation } from './operation.ts';
import { count, optionalInteger, optionalText, optionalTime, time } from './schemas.ts';
import { listedCondition, withNextStep } from './settings/conditions.ts';
import {
  type Activity,
  type ActivityCounts,
  type ActivityReader,
  emptyCounts,
  isFailed,
} from './traffic/activity.ts';

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
    mode: z.enum(connectionModeNames),
    pilot: optionalText.describe('In shadow mode, the SCIM filter of the people who are provisioned'),
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

const activityCounts = z
  .object({
    from: time.describe('The beginning of the span; it ends where the next one begins'),
    requests: count.describe('Of identity providers'),
    requestErrors: count,
    calls: count.describe('Of travel APIs'),
    callErrors: count,
  })
  .meta({ id: 'ActivityCounts' });

export type ListedActivityCounts = z.input<typeof activityCounts>;

/** The state of the whole service. */
export const overviewOperations = {
  readOverview: serviceOperation(
    {
      ...{ method: 'get', path: '/overview', tag: 'Overview', access: 'viewer' },
      summary: 'Tell the state of the service in one sentence and in numbers',
      result: z.object({
        state: z.enum(['inStep', 'working', 'attention', 'failing', 'empty']),
        sentence: z.string().describe('Times in it are like 2026-11-20T14:02Z'),
        conditions: z.array(listedCondition).describe('What needs attention now; what fails comes first'),
        people: z.object({
          total: count,
          ...{ synced: count, dirty: count, pending: count, refused: count, held: count },
          unmanaged: count.describe('People in step whom no identity provider has sent; not in `total`'),
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
        demoDay: z
          .enum(demoDayStates)
          .describe(
            'offered: it can be played as long as `steps` are there; played: the people are invented',
          ),
      }),
    },
    (_input, deps) => readOverview(deps, deps.activity),
  ),
  playDemoDay: serviceOperation(
    {
      ...{ method: 'post', path: '/demo-day', tag: 'Overview', access: 'admin' },
      summary:
        'Send a day of an invented identity provider to an empty service with the embedded travel service',
      errors: ['conflict'],
    },
    async (_input, deps) => {
      const isOffered = (await deps.demoDay.read()) === 'offered';
      const summaries = await deps.peopleSummaries.read();
      if (!isOffered || summaries.some(({ hasUsers }) => hasUsers))
        throw new OperationError('conflict', DEMO_DAY_REFUSED);
      await deps.demoDay.play();
    },
  ),
  readActivity: serviceOperation(
    {
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
    async (_input, deps) => {
      const activity = await deps.activity.read();
      const now = deps.now();
      return {
        isLogged: deps.settings.requestLog.keepDays > 0,
        completeSince: activity.completeSince,
        hour: sumBySpan(activity.minutes, { now, minutes: 1, spans: 60 }),
        day: sumBySpan(activity.minutes, { now, minutes: 15, spans: 96 }),
      };
    },
  ),
} satisfies Operations;

const DEMO_DAY_REFUSED =
  'The demo day is played once, on a service that has no people and uses the embedded travel service.';

async function readOverview(deps: ServiceDeps, reader: ActivityReader) {
  const [summaries, held] = [await deps.peopleSummaries.read(), await deps.store.holds.countHolds()];
  const { connections, activity } = await readConnections(deps, summaries, reader);
  const isFirst = !summaries.some(({ hasUsers }) => hasUsers);
  const states = sumStates(summaries);
  const total = sum(Object.values(states));
  const { conditions, facts } = await deps.conditions.read(summaries);
  return {
    ...describeState({ ...facts, conditions }),
    conditions: conditions.map((one) => withNextStep(one, deps)),
    ...{
      people: { total, ...states, unmanaged: sum(summaries.map((one) => one.unmanaged)) },
      findings: sumFindings(summaries),
      connections,
    },
    keptActive: sum(summaries.map((summary) => summary.keptActive)),
    held: held.map(({ count, ...hold }) => ({ ...hold, people: count })),
    ...(isFirst ? { steps: await readSteps(deps, activity) } : {}),
    demoDay: await deps.demoDay.read(),
  };
}

/** Reads the health of each connection. */
async function readConnections(deps: ServiceDeps, summaries: PeopleSummary[], reader: ActivityReader) {
  const { tasks, modes } = deps.store;
  const feeds = await tasks.listStates('feed');
  const faults = deps.provisioning.mappingFaults();
  const listed = await modes.list();
  // The last one, because it begins to count what is old in the background.
  const activity = await reader.read();
  const connections = deps.connections.map(({ connection: { id, feed: source }, staleLookups }) => {
    const ofThis = ({ connection }: { connection: string }) => connection === id;
    const { states } = summaries.find(ofThis) ?? { states: undefined };
    const { mode = 'live' as const, since, pilot, importState } = listed.find(ofThis) ?? {};
    const lastImport = lastImportOf(importState);
    const isFollowed = feeds.some((feed) => ofThis(feed) && isFeedFollowed(feed.state));
    const feed: 'off' | 'followed' | 'notFollowed' = isFollowed ? 'followed' : 'notFollowed';
    return {
      ...{ id, mode, since, pilot },
      ...{ people: sum(Object.values(states ?? {})), waiting: states?.dirty ?? 0 },
      lastRequest: toLastExchange(activity.findLast(id, 'scim')),
      lastCall: toLastExchange(activity.findLast(id, 'travel')),
      lastImport: lastImport && { ...lastImport, isIncomplete: isIncompleteImport(importState) },
      feed: source ? feed : ('off' as const),
      mappingFaults: faults.find(ofThis)?.count ?? 0,
      staleLookups: staleLookups(),
    };
  });
  return { connections, activity };
}

async function readSteps({ connections, store, now }: ServiceDeps, activity: Activity) {
  const ids = connections.map(({ connection }) => connection.id);
  const heads = await Promise.all(ids.map((id) => store.rules.findHead(id, now())));
  return {
    isConnected: ids.some((id) => activity.findLast(id, 'scim') !== undefined),
    hasMapping: heads.some((head) => head !== undefined && head.source !== 'default'),
  };
}

function sumStates(summaries: PeopleSummary[]): PeopleSummary['states'] {
  const of = (state: keyof PeopleSummary['states']) => sum(summaries.map(({ states }) => states[state]));
  return {
    synced: of('synced'),
    dirty: of('dirty'),
    pending: of('pending'),
    refused: of('refused'),
    held: of('held'),
  };
}

/** The most frequent findings come first. Plans of shadow mode are in its report. */
function sumFindings(summaries: PeopleSummary[]) {
  const sums = new Map<string, number>();
  for (const { findings } of summaries)
    for (const [code, people] of findings) sums.set(code, (sums.get(code) ?? 0) + people);
  const kinds = [...sums].flatMap(([code, people]) => (planCodes.has(code) ? [] : [{ code, people }]));
  return {
    kinds: kinds.sort((left, right) => right.people - left.people || (left.code < right.code ? -1 : 1)),
    isCut: summaries.some(({ areFindingsCut }) => areFindingsCut),
  };
}

function toLastExchange(exchange: LoggedExchange | undefined) {
  return exchange && { ...exchange, isFailed: isFailed(exchange) };
}

const MINUTE_MS = 60_000;

/** Adds minutes up to spans, the oldest first; the last span has the present minute. */
function sumBySpan(
  counted: Activity['minutes'],
  { now, minutes, spans }: { now: number; minutes: number; spans: number },
): ({ from: number } & ActivityCounts)[] {
  const first = (Math.floor(now / MINUTE_MS / minutes) - spans + 1) * minutes;
  return Array.from({ length: spans }, (_, index) => {
    const from = first + index * minutes;
    const counts = emptyCounts();
    for (let minute = from; minute < from + minutes; minute += 1) {
      const { requests, requestErrors, calls, callErrors } = counted.get(minute) ?? emptyCounts();
      counts.requests += requests;
      counts.requestErrors += requestErrors;
      counts.calls += calls;
      counts.callErrors += callErrors;
    }
    return { from: from * MINUTE_MS, ...counts };
  });
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

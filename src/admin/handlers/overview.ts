import type { LoggedExchange } from '../../log/exchange.ts';
import { describeState } from '../../provisioning/conditions/describe-state.ts';
import { isFeedFollowed } from '../../provisioning/import/feed-task.ts';
import { isIncompleteImport, lastImportOf } from '../../provisioning/import/import.ts';
import type { PeopleSummary } from '../../store/identities/people-summaries.ts';
import {
  type Activity,
  type ActivityCounts,
  type ActivityReader,
  activityReader,
  emptyCounts,
  isFailed,
} from '../activity.ts';
import type { Handlers } from '../contract/operation.ts';
import type { overviewContract } from '../contract/overview.ts';
import { DEMO_CONNECTION } from '../demo-day.ts';
import { type AdminDeps, findConnection } from '../deps.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';

/** Handles the overview, the numbers of its charts, and the demo day. */
export function overviewHandlers(deps: AdminDeps): Handlers<typeof overviewContract, AdminContext> {
  const { demoDay } = deps;
  const currentReader = recountingReader(deps);
  return {
    readOverview: () => readOverview(deps, currentReader()),
    resumeConnection: async ({ params: { id } }, { note }) => {
      note({ connection: id });
      findConnection(deps, id);
      if (!(await deps.store.modes.resume(id, deps.runtime.now())))
        throw new AdminError('conflict', 'The connection is not paused.');
      deps.provisioning.wake();
    },
    readDemoDay: () => demoDay.read(),
    playDemoDay: async (_request, { note }) => {
      const played = await demoDay.play();
      note({ connection: DEMO_CONNECTION });
      return played;
    },
    undoDemoDay: async (_request, { note }) => {
      note({ connection: DEMO_CONNECTION });
      return demoDay.undo();
    },
    readActivity: async () => {
      const activity = await currentReader().read();
      const now = deps.now();
      return {
        isLogged: deps.settings.requestLog.keepDays > 0,
        completeSince: activity.completeSince,
        hour: sumBySpan(shownMinutes(deps, activity), { now, minutes: 1, spans: 60 }),
        day: sumBySpan(shownMinutes(deps, activity), { now, minutes: 15, spans: 96 }),
      };
    },
  };
}

/** Returns the reader of the log. It begins anew when a removal has taken exchanges out of the log that it has counted. */
function recountingReader(deps: AdminDeps): () => ActivityReader {
  let reader = activityReader(deps);
  let counted = deps.demoDay.removals();
  return () => {
    const removals = deps.demoDay.removals();
    if (removals !== counted) reader = activityReader(deps);
    counted = removals;
    return reader;
  };
}

async function readOverview(deps: AdminDeps, reader: ActivityReader) {
  const [all, held] = [await deps.peopleSummaries.read(), await deps.store.holds.countHolds()];
  const { connections, activity } = await readConnections(deps, all, reader);
  const isFirst = !all.some((summary) => summary.hasUsers && isReal(summary));
  const isDemo = isFirst && all.some((summary) => summary.hasUsers);
  // The invented people are counted only while no identity provider has sent others, and then alone.
  const isCounted = (of: { connection: string }) => isReal(of) !== isDemo;
  const summaries = all.filter(isCounted);
  const states = sumStates(summaries);
  const total = sum(Object.values(states));
  const { conditions, facts } = await deps.conditions.read(summaries);
  const { state, sentence } = describeState({ ...facts, conditions });
  return {
    ...{ state, sentence: isDemo ? `Demo day: ${sentence}` : sentence, conditions },
    ...{ people: { total, ...states }, findings: sumFindings(summaries), connections },
    keptActive: sum(summaries.map((summary) => summary.keptActive)),
    held: held.filter(isCounted).map(({ count, ...hold }) => ({ ...hold, people: count })),
    ...(isFirst ? { steps: await readSteps(deps, activity) } : {}),
    demoDay: await deps.demoDay.read(),
  };
}

/** False for the connection of the demo day. */
function isReal({ connection }: { connection: string }): boolean {
  return connection !== DEMO_CONNECTION;
}

/** Reads the health of each connection. */
async function readConnections(deps: AdminDeps, summaries: PeopleSummary[], reader: ActivityReader) {
  const { tasks, modes } = deps.store;
  const [imports, feeds] = [await tasks.listStates('import'), await tasks.listStates('feed')];
  const faults = deps.provisioning.mappingFaults();
  const [listed, paused] = [await modes.list(), await modes.listPaused()];
  // The last one, because it begins to count what is old in the background.
  const activity = await reader.read();
  const connections = deps.connections.map(({ connection: { id, feed: source }, staleLookups }) => {
    const ofThis = ({ connection }: { connection: string }) => connection === id;
    const { states } = summaries.find(ofThis) ?? { states: undefined };
    const importState = imports.find(ofThis)?.state;
    const lastImport = lastImportOf(importState);
    const restored = paused.find(ofThis);
    const isFollowed = feeds.some((feed) => ofThis(feed) && isFeedFollowed(feed.state));
    const feed: 'off' | 'followed' | 'notFollowed' = isFollowed ? 'followed' : 'notFollowed';
    return {
      id,
      ...(listed.find(ofThis) ?? { mode: 'live' as const }),
      ...{ people: sum(Object.values(states ?? {})), waiting: states?.dirty ?? 0 },
      lastRequest: toLastExchange(activity.findLast(id, 'scim')),
      lastCall: toLastExchange(activity.findLast(id, 'travel')),
      paused: restored && { ...restored, isImported: (lastImport?.at ?? 0) > restored.since },
      lastImport: lastImport && { ...lastImport, isIncomplete: isIncompleteImport(importState) },
      feed: source ? feed : ('off' as const),
      mappingFaults: faults.find(ofThis)?.count ?? 0,
      staleLookups: staleLookups(),
    };
  });
  return { connections, activity };
}

async function readSteps({ connections, store, now }: AdminDeps, activity: Activity) {
  const ids = realIds(connections);
  const heads = await Promise.all(ids.map((id) => store.rules.findHead(id, now())));
  return {
    isConnected: ids.some((id) => activity.findLast(id, 'scim') !== undefined),
    hasMapping: heads.some((head) => head !== undefined && head.source !== 'default'),
  };
}

function realIds(connections: AdminDeps['connections']): string[] {
  return connections.map(({ connection }) => connection.id).filter((id) => id !== DEMO_CONNECTION);
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

/** The most frequent findings come first. */
function sumFindings(summaries: PeopleSummary[]) {
  const sums = new Map<string, number>();
  for (const { findings } of summaries)
    for (const [code, people] of findings) sums.set(code, (sums.get(code) ?? 0) + people);
  const kinds = [...sums].map(([code, people]) => ({ code, people }));
  return {
    kinds: kinds.sort((left, right) => right.people - left.people || (left.code < right.code ? -1 : 1)),
    isCut: summaries.some(({ areFindingsCut }) => areFindingsCut),
  };
}

function toLastExchange(exchange: LoggedExchange | undefined) {
  return exchange && { ...exchange, isFailed: isFailed(exchange) };
}

const MINUTE_MS = 60_000;

/** The invented requests are in the charts only while there are no others. */
function shownMinutes({ connections }: AdminDeps, activity: Activity): Activity['minutes'][] {
  const isUsed = realIds(connections).some((id) => activity.findLast(id, 'scim') !== undefined);
  return isUsed ? [activity.minutes] : [activity.minutes, activity.demoMinutes];
}

/** Adds minutes up to spans, the oldest first; the last span has the present minute. */
function sumBySpan(
  counted: Activity['minutes'][],
  { now, minutes, spans }: { now: number; minutes: number; spans: number },
): ({ from: number } & ActivityCounts)[] {
  const first = (Math.floor(now / MINUTE_MS / minutes) - spans + 1) * minutes;
  return Array.from({ length: spans }, (_, index) => {
    const from = first + index * minutes;
    const counts = emptyCounts();
    for (let minute = from; minute < from + minutes; minute += 1)
      for (const { requests, requestErrors, calls, callErrors } of counted.flatMap(
        (one) => one.get(minute) ?? [],
      )) {
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

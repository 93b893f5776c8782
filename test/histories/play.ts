import { writeFileSync } from 'node:fs';
import { defaultPolicies } from '../../src/provisioning/policies.ts';
import { seededRandom } from '../fixtures/seeded.ts';
import { executeDeferred, executeStep, type HistoryContext } from './execute.ts';
import { httpCalls, type IdentityProviders, NoAnswer, newPerson } from './identity-providers.ts';
import { findViolations, promises } from './invariants.ts';
import { type OmittedKind, type Operation, operationAt, toOperationLine } from './operations.ts';
import { type Counts, type Processes, type Setup, startProcesses, tokens } from './processes.ts';
import { newHistoryRecord, nothingDecided, type ObservedState, rememberState } from './record.ts';
import { recordedProviders } from './recorded-providers.ts';
import { toUserLine } from './wanted-user.ts';

/** One random history. The seed alone decides its operations. */
export interface HistoryOptions {
  seed: number;
  operations: number;
  setup: Setup;
  people?: number;
  /** The positions of operations to leave out. */
  skip?: readonly number[];
  /** Kinds of operations to leave out. */
  without?: readonly OmittedKind[];
}

/** The figures of a history without violations. */
export interface Figures extends Counts {
  operations: number;
  rests: number;
  seconds: number;
}

/** The largest number of operations between two checks, and of operations that run at once. */
const STRETCH = 50;
const AT_ONCE = 6;
/** A violation counts only if it is still there after this time, in milliseconds. */
const CHECK_TIMEOUT_MS = 10_000;

/** Plays a history. Throws an error that names the violations, the seed and the operations since the last check. */
export async function playHistory(options: HistoryOptions): Promise<Figures> {
  const startedAt = performance.now();
  const operationLog: string[] = [];
  const transcript: string[] = [];
  const note = (line: string) => transcript.push(line);
  const processes = await startProcesses(options.setup, note);
  try {
    const log = (line: string) => {
      operationLog.push(line);
      note(line);
    };
    const rests = await playOperations(processes, options, { log, note });
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { ...processes.counts, operations: options.operations, rests, seconds };
  } catch (error) {
    const { HISTORY_TRANSCRIPT: file } = process.env;
    if (file) writeFileSync(file, `${transcript.join('\n')}\n`);
    throw new Error(toReport(error, options, operationLog), { cause: error });
  } finally {
    await processes.close();
  }
}

async function playOperations(
  processes: Processes,
  options: HistoryOptions,
  { log, note }: Record<'log' | 'note', (line: string) => void>,
): Promise<number> {
  const { seed, operations, setup, people: count = 10, skip = [], without = [] } = options;
  const record = newHistoryRecord(processes.travel.catalog, { ...defaultPolicies, ...setup });
  const people = Array.from({ length: count }, (_, index) => newPerson(index, 'default'));
  const call = httpCalls({ url: processes.url, tokens });
  const context: PlayContext = {
    ...{ processes, travel: processes.travel, record, people, note, deferred: [], edits: 0 },
    providers: recordedProviders({ call, record, people, note }),
  };
  const random = seededRandom(seed);
  let rests = 0;
  for (let place = 0; place < operations; ) {
    const end = Math.min(operations, place + STRETCH);
    while (place < end) {
      const step: Operation[] = [];
      for (let size = 1 + random.below(AT_ONCE); size > 0 && place < end; size -= 1, place += 1) {
        const operation = operationAt(seed, place, count, without);
        if (skip.includes(place)) continue;
        step.push(operation);
        log(`${place} ${toOperationLine(operation)}`);
      }
      await executeStep(context, processes, step);
      await recoverBridge(context);
    }
    await settleAndCheck(context, rests % 2 === 1 || end === operations);
    rests += 1;
    log('rest');
    if (end < operations) await executeDeferred(context);
  }
  return rests;
}

/** The context of the operations, and the processes that they meet. */
interface PlayContext extends HistoryContext {
  processes: Processes;
}

/** Restarts the bridge after a step if it died, and reads back the users whose last write was not answered. */
async function recoverBridge({ processes, providers: client, people }: PlayContext): Promise<void> {
  for (;;) {
    if (processes.isDead()) await processes.startBridge();
    try {
      for (const person of people) if (person.unanswered) await client.readBack(person);
      return;
    } catch (error) {
      // The bridge may have died at its crash point while it was read.
      if (!(error instanceof NoAnswer) || !(await processes.isDeadSoon())) throw error;
    }
  }
}

async function settleAndCheck(context: PlayContext, isRepeated: boolean): Promise<void> {
  const { processes, people, providers: client } = context;
  await processes.settle();
  let state = await observeState(context);
  const deadline = performance.now() + CHECK_TIMEOUT_MS;
  let violations = findViolations(state);
  while (violations.length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    state = await observeState(context);
    violations = findViolations(state);
  }
  if (violations.length > 0)
    throw new Error([...violations, ...(await identityLines(violations, context))].join('\n'));
  for (const person of people) await client.readBack(person);
  rememberState(state);
  if (!isRepeated || context.processes.travel.url() === undefined) return;
  const { writes } = processes.counts;
  await processes.settle();
  const needlessWrites = processes.counts.writes - writes;
  if (needlessWrites > 0) throw new Error(`${needlessWrites} writes at rest [${promises.noNeedlessCall}]`);
}

/** The stored identities, as lines: of every user for the transcript, of those with violations for the report. */
async function identityLines(
  violations: readonly string[],
  { people, processes, note }: PlayContext,
): Promise<string[]> {
  const lines: string[] = [];
  for (const { index, current } of people) {
    if (!current) continue;
    const wants = `p${index} wants ${toUserLine(current.wanted)}`;
    const stored = `p${index} in the store: ${await processes.readIdentity(current.connection, current.id)}`;
    note(wants);
    note(stored);
    if (violations.some((violation) => violation.startsWith(`p${index}: `))) lines.push(wants, stored);
  }
  return lines;
}

async function observeState({
  processes,
  people,
  providers: client,
  record,
}: PlayContext): Promise<ObservedState> {
  return {
    people,
    links: await linksOf(client, people),
    travelers: await processes.travel.travelers(),
    record,
    decided: nothingDecided,
  };
}

async function linksOf(
  client: IdentityProviders,
  people: PlayContext['people'],
): Promise<Map<number, string>> {
  const links = new Map<number, string>();
  for (const person of people) {
    const id = await client.travelId(person);
    if (id !== undefined) links.set(person.index, id);
  }
  return links;
}

function toReport(
  error: unknown,
  { seed, operations, setup, skip = [] }: HistoryOptions,
  log: string[],
): string {
  const { travel, feed, drift, onReturn } = setup;
  const again = [`HISTORY_SEED=${seed} HISTORY_OPS=${operations} HISTORY_RUNS=1`];
  if (skip.length > 0) again.push(`HISTORY_SKIP=${skip.join(',')}`);
  const rests = log.flatMap((line, index) => (line === 'rest' ? [index] : []));
  const since = log.slice((rests.at(-1) ?? -1) + 1);
  return [
    error instanceof Error ? error.message : String(error),
    `${again.join(' ')} (travel ${travel}, feed ${feed ? 'on' : 'off'}, drift ${drift}, onReturn ${onReturn})`,
    'operations since the last rest:',
    ...since,
  ].join('\n');
}

import { writeFileSync } from 'node:fs';
import { seededRandom } from '../fixtures/seeded.ts';
import { execute, executeCalm, type Stage } from './execute.ts';
import { type Idps, idps, NoAnswer, newPerson, type Person, type Write } from './idp.ts';
import { type Omitted, type Operation, operationAt, shownOperation } from './operations.ts';
import { faultsOf, type Ledger, newLedger, remember, type Scene } from './oracle.ts';
import { shown, type Wish } from './wish.ts';
import { type Arrangement, type Counts, openWorld, tokens, type World } from './world.ts';

/** One history: what happens follows from the seed alone. */
export interface HistoryOptions {
  seed: number;
  operations: number;
  arrangement: Arrangement;
  people?: number;
  /** Places to leave out. */
  skip?: readonly number[];
  /** Kinds of operations to leave out. */
  without?: readonly Omitted[];
}

/** What came of a history that ended well. */
export interface Figures extends Counts {
  operations: number;
  rests: number;
  seconds: number;
}

/** At most so many operations happen between two rests, and at most so many at once. */
const STRETCH = 50;
const AT_ONCE = 6;
/** Faults must last so long at rest to count. */
const PATIENCE_MS = 10_000;

/** Plays a history. Throws an error that tells the faults, the seed and the operations since the last rest. */
export async function playHistory(options: HistoryOptions): Promise<Figures> {
  const begun = performance.now();
  const log: string[] = [];
  const transcript: string[] = [];
  const note = (line: string) => transcript.push(line);
  const world = await openWorld(options.arrangement, note);
  try {
    const tell = (line: string) => {
      log.push(line);
      note(line);
    };
    const rests = await play(world, options, { tell, note });
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    return { ...world.counts, operations: options.operations, rests, seconds };
  } catch (error) {
    const { HISTORY_TRANSCRIPT: file } = process.env;
    if (file) writeFileSync(file, `${transcript.join('\n')}\n`);
    throw new Error(reportOf(error, options, log), { cause: error });
  } finally {
    await world.close();
  }
}

async function play(
  world: World,
  options: HistoryOptions,
  { tell, note }: Record<'tell' | 'note', (line: string) => void>,
): Promise<number> {
  const { seed, operations, arrangement, people: count = 10, skip = [], without = [] } = options;
  const ledger = newLedger(world.travel.catalog, arrangement, ['department']);
  const people = Array.from({ length: count }, (_, index) => newPerson(index, 'default'));
  const client = idps({
    ...{ url: world.url, tokens },
    onWish: (person, before, verb) => {
      noteWish(ledger, person, before?.wish, verb);
      note(
        `  p${person.index} ${verb} of ${shown(person.present?.wish)} is acknowledged (${person.present?.id ?? before?.id})`,
      );
    },
    mayClash: ({ index }, { connection, wish }) =>
      people.some(
        (other) =>
          other.index !== index &&
          other.present !== undefined &&
          other.present.connection !== connection &&
          [wish?.email, wish?.userName].some((email) => email && ledger.emails.get(other.index)?.has(email)),
      ),
  });
  const stage: Stage = { world, idps: client, ledger, people, note, calm: [] };
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
        tell(`${place} ${shownOperation(operation)}`);
      }
      await execute(stage, step);
      await comeBack(stage);
    }
    await rest(stage, rests % 2 === 1 || end === operations);
    rests += 1;
    tell('rest');
    if (end < operations) await executeCalm(stage);
  }
  return rests;
}

function noteWish(ledger: Ledger, person: Person, before: Wish | undefined, verb: Write['verb']): void {
  const { index, present, lastConnection: connection } = person;
  const wish = present?.wish;
  const emails = ledger.emails.get(index) ?? new Set();
  const isNewEmail = wish !== undefined && !emails.has(wish.email);
  ledger.events.push({ kind: 'wish', person: index, connection, verb, wish, before, isNewEmail });
  if (!wish) return;
  ledger.emails.set(index, emails.add(wish.email).add(wish.userName));
}

/** After a step the bridge runs, and what nobody answered is known. */
async function comeBack({ world, idps: client, people }: Stage): Promise<void> {
  for (;;) {
    if (world.isDead()) await world.startBridge();
    try {
      for (const person of people) if (person.asked) await client.recall(person);
      return;
    } catch (error) {
      // It may have died of what it was armed for while it was asked.
      if (!(error instanceof NoAnswer) || !(await world.diesSoon())) throw error;
    }
  }
}

async function rest(stage: Stage, isRepeated: boolean): Promise<void> {
  const { world, people, idps: client } = stage;
  await world.rest();
  let scene = await sceneOf(stage);
  const deadline = performance.now() + PATIENCE_MS;
  let faults = faultsOf(scene);
  while (faults.length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    scene = await sceneOf(stage);
    faults = faultsOf(scene);
  }
  if (faults.length > 0) throw new Error([...faults, ...(await identitiesOf(faults, stage))].join('\n'));
  for (const person of people) await client.recall(person);
  remember(scene);
  if (!isRepeated || stage.world.travel.url() === undefined) return;
  const { writes } = world.counts;
  await world.rest();
  const needless = world.counts.writes - writes;
  if (needless > 0) throw new Error(`${needless} writes at rest, though nothing had changed`);
}

/** What the store has about the people: of those whom the faults name for the report, of all for the transcript. */
async function identitiesOf(faults: readonly string[], { people, world, note }: Stage): Promise<string[]> {
  const lines: string[] = [];
  for (const { index, present } of people) {
    if (!present) continue;
    const wants = `p${index} wants ${shown(present.wish)}`;
    const stored = `p${index} in the store: ${await world.identity(present.connection, present.id)}`;
    note(wants);
    note(stored);
    if (faults.some((fault) => fault.startsWith(`p${index}: `))) lines.push(wants, stored);
  }
  return lines;
}

async function sceneOf({ world, people, idps: client, ledger }: Stage): Promise<Scene> {
  return { people, links: await linksOf(client, people), travelers: await world.travel.travelers(), ledger };
}

async function linksOf(client: Idps, people: Stage['people']): Promise<Map<number, string>> {
  const links = new Map<number, string>();
  for (const person of people) {
    const id = await client.travelId(person);
    if (id !== undefined) links.set(person.index, id);
  }
  return links;
}

function reportOf(
  error: unknown,
  { seed, operations, arrangement, skip = [] }: HistoryOptions,
  log: string[],
): string {
  const { travel, feed, drift, onReturn } = arrangement;
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openEmbedded } from '../../src/store/database.ts';
import { type BridgeHouse, bridgeHouse } from './bridge-house.ts';
import type { Trouble } from './fake-travel.ts';

/** What becomes of one call to the travel API, or one step in the store; a killed process is started anew at once. */
const faults = {
  'answered 503': { kind: 'unavailable', text: '503' },
  'carried out with its answer lost': 'lose',
  'not sent by a killed process': 'hang',
  'sent by a killed process': 'die',
  'an outcome that a killed process did not keep': 'finish',
  'news of an address that a killed process did not spread': 'touchWaiting',
} as const satisfies Record<string, Trouble | 'finish' | 'touchWaiting'>;

export type Fault = keyof typeof faults;

/** A fixture on which a story is played; calls are counted from `begin` on. */
export interface Stage {
  house: BridgeHouse;
  /** From here on one call fails; called again, it changes nothing. */
  begin(): void;
  /** A write of an IdP. It is answered although the process that reconciles it is killed. */
  write<T>(write: () => Promise<T>): Promise<T>;
  /** Lets time pass until nothing is due for a while. */
  rest(rounds?: number): Promise<void>;
}

export interface Story {
  options?: Parameters<typeof bridgeHouse>[0];
  /** True: the account has a second connection, whose name is that of the first and `-other`. */
  hasOther?: boolean;
  /** Plays the story; throws where the end is not as it must be. */
  play(stage: Stage): Promise<void>;
}

/** Runs a test for every connection name with one database, which is much faster than one database for each. */
export async function withDatabase<T>(test: (database: Database) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const database = await openEmbedded(directory, true);
  try {
    return await test(database);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
}

/** Plays a story without a fault, then once for each of its calls with that call failing; answers how many plays there were. */
export function atEveryCall(story: Story, kinds = Object.keys(faults) as Fault[]): Promise<number> {
  return withDatabase(async (database) => {
    let plays = 0;
    for (const fault of kinds) {
      for (let call = 1, isReached = true; isReached; call += 1) {
        plays += 1;
        isReached = await playWith(story, { database, fault, call, name: `story-${plays}` });
      }
    }
    return plays;
  });
}

interface Play {
  database: Database;
  fault: Fault;
  call: number;
  name: string;
}

/** Answers whether there was such a call. */
async function playWith(story: Story, { database, fault, call, name }: Play): Promise<boolean> {
  const more = story.hasOther ? [`${name}-other`] : [];
  const house = await bridgeHouse({ ...story.options, more, database, name });
  const { stage, isReached } = stageOf(house, { fault, call, others: more });
  try {
    await story.play(stage);
  } catch (error) {
    const calls = house.travel.calls.map((one) => JSON.stringify(one)).join('\n');
    throw new Error(`number ${call} was ${fault}:\n${calls}`, { cause: error });
  }
  return isReached();
}

function stageOf(house: BridgeHouse, { others, ...at }: { fault: Fault; call: number; others: string[] }) {
  const { begin, isReached, killed } = trapIn(house, at);
  const restarted = async (work: Promise<unknown>): Promise<void> => {
    if (killed.isOver) return void (await work);
    if ((await Promise.race([work, killed.promise])) !== 'killed') return;
    killed.isOver = true;
    house.clock.advance(800);
    await house.restart();
    // A start imports, and takes up what was left open.
    for (const id of [house.connection.id, ...others]) await house.imported(house.connectionOf(id));
  };
  const stage: Stage = {
    house,
    begin,
    write: async (write) => {
      const answer = write();
      await restarted(answer);
      return answer;
    },
    rest: async (rounds = 8) => {
      for (let round = 0; round < rounds; round += 1) {
        await restarted(house.bridge.settleDue());
        house.clock.advance(round < rounds / 2 ? 2_000 : 31_000);
      }
      await restarted(house.bridge.settleDue());
    },
  };
  return { stage, isReached };
}

/** The trap in which one call is caught. */
function trapIn(house: BridgeHouse, { fault, call }: Pick<Play, 'fault' | 'call'>) {
  const trouble = faults[fault];
  let left = Number.POSITIVE_INFINITY;
  let kill: (value: 'killed') => void = () => {};
  const promise = new Promise<'killed'>((resolve) => {
    kill = resolve;
  });
  const isCaught = () => {
    left -= 1;
    return left === 0;
  };
  const begin = () => {
    if (left !== Number.POSITIVE_INFINITY) return;
    left = call;
    if (trouble === 'finish' || trouble === 'touchWaiting')
      return catchInStore(house, trouble, { isCaught, kill });
    house.travel.trouble = () => {
      if (!isCaught()) return undefined;
      if (trouble === 'hang' || trouble === 'die') kill('killed');
      return trouble;
    };
  };
  return { begin, isReached: () => left <= 0, killed: { promise, isOver: false } };
}

function catchInStore(
  { store: { leases, agenda } }: BridgeHouse,
  step: 'finish' | 'touchWaiting',
  { isCaught, kill }: { isCaught(): boolean; kill(value: 'killed'): void },
): void {
  const trapped =
    <Values extends unknown[], T>(real: (...values: Values) => Promise<T>) =>
    (...values: Values): Promise<T> => {
      if (!isCaught()) return real(...values);
      kill('killed');
      return new Promise(() => {});
    };
  if (step === 'finish') leases.finish = trapped(leases.finish);
  else agenda.touchWaiting = trapped(agenda.touchWaiting);
}

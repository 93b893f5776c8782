import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openEmbedded } from '../../src/store/database.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { type FaultyProxy, faultyProxy, type ProxyAction } from '../fixtures/faulty-proxy.ts';
import { type CrashPoint, type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { type ConnectionName, connections } from './idp.ts';
import type { Trouble } from './operations.ts';
import { otherTravelService } from './other-travel-service.ts';
import { type TravelService, travelService } from './travel-service.ts';

/** The lifetime of what a history runs on: which travel API, and how the bridge is set. */
export interface Arrangement {
  travel: 'embedded' | 'split' | 'other';
  feed: boolean;
  drift: 'report' | 'correct';
  onReturn: 'revive' | 'separate';
}

export const tokens: Record<ConnectionName, string> = {
  default: 'the-token-of-the-first-identity-provider',
  second: 'the-token-of-the-second-identity-provider',
};
const TRAVEL_KEY = 'the-key-of-the-first-administrator';

/** A call that comes late comes within this; `LATE_MS` is what the bridge is told. */
const LATE_CALL_MS = 200;
const LATE_MS = 1_000;
/** So much the clock is set forward at each rest, so that nothing waits for a back-off. */
const FORWARD_MS = 600_000;
/** No call for so long, and nobody dirty: everything is at rest. */
const QUIET_MS = 400;
const REST_MS = 90_000;

/** Counted for the figures. */
export interface Counts {
  calls: number;
  writes: number;
  failures: number;
  kills: number;
  restarts: number;
  jumps: number;
}

/** The processes of a history, and the ways to disturb them. */
export interface World {
  url(): string;
  travel: TravelService;
  counts: Counts;
  /** Adds to what becomes of the next calls. */
  disturb(next: readonly (Trouble | 'pass')[]): void;
  jump(ms: number): void;
  arm(doom: CrashPoint): Promise<void>;
  kill(): Promise<void>;
  /** True once the bridge has died. */
  isDead(): boolean;
  /** True when the bridge is dead within a moment. */
  diesSoon(): Promise<boolean>;
  /** Starts the bridge; the one before has ended. */
  startBridge(): Promise<void>;
  /** SIGTERM, which must end the process with 0. */
  stopBridge(): Promise<void>;
  /** Lets everything pass, starts the bridge anew with the clock set forward, and waits until nothing is under way. */
  rest(): Promise<void>;
  /** Ends the bridge, and answers what its store has about somebody, as text. */
  identity(connection: ConnectionName, id: string): Promise<string>;
  close(): Promise<void>;
}

/** Builds the processes of a history. */
export async function openWorld(arrangement: Arrangement, note: (line: string) => void): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-history-'));
  const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
  try {
    return await build({ arrangement, directory, note }, closing);
  } catch (error) {
    for (const close of closing.reverse()) await close();
    throw error;
  }
}

interface Plan {
  arrangement: Arrangement;
  directory: string;
  /** Told of each call. */
  note: (line: string) => void;
}

async function build({ arrangement, directory, note }: Plan, closing: (() => unknown)[]): Promise<World> {
  const clock = clockIn(directory);
  const counts: Counts = { calls: 0, writes: 0, failures: 0, kills: 0, restarts: 0, jumps: 0 };
  const { travel: kind } = arrangement;
  const travel = await (kind === 'other'
    ? otherTravelService(TRAVEL_KEY)
    : travelService(kind, directory, TRAVEL_KEY));
  closing.push(travel.close);
  const proxy = await faultyProxy(travel.url() ?? '');
  closing.push(proxy.close);
  const traffic = trafficOf(proxy, counts, note);
  const environment = {
    ...bridgeEnvironment(arrangement, directory, proxy.url),
    SHIFT_FILE: clock.file,
    NODE_OPTIONS: `--import=${join(__dirname, '..', 'fixtures', 'shifting-clock.mjs')}`,
  };
  let bridge: ServerProcess | undefined;
  let isDead = true;
  const startBridge = async () => {
    counts.restarts += 1;
    const started = await startServer(environment, { canDie: true });
    bridge = started;
    isDead = false;
    void started.exited.then(({ signal }) => {
      if (bridge === started) isDead = true;
      if (signal === 'SIGKILL') counts.kills += 1;
    });
    travel.bridgeServesAt(started.url);
  };
  const running = () => {
    if (!bridge) throw new Error('the bridge does not run');
    return bridge;
  };
  const kill = async () => {
    running().kill('SIGKILL');
    await running().exited;
  };
  const stopBridge = async () => {
    running().kill('SIGTERM');
    const { code, signal, stderr } = await running().exited;
    // SIGKILL: it was armed, and died at its point before it had ended.
    if (code !== 0 && signal !== 'SIGKILL')
      throw new Error(`SIGTERM: the bridge ended with ${code}: ${stderr}`);
  };
  closing.push(() => (isDead ? undefined : kill()));
  await startBridge();
  await travel.furnish();
  return {
    url: () => running().url,
    ...{ travel, counts, kill, startBridge, stopBridge, disturb: traffic.disturb },
    jump: (ms) => {
      counts.jumps += 1;
      clock.jump(ms);
    },
    arm: (doom) =>
      running()
        .crashAt(doom)
        .catch(() => undefined),
    isDead: () => isDead,
    diesSoon: async () => {
      await Promise.race([running().exited, delay(500)]);
      return isDead;
    },
    rest: async () => {
      traffic.calm();
      if (!isDead) await stopBridge();
      clock.forward();
      await startBridge();
      await atRest(running().url, traffic);
    },
    identity: async (connection, id) => {
      if (!isDead) await stopBridge();
      return identityIn(join(directory, 'bridge'), connection, id);
    },
    close: async () => {
      for (const close of closing.reverse()) await close();
    },
  };
}

async function identityIn(data: string, connection: ConnectionName, id: string): Promise<string> {
  const database = await openEmbedded(data, false);
  try {
    const identity = await provisioningStore(database).identities.findById(connection, id);
    const { trace: _trace, desired: _desired, observed: _observed, ...rest } = identity ?? { trace: [] };
    return JSON.stringify(rest);
  } finally {
    await database.close();
  }
}

function bridgeEnvironment(arrangement: Arrangement, directory: string, travelUrl: string) {
  const isEmbedded = arrangement.travel === 'embedded';
  const travelApi = {
    ...(isEmbedded ? {} : { account: 'acme' }),
    ...{ feed: arrangement.feed ? { everyMs: 200 } : false, timeoutMs: 1_000, perSecond: 1_000 },
    lateMs: LATE_MS,
  };
  const { drift, onReturn } = arrangement;
  const policies = { drift, onReturn, safetyValve: false };
  const connection = { mapping: 'mapping.json', travelApi, policies };
  const settings = {
    writeBudgetMs: 150,
    connections: { default: connection, second: { ...connection, scimTokenEnv: 'SECOND_TOKEN' } },
  };
  writeFileSync(join(directory, 'mapping.json'), '{}');
  writeFileSync(join(directory, 'jetbridge.json'), JSON.stringify(settings));
  return {
    JETBRIDGE_DATA: join(directory, 'bridge'),
    JETBRIDGE_CONFIG: join(directory, 'jetbridge.json'),
    SCIM_TOKEN: tokens.default,
    SECOND_TOKEN: tokens.second,
    TRAVEL_API_KEY: TRAVEL_KEY,
    ...(isEmbedded ? {} : { TRAVEL_API_URL: travelUrl }),
  };
}

/** The file that the preload of the bridge reads its clock's shift from. */
function clockIn(directory: string) {
  const file = join(directory, 'clock');
  let shift = 0;
  let furthest = 0;
  const set = (to: number) => {
    shift = to;
    furthest = Math.max(furthest, shift);
    writeFileSync(file, String(shift));
  };
  set(0);
  return { file, jump: (ms: number) => set(shift + ms), forward: () => set(furthest + FORWARD_MS) };
}

interface Traffic {
  disturb(next: readonly (Trouble | 'pass')[]): void;
  /** From now on everything passes. */
  calm(): void;
  isUnderWay(): boolean;
  /** When the last call came that is no question for events. */
  lastCall(): number;
}

/** What passes the proxy, and what becomes of it. */
function trafficOf(proxy: FaultyProxy, counts: Counts, note: (line: string) => void): Traffic {
  let queue: (Trouble | 'pass')[] = [];
  let last = performance.now();
  proxy.decide(({ method, path, body }) => {
    if (/^\/api\/events/.test(path)) return 'pass';
    last = performance.now();
    counts.calls += 1;
    if (method !== 'GET') counts.writes += 1;
    const next = queue.shift() ?? 'pass';
    if (next !== 'pass') counts.failures += 1;
    note(`    ${method} ${path} ${body} ${next}`);
    return fateOf(next, method);
  });
  return {
    disturb: (next) => queue.push(...next),
    calm: () => {
      queue = [];
      proxy.release();
    },
    isUnderWay: () => proxy.underWay() > 0 || proxy.held() > 0,
    lastCall: () => last,
  };
}

function fateOf(trouble: Trouble | 'pass', method: string): ProxyAction {
  switch (trouble) {
    case 'late':
      // A read that is carried out late has no effect.
      return method === 'GET' ? 'reset' : { late: LATE_CALL_MS };
    case 'status500':
      return { status: 500 };
    case 'status503':
      return { status: 503 };
    case 'status429':
      return { status: 429, headers: { 'retry-after': '1' } };
    default:
      return trouble;
  }
}

/** Nobody is dirty, the import of both connections is over, and no call comes any more. */
async function atRest(url: string, traffic: Traffic): Promise<void> {
  const deadline = performance.now() + REST_MS;
  let quietSince = performance.now();
  for (;;) {
    const { dirty, imported } = await progressOf(url);
    const isBusy = dirty.length > 0 || imported < connections.length || traffic.isUnderWay();
    if (isBusy) quietSince = performance.now();
    if (performance.now() - Math.max(quietSince, traffic.lastCall()) > QUIET_MS) return;
    if (performance.now() > deadline)
      throw new Error(
        `it does not come to rest: ${dirty.join(', ') || 'nobody is dirty'}, ${imported} imported`,
      );
    await delay(25);
  }
}

/** The lines of the metrics that count dirty identities, and how many connections an import has ended for. */
async function progressOf(url: string): Promise<{ dirty: string[]; imported: number }> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const lines = (pattern: RegExp) => [...metrics.matchAll(pattern)].map(([line]) => line);
  return {
    dirty: lines(/^jetbridge_identities\{.*state="dirty"\} [1-9].*$/gm),
    imported: lines(/^jetbridge_import_incomplete\{.*$/gm).length,
  };
}

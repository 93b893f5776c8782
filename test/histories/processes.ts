import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { type FaultyProxy, faultyProxy, type ProxyAction } from '../fixtures/faulty-proxy.ts';
import { type CrashPoint, type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { letTimePass, openTestDatabase } from '../fixtures/test-database.ts';
import { type ConnectionName, connections } from './identity-providers.ts';
import type { CallFault } from './operations.ts';
import { otherTravelService } from './other-travel-service.ts';
import { type TravelService, travelService } from './travel-service.ts';

/** The setup of a history: which travel API, and the settings of the bridge. */
export interface Setup {
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

/** The delay of a late call, and the setting `lateMs` of the bridge, in milliseconds. */
const LATE_CALL_MS = 200;
const LATE_MS = 1_000;
/** The clock is set forward by this before each check, so that no identity waits for its back-off. */
const FORWARD_MS = 600_000;
/** On PostgreSQL a bridge imports once in this time, and not at each start. */
const IMPORT_MS = 3_600_000;
/** The bridge has settled if no identity is dirty and no call was made for this time, in milliseconds. */
const QUIET_MS = 400;
const REST_MS = 90_000;

/** The counters of a history. */
export interface Counts {
  calls: number;
  writes: number;
  failures: number;
  kills: number;
  restarts: number;
  jumps: number;
}

/** The processes of a history, and the faults that can be applied to them. */
export interface Processes {
  url(): string;
  travel: TravelService;
  counts: Counts;
  /** Queues faults for the next calls to the travel API. */
  addFaults(next: readonly (CallFault | 'pass')[]): void;
  jumpClock(ms: number): void;
  killAt(point: CrashPoint): Promise<void>;
  kill(): Promise<void>;
  /** True once the bridge has died. */
  isDead(): boolean;
  /** Waits up to half a second for the bridge to die; returns whether it is dead. */
  isDeadSoon(): Promise<boolean>;
  /** Starts the bridge, after the one before has ended. */
  startBridge(): Promise<void>;
  /** Sends SIGTERM and throws unless the process exits with 0. */
  stopBridge(): Promise<void>;
  /** Ends all faults, restarts the bridge with the clock set forward, and waits until it has settled. */
  settle(): Promise<void>;
  /** Stops the bridge and returns the stored identity of a user, as text. */
  readIdentity(connection: ConnectionName, id: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts the processes of a history. */
export async function startProcesses(setup: Setup, note: (line: string) => void): Promise<Processes> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-history-'));
  const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
  try {
    return await startAll({ setup, directory, note }, closing);
  } catch (error) {
    for (const close of closing.reverse()) await close();
    throw error;
  }
}

interface ProcessPlan {
  setup: Setup;
  directory: string;
  /** Called for each call to the travel API. */
  note: (line: string) => void;
}

async function startAll(
  { setup, directory, note }: ProcessPlan,
  closing: (() => unknown)[],
): Promise<Processes> {
  const clock = clockFile(directory);
  const counts: Counts = { calls: 0, writes: 0, failures: 0, kills: 0, restarts: 0, jumps: 0 };
  const { travel: kind } = setup;
  const travel = await (kind === 'other'
    ? otherTravelService(TRAVEL_KEY)
    : travelService(kind, directory, TRAVEL_KEY));
  closing.push(travel.close);
  const proxy = await faultyProxy(travel.url() ?? '');
  closing.push(proxy.close);
  const traffic = watchTraffic(proxy, counts, note);
  const environment = {
    ...bridgeEnvironment(setup, directory, proxy.url),
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
    // SIGKILL: the process died at its crash point before it had ended.
    if (code !== 0 && signal !== 'SIGKILL')
      throw new Error(`SIGTERM: the bridge ended with ${code}: ${stderr}`);
  };
  closing.push(() => (isDead ? undefined : kill()));
  await startBridge();
  await travel.createReferenceData();
  return {
    url: () => running().url,
    ...{ travel, counts, kill, startBridge, stopBridge, addFaults: traffic.addFaults },
    jumpClock: (ms) => {
      counts.jumps += 1;
      clock.jump(ms);
    },
    killAt: (point) =>
      running()
        .crashAt(point)
        .catch(() => undefined),
    isDead: () => isDead,
    isDeadSoon: async () => {
      await Promise.race([running().exited, delay(500)]);
      return isDead;
    },
    settle: async () => {
      traffic.clearFaults();
      if (!isDead) await stopBridge();
      clock.forward();
      await letTimePass(join(directory, 'bridge'), IMPORT_MS);
      await startBridge();
      await waitUntilSettled(running().url, traffic);
    },
    readIdentity: async (connection, id) => {
      if (!isDead) await stopBridge();
      return readStoredIdentity(join(directory, 'bridge'), connection, id);
    },
    close: async () => {
      for (const close of closing.reverse()) await close();
    },
  };
}

async function readStoredIdentity(data: string, connection: ConnectionName, id: string): Promise<string> {
  const database = await openTestDatabase(data, false);
  try {
    const identity = await provisioningStore(database).identities.findById(connection, id);
    const { trace: _trace, desired: _desired, observed: _observed, ...rest } = identity ?? { trace: [] };
    return JSON.stringify(rest);
  } finally {
    await database.close();
  }
}

function bridgeEnvironment(setup: Setup, directory: string, travelUrl: string) {
  const isEmbedded = setup.travel === 'embedded';
  const travelApi = {
    ...(isEmbedded ? {} : { account: 'acme' }),
    ...{ feed: setup.feed ? { everyMs: 200 } : false, timeoutMs: 1_000, perSecond: 1_000 },
    lateMs: LATE_MS,
  };
  const { drift, onReturn } = setup;
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

/** The file from which the bridge reads the shift of its clock. */
function clockFile(directory: string) {
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
  addFaults(next: readonly (CallFault | 'pass')[]): void;
  /** Ends all faults: from now on every call passes. */
  clearFaults(): void;
  isUnderWay(): boolean;
  /** The time of the last call other than a read of the event feed. */
  lastCall(): number;
}

/** Counts the calls that pass the proxy, and applies the queued faults to them. */
function watchTraffic(proxy: FaultyProxy, counts: Counts, note: (line: string) => void): Traffic {
  let queue: (CallFault | 'pass')[] = [];
  let last = performance.now();
  proxy.decide(({ method, path, body }) => {
    if (/^\/api\/events/.test(path)) return 'pass';
    last = performance.now();
    counts.calls += 1;
    if (method !== 'GET') counts.writes += 1;
    const next = queue.shift() ?? 'pass';
    if (next !== 'pass') counts.failures += 1;
    note(`    ${method} ${path} ${body} ${next}`);
    return toProxyAction(next, method);
  });
  return {
    addFaults: (next) => queue.push(...next),
    clearFaults: () => {
      queue = [];
      proxy.release();
    },
    isUnderWay: () => proxy.underWay() > 0 || proxy.held() > 0,
    lastCall: () => last,
  };
}

function toProxyAction(trouble: CallFault | 'pass', method: string): ProxyAction {
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

/** Waits until no identity is dirty, both imports are over and no call is made any more. */
async function waitUntilSettled(url: string, traffic: Traffic): Promise<void> {
  const deadline = performance.now() + REST_MS;
  let quietSince = performance.now();
  for (;;) {
    const { dirty, imported } = await progressOf(url);
    const isBusy = dirty.length > 0 || imported < connections.length || traffic.isUnderWay();
    if (isBusy) quietSince = performance.now();
    if (performance.now() - Math.max(quietSince, traffic.lastCall()) > QUIET_MS) return;
    if (performance.now() > deadline)
      throw new Error(
        `the bridge does not settle: ${dirty.join(', ') || 'nobody is dirty'}, ${imported} imported`,
      );
    await delay(25);
  }
}

/** Reads the metrics: the lines that count dirty identities, and the number of connections whose import has ended. */
async function progressOf(url: string): Promise<{ dirty: string[]; imported: number }> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const lines = (pattern: RegExp) => [...metrics.matchAll(pattern)].map(([line]) => line);
  return {
    dirty: lines(/^jetbridge_identities\{.*state="dirty"\} [1-9].*$/gm),
    imported: lines(/^jetbridge_import_incomplete\{.*$/gm).length,
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';
import { eventually } from './eventually.ts';
import { type FaultyProxy, faultyProxy } from './faulty-proxy.ts';
import { type Person, type RememberingIdp, rememberingIdp } from './remembering-idp.ts';
import { type Doom, type ServerProcess, startServer } from './server-process.ts';
import { travelAdmin } from './travel-admin.ts';

const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const TRAVEL_KEY = 'the-key-of-the-first-administrator';

/**
 * `embedded`: bridge and travel service live and die together; `split`: the bridge reaches a travel service of its own
 * process; `other`: it reaches a travel API of another kind, in the process of the tests.
 */
export type Arrangement = 'embedded' | 'split' | 'other';

/** A bridge that runs. */
export interface RunningBridge extends ServerProcess {
  idp: RememberingIdp;
}

/** Real processes on data of their own. The travel service has a custom field that the department fills. */
export interface ProcessHouse {
  /** The way from the bridge to the travel service; not with `embedded`. */
  proxy: FaultyProxy;
  /** Starts the bridge on the house's data, again and again; perhaps one that is to die. */
  startBridge(doom?: Doom): Promise<RunningBridge>;
  /** The same by `jetbridge serve`, as its operator starts and stops it. */
  serveBridge(): Promise<RunningBridge>;
  /** Kills the travel service, or stops it where it has no process, and answers how to start it again; not with `embedded`. */
  killTravel(): Promise<{ startAgain(): Promise<void> }>;
  /** Waits until nobody is on the way any more, and compares: the people, the identities, the travelers. */
  agree(bridge: RunningBridge, people: readonly Person[]): Promise<void>;
}

/** Takes the house down after the story, however it ended. `environment` is added to that of the bridge. */
export async function inProcessHouse(
  arrangement: Arrangement,
  story: (house: ProcessHouse) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  const closing: (() => unknown)[] = [];
  try {
    await story(await build(arrangement, environment, (close) => closing.unshift(close)));
  } finally {
    for (const close of closing) await close();
  }
}

interface Fate {
  canDie: boolean;
  doom?: Doom | undefined;
}

type OnClose = (close: () => unknown) => void;

async function build(
  arrangement: Arrangement,
  ofBridge: Record<string, string>,
  onClose: OnClose,
): Promise<ProcessHouse> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-process-'));
  onClose(() => rmSync(directory, { recursive: true }));
  const start = async (name: string, environment: Record<string, string>, how: Fate) => {
    const data = { JETBRIDGE_DATA: join(directory, name), SCIM_TOKEN, TRAVEL_API_KEY: TRAVEL_KEY };
    const server = await startServer({ ...data, ...environment }, how);
    onClose(() => kill(server));
    return server;
  };
  const travel = await separateTravel(arrangement, { start, onClose });
  const proxy = await faultyProxy(travel?.url() ?? '');
  onClose(proxy.close);
  const toTravel: Record<string, string> = travel ? { TRAVEL_API_URL: proxy.url } : {};
  const travelers = { arrived: new Map<string, string>(), fieldId: travel?.fieldId ?? '' };
  const startBridge = async (how: Fate) => {
    const server = await start('bridge', { ...toTravel, ...ofBridge }, how);
    if (!travel && travelers.fieldId === '') travelers.fieldId = await furnish(server.url);
    return { ...server, idp: rememberingIdp(server.url, SCIM_TOKEN) };
  };
  return {
    proxy,
    startBridge: (doom) => startBridge({ canDie: true, doom }),
    serveBridge: () => startBridge({ canDie: false }),
    killTravel: async () => {
      await travel?.kill();
      return {
        startAgain: async () => {
          await travel?.startAgain();
          if (travel) proxy.leadTo(travel.url());
        },
      };
    },
    agree: async (bridge, people) => {
      for (const person of people) await bridge.idp.recall(person);
      await reconciled(bridge);
      const all = await (travel?.travelers() ?? travelAdmin(bridge.url, TRAVEL_KEY).travelers());
      compare(all, people, travelers);
      for (const person of people) await bridge.idp.recall(person);
    },
  };
}

/** A travel service that does not live in the bridge's process. */
interface SeparateTravel {
  url(): string;
  /** The custom field that the department fills. */
  fieldId: string;
  travelers(): Promise<TravelUser[]>;
  kill(): Promise<void>;
  startAgain(): Promise<void>;
}

type Start = (name: string, environment: Record<string, string>, how: Fate) => Promise<ServerProcess>;

async function separateTravel(
  arrangement: Arrangement,
  { start, onClose }: { start: Start; onClose: OnClose },
): Promise<SeparateTravel | undefined> {
  if (arrangement === 'embedded') return undefined;
  if (arrangement === 'other') {
    const api = await otherTravelApi({}, { key: TRAVEL_KEY });
    onClose(api.close);
    return otherTravel(api);
  }
  let server = await start('travel', {}, { canDie: false });
  return {
    url: () => server.url,
    fieldId: await furnish(server.url),
    travelers: () => travelAdmin(server.url, TRAVEL_KEY).travelers(),
    kill: () => kill(server),
    startAgain: async () => {
      server = await start('travel', {}, { canDie: false });
    },
  };
}

async function otherTravel(api: OtherTravelApi): Promise<SeparateTravel> {
  return {
    url: () => api.url,
    fieldId: await furnish(api.url),
    travelers: async () => api.travelers(),
    kill: api.stop,
    startAgain: api.start,
  };
}

/** Dies at once, and is certainly dead. */
export async function kill(server: ServerProcess): Promise<void> {
  server.kill('SIGKILL');
  await server.exited;
}

async function furnish(url: string): Promise<string> {
  const admin = travelAdmin(url, TRAVEL_KEY);
  const fieldId = await admin.make('/custom-fields', {
    dataType: 'text',
    name: 'Team',
    resourceType: 'user',
  });
  const scimAttribute = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';
  await admin.make('/scim-user-mappings', { scimAttribute, customFieldId: fieldId });
  return fieldId;
}

/** Waits until every identity is synced: none is on its way, and none ended in any other state. */
async function reconciled({ url }: ServerProcess): Promise<void> {
  await eventually(async () => expect(await openStates(url)).toEqual([]));
}

/** Waits until a service that may die at any moment has died, or has nothing left to do. */
export async function restOrDeath({ url }: ServerProcess): Promise<void> {
  await eventually(async () => expect(await openStates(url).catch(() => [])).toEqual([]));
}

/** The lines of the metrics that count identities in any state but synced. */
async function openStates(url: string): Promise<string[]> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const states = [...metrics.matchAll(/^jetbridge_identities\{.*state="(\w+)"\} (\d+)$/gm)];
  return states.filter(([, state, count]) => state !== 'synced' && count !== '0').map(([line]) => line);
}

interface Travelers {
  /** The traveler of each person who was ever seen, who stays the same for ever. */
  arrived: Map<string, string>;
  fieldId: string;
}

function compare(all: TravelUser[], people: readonly Person[], { arrived, fieldId }: Travelers): void {
  for (const { name, sure } of people) {
    const own = all.filter(({ email }) => email.startsWith(`${name}@`));
    if (sure === 'gone') {
      expect(own).toEqual(arrived.has(name) || own.length > 0 ? [own[0]] : []);
      expect(own[0]?.archived ?? true).toBe(true);
    } else {
      const customFields =
        sure.department === undefined
          ? undefined
          : [expect.objectContaining({ customFieldId: fieldId, values: [{ data: sure.department }] })];
      expect(own).toEqual([
        expect.objectContaining({
          email: sure.email,
          firstName: sure.givenName,
          lastName: name,
          archived: !sure.active,
        }),
      ]);
      expect(own[0]?.customFields).toEqual(customFields);
    }
    const [traveler] = own;
    if (!traveler) continue;
    expect(traveler.id).toBe(arrived.get(name) ?? traveler.id);
    arrived.set(name, traveler.id);
  }
  // Nobody else: the administrator, and those who arrived.
  expect(all).toHaveLength(1 + arrived.size);
}

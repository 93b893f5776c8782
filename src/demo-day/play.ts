import { randomBytes } from 'node:crypto';
import { DEMO_CONNECTION } from '../admin/demo-day.ts';
import { scimCredentials } from '../operations/scim-credentials.ts';
import { replay } from '../replay/report.ts';
import type { Scenario } from '../replay/scenario.ts';
import { create } from '../travel/changes.ts';
import type { TravelDeps } from '../travel/collection.ts';
import { ApiError } from '../travel/errors.ts';
import { customField } from '../travel/resources/custom-field.ts';
import type { DemoConnection, ServiceParts } from './connection.ts';
import type { DemoDayLease, SavedDemoDay } from './lease.ts';

/** Requests are in the log this much later at the latest, in milliseconds: then every view has what was played. */
const LOG_DELAY_MS = 600;

/** The name of the custom field to which the mapping of the demo day writes the department. */
export const DEMO_FIELD = 'Department (demo day)';

/** The dependencies of playing the demo day. */
export interface PlayDeps {
  parts: ServiceParts;
  travel: TravelDeps;
  scenario: Scenario;
  connection: Pick<DemoConnection, 'sync'>;
  /** Serves SCIM at /scim/v2 of a loopback address, whatever certificates and proxies the settings have. */
  openScimServer(): Promise<{ url: string; close(): Promise<void> }>;
  /** Aborted when the service stops. */
  signal: AbortSignal;
}

/** Creates what the mapping needs, and sends the recorded requests with a token of their own. */
export async function playDemoDay(
  deps: PlayDeps,
  { lease, begun }: { lease: DemoDayLease; begun: SavedDemoDay },
): Promise<void> {
  const { database, runtime } = deps.parts;
  const isCreated = await createDepartmentField(deps.travel, begun.fieldId);
  const state = isCreated ? begun : { ...begun, fieldId: undefined };
  await lease.save(state);
  await deps.connection.sync();
  const credentials = scimCredentials(database, runtime.wallClock);
  const forOneDay = { connection: DEMO_CONNECTION, name: 'demo day', days: 1 };
  const { id, token } = await credentials.createToken(forOneDay);
  await sendRequests(deps, token, async (done) => {
    await lease.extend();
    await lease.save({ ...state, done });
  });
  await credentials.revokeToken(id);
  await runtime.wait(LOG_DELAY_MS);
  await lease.save({ ...state, phase: 'played', done: state.total });
}

async function sendRequests(
  { parts: { log }, scenario, openScimServer, signal }: PlayDeps,
  token: string,
  afterRequest: (done: number) => Promise<void>,
): Promise<void> {
  const server = await openScimServer();
  try {
    const { outcomes } = await replay({
      ...{ scenarios: [scenario], url: `${server.url}/scim/v2`, token, print: () => {} },
      now: () => performance.now(),
      newRun: () => randomBytes(4).toString('hex'),
      afterStep: async (_scenario, _step, index) => {
        if (signal.aborted) throw new Error('the service stops');
        await afterRequest(index + 1);
      },
    });
    const mismatches = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? outcome.played : []));
    if (mismatches.length > 0)
      log.warn({ mismatches }, 'the demo day was answered differently than expected');
  } finally {
    await server.close();
  }
}

/** Creates the custom field that the mapping fills. Returns false if there is one of this name already. */
async function createDepartmentField(travel: TravelDeps, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false;
  const collection = { resource: customField, deps: { ...travel, newId: () => id } };
  const target = { parentId: '', id: '', caller: '' };
  try {
    await create(collection, target, { name: DEMO_FIELD, dataType: 'text', resourceType: 'user' });
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

import { z } from 'zod';
import { connectionModeNames } from '../../model/policies.ts';
import { deleteConnection, readStoredConnections, type StoredConnection } from '../../store/connections.ts';
import type { OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type Operations, operation } from '../operation.ts';
import { count, id, optionalText, optionalTime } from '../schemas.ts';

const record = z
  .object({
    ...{ id, account: z.string(), people: count, tombstones: count, groups: count },
    linked: count.describe('Travelers that no other connection of the account can link'),
    servers: count.describe('The running servers that serve it'),
    isInUse: z.boolean().describe('True while a server serves it, or works on one of its people'),
    source: z
      .enum(['file', 'database'])
      .optional()
      .describe('What it is from; absent if the settings no longer have it'),
    keptBecause: optionalText.describe('Why it cannot be forgotten; absent if it can'),
    mode: z.enum(connectionModeNames),
    pilot: optionalText.describe('The SCIM filter of the pilot; absent if there is none'),
    since: optionalTime.describe('The time at which the mode began; absent while it is live'),
  })
  .meta({
    id: 'ConnectionRecords',
    description: 'A connection in the database, with the numbers of its records',
  });

/** The operations on connections in the database, whether or not the settings have them. */
export const connectionRecordOperations = {
  listConnectionRecords: operation(
    {
      ...{ method: 'get', path: '/connection-records', tag: 'Connect', access: 'viewer' },
      summary: 'List the connections in the database with the numbers of their records',
      result: z.object({ connections: z.array(record) }),
    },
    (_input, deps) => listRecords(deps),
  ),
  forgetConnection: operation(
    {
      ...{ method: 'delete', path: '/connection-records/{id}', tag: 'Connect', access: 'admin' },
      summary:
        'Delete what belongs to a connection that the settings no longer have. Its travelers stay as they are, free for other connections',
      errors: ['conflict'],
    },
    async ({ params: { id } }, deps, { note }) => {
      note({ connection: id });
      const { people, tombstones, groups, linked } = await findForgettable(id, deps);
      note({ people, tombstones, groups, linked });
      const end = await deleteConnection(deps.database, { connection: id, now: deps.now() });
      if (end === 'inUse') throw new OperationError('conflict', inUseText(id));
    },
  ),
} satisfies Operations;

async function listRecords(deps: OperationDeps) {
  const { database, store } = deps;
  const [stored, modes] = [await readStoredConnections(database, deps.now()), await store.modes.list()];
  const connections = stored.map((one) => {
    const ofThis = ({ connection }: { connection: string }) => connection === one.id;
    const { mode = 'live' as const, since, pilot } = modes.find(ofThis) ?? {};
    return {
      ...one,
      mode,
      since,
      pilot,
      source: sourceOf(one.id, deps),
      keptBecause: reasonToKeep(one, deps),
    };
  });
  return { connections };
}

function sourceOf(id: string, { connections }: OperationDeps) {
  return connections.find(({ settings }) => settings.id === id)?.settings.source;
}

/** Finds a connection that can be forgotten. Throws 404 if the database does not have it, else 409. */
async function findForgettable(id: string, deps: OperationDeps): Promise<StoredConnection> {
  const all = await readStoredConnections(deps.database, deps.now());
  const found = all.find((one) => one.id === id);
  if (!found) throw new OperationError('notFound', `There is no connection ${id} in the database.`);
  const reason = reasonToKeep(found, deps);
  if (reason !== undefined) throw new OperationError('conflict', reason);
  return found;
}

/** Says why a connection cannot be forgotten; undefined if it can. */
function reasonToKeep(stored: StoredConnection, deps: OperationDeps): string | undefined {
  const { id, servers, isInUse } = stored;
  const source = sourceOf(id, deps);
  if (source === 'database') return `The connection ${id} was added on the admin page. Remove it there.`;
  if (source !== undefined)
    return `The connection ${id} is in the settings. Remove it there and restart the server; then it can be forgotten.`;
  if (servers > 0) return servedText(stored, deps.database.dialect.isShared);
  return isInUse ? inUseText(id) : undefined;
}

function servedText({ id, servers }: StoredConnection, isShared: boolean): string {
  const running = servers === 1 ? '1 running server serves' : `${servers} running servers serve`;
  const them = servers === 1 ? 'it' : 'them';
  const remedy = `Remove it from the settings and restart ${them}, or stop ${them}; then try again.`;
  const killed = isShared ? ' A server that was killed counts for 20 seconds more.' : '';
  return `${running} the connection ${id}, so nothing was changed. ${remedy}${killed}`;
}

function inUseText(id: string): string {
  return `A server works on people of the connection ${id}, or has begun to serve it. Try again in a minute.`;
}

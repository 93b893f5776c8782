import { ProvisioningError } from '../../src/provisioning/provisioning-error.ts';
import type { ProvisioningService } from '../../src/provisioning/service.ts';
import type { UserQuery, UserView } from '../../src/provisioning/users/list-users.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { parseNewUser, parseReplacement, patchOfUser } from '../../src/scim/departures.ts';
import { parsePatch } from '../../src/scim/patch.ts';
import type { Call, ConnectionName } from '../histories/identity-providers.ts';
import type { World } from './world.ts';

const TRAVEL = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

const statuses = {
  notFound: 404,
  conflict: 409,
  refused: 403,
  unavailable: 503,
  tooMany: 400,
  noTarget: 400,
  abandoned: 499,
} as const satisfies Record<ProvisioningError['kind'], number>;

/** The delay before a request that was answered 503 is sent again, in milliseconds. */
const RETRY_MS = 2_000;
const MAX_TRIES = 100;

/**
 * Sends the SCIM requests of the IdPs to a process that `runningReplica` returns. A process that ends does not answer, and what is answered 503
 * is sent again.
 */
export function idpCalls({ runningReplica, time }: Pick<World, 'runningReplica' | 'time'>): Call {
  return async (connection, method, path, body) => {
    for (let tries = 1; ; tries += 1) {
      const replica = await runningReplica();
      const request = { connection, method, path, body: body as JsonObject }; // What IdPs send is JSON.
      const answered = answer(replica.service, request).catch(toFailure);
      const result = await Promise.race([answered, replica.death]);
      if (result === 'dead') return undefined;
      if (result.status !== 503 || tries === MAX_TRIES) return result;
      await time.wait(RETRY_MS);
    }
  };
}

interface Request {
  connection: ConnectionName;
  method: string;
  path: string;
  body: JsonObject;
}

async function answer({ users }: ProvisioningService, { connection, method, path, body }: Request) {
  const [, , id = ''] = path.split('/');
  switch (method) {
    case 'POST': {
      const { resource, leftOut } = parseNewUser(body);
      return { status: 201, body: toBody(await users.create(connection, resource, undefined, leftOut)) };
    }
    case 'PUT': {
      const { change } = parseReplacement(body);
      return { status: 200, body: toBody(await users.change(connection, id, change, 'replace')) };
    }
    case 'PATCH': {
      const change = patchOfUser(parsePatch(body));
      return { status: 200, body: toBody(await users.change(connection, id, change, 'patch')) };
    }
    case 'DELETE':
      await users.remove(connection, id);
      return { status: 204, body: undefined };
    default:
      if (id !== '') return { status: 200, body: toBody(await users.read(connection, id)) };
      return { status: 200, body: { Resources: await search(users, connection, path) } };
  }
}

async function search(users: ProvisioningService['users'], connection: ConnectionName, path: string) {
  const [, userName = ''] = /userName eq "(.*)"$/.exec(decodeURIComponent(path)) ?? [];
  const query: UserQuery = {
    where: { field: 'userName', operator: 'eq', value: userName },
    order: { by: 'position', descending: false },
    ...{ start: { offset: 0 }, limit: 10, residual: undefined, withGroups: true },
  };
  const { rows } = await users.list(connection, query);
  return Promise.all(rows.map(async ({ id }) => toBody(await users.read(connection, id))));
}

function toBody({ id, desired, travelUserId }: UserView) {
  const resource = JSON.parse(desired);
  return { ...resource, id, [TRAVEL]: { ...resource[TRAVEL], ...(travelUserId ? { travelUserId } : {}) } };
}

function toFailure(error: unknown) {
  if (!(error instanceof ProvisioningError)) throw error;
  return { status: statuses[error.kind], body: { detail: error.message } };
}

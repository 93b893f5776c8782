import { ProvisioningError } from '../../src/model/provisioning-error.ts';
import type { GroupQuery, GroupView } from '../../src/provisioning/groups/groups.ts';
import type { ProvisioningService } from '../../src/provisioning/service.ts';
import type { UserQuery, UserView } from '../../src/provisioning/users/list-users.ts';
import { normalize } from '../../src/schema/normalize.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { groupType } from '../../src/schema/resource-types.ts';
import { parseMembers, splitGroupPatch, splitMembers } from '../../src/scim/group-members.ts';
import { toGroupResidual } from '../../src/scim/groups.ts';
import { groupColumns, parseFilterParameter, toFilterQuery } from '../../src/scim/lists/filter.ts';
import { parseNewUser, parseReplacement, patchOfUser } from '../../src/scim/patch/departures.ts';
import { applyPatch, parsePatch } from '../../src/scim/patch/patch.ts';
import type { Call, ConnectionName } from './people.ts';
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

/** Reads what SCIM shows from a service that nothing happens to: no time passes, and nothing is decided by chance. */
export function quietReads(service: ProvisioningService): Call {
  return async (connection, method, path) =>
    answer(service, { connection, method, path, body: {} }).catch(toFailure);
}

interface Request {
  connection: ConnectionName;
  method: string;
  path: string;
  body: JsonObject;
}

async function answer(service: ProvisioningService, request: Request) {
  return request.path.startsWith('/Groups') ? answerGroup(service, request) : answerUser(service, request);
}

async function answerUser({ users }: ProvisioningService, { connection, method, path, body }: Request) {
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

/** With a filter, finds the users with a userName; otherwise lists all, or a page of them. */
async function search(users: ProvisioningService['users'], connection: ConnectionName, path: string) {
  const parameters = new URLSearchParams(path.split('?')[1]);
  const [, userName] = /userName eq "(.*)"$/.exec(parameters.get('filter') ?? '') ?? [];
  const offset = Number(parameters.get('startIndex') ?? 1) - 1;
  const limit = Number(parameters.get('count') ?? 100);
  const query: UserQuery = {
    where: userName === undefined ? { all: [] } : { field: 'userName', operator: 'eq', value: userName },
    order: { by: 'position', descending: false },
    ...{ start: { offset }, limit, residual: undefined, withGroups: true },
  };
  const { rows } = await users.list(connection, query);
  const found = await Promise.all(rows.map(({ id }) => users.read(connection, id).catch(unlessGone)));
  return found.filter((user) => user !== undefined).map(toBody);
}

/** A user that has gone between the list and its reading, such as an imported person who was claimed meanwhile, is not on the list. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof ProvisioningError) || error.kind !== 'notFound') throw error;
}

function toBody({ id, desired, travelUserId, version }: UserView) {
  const resource = JSON.parse(desired);
  const travel = { ...resource[TRAVEL], ...(travelUserId ? { travelUserId } : {}) };
  return { ...resource, id, meta: { version }, [TRAVEL]: travel };
}

async function answerGroup({ groups }: ProvisioningService, { connection, method, path, body }: Request) {
  const [, , id = ''] = path.split('/');
  switch (method) {
    case 'POST': {
      const { attributes, members } = parseGroup(body);
      return { status: 201, body: toGroupBody(await groups.create(connection, attributes, members)) };
    }
    case 'PUT': {
      const { attributes, members } = parseGroup(body);
      const change = { attributes: () => attributes, members: [{ kind: 'replace' as const, members }] };
      return { status: 200, body: toGroupBody(await groups.change(connection, id, change, true)) };
    }
    case 'PATCH': {
      const { operations, members } = splitGroupPatch(parsePatch(body));
      const attributes = (current: ScimResource) => applyPatch(groupType, current, operations);
      return {
        status: 200,
        body: toGroupBody(await groups.change(connection, id, { attributes, members }, true)),
      };
    }
    case 'DELETE':
      await groups.remove(connection, id);
      return { status: 204, body: undefined };
    default:
      if (id !== '') return { status: 200, body: toGroupBody(await groups.read(connection, id, true)) };
      return { status: 200, body: { Resources: await listGroups(groups, connection, path) } };
  }
}

async function listGroups(groups: ProvisioningService['groups'], connection: ConnectionName, path: string) {
  const text = new URLSearchParams(path.split('?')[1]).get('filter') ?? undefined;
  const { where, residual } = toFilterQuery(groupColumns, parseFilterParameter(groupType, text, [groupType]));
  const query: GroupQuery = {
    ...{ where, order: { by: 'position', descending: false }, start: { offset: 0 }, limit: 100 },
    ...{ residual: residual && toGroupResidual(residual, ''), withMembers: false },
  };
  const { rows } = await groups.list(connection, query);
  return Promise.all(rows.map(async ({ id }) => toGroupBody(await groups.read(connection, id, true))));
}

function parseGroup(body: JsonObject) {
  const { members, rest } = splitMembers(body);
  return { attributes: normalize(groupType, rest).resource, members: parseMembers(members) };
}

function toGroupBody({ id, attributes, members = [] }: GroupView) {
  return { ...attributes, id, members };
}

function toFailure(error: unknown) {
  if (!(error instanceof ProvisioningError)) throw error;
  return { status: statuses[error.kind], body: { detail: error.message } };
}

import { matches } from '../schema/evaluate.ts';
import { normalize } from '../schema/normalize.ts';
import type { JsonObject, ScimResource } from '../schema/resource.ts';
import { userType } from '../schema/resource-type.ts';
import { answerUser } from './answer.ts';
import type { ScimContext } from './context.ts';
import { noteDropped } from './dropped.ts';
import type { Endpoint } from './endpoint.ts';
import { readFilter } from './filter.ts';
import { type Fetch, fetchPage, scanPage } from './list.ts';
import { pagingOf } from './paging.ts';
import { applyPatch } from './patch.ts';
import { parsePatch } from './patch-message.ts';
import { presentUser } from './present.ts';
import { projectionOf } from './projection.ts';
import { toUserQuestion } from './query.ts';

/** /Users (RFC 7644 §3.3 to §3.6); PUT and PATCH answer with the user, as validators want it. */
export const usersEndpoint: Endpoint = {
  read: async ({ users, connection, base }, id, query) => {
    const projection = projectionOf(userType, query);
    return answerUser(await users.read(connection, id), base, projection);
  },

  list: async (context, query) => {
    const projection = projectionOf(userType, query);
    const filter = readFilter(userType, query['filter']);
    const paging = pagingOf(query);
    const question = toUserQuestion(filter);
    const { residual } = question;
    const fetch = fetchUsers(context, question.matches);
    const { total, bodies } = residual
      ? await scanPage(fetch, paging, (body) => matches(userType, residual, body))
      : await fetchPage(fetch, paging);
    const resources = bodies.map((body) => JSON.stringify(projection.apply(body)));
    return { total, startIndex: paging.startIndex, resources };
  },

  create: async (context, body, query) => {
    const projection = projectionOf(userType, query);
    const { users, connection, base } = context;
    return answerUser(await users.create(connection, desiredIn(context, body)), base, projection);
  },

  replace: async (context, id, { body, query }) => {
    const projection = projectionOf(userType, query);
    const desired = desiredIn(context, body);
    const { users, connection, base, conditions } = context;
    const change = (_current: ScimResource, version: number) => {
      conditions.check(version);
      return desired;
    };
    return answerUser(await users.change(connection, id, change, 'replace'), base, projection);
  },

  patch: async ({ users, connection, base, conditions }, id, { body, query }) => {
    const projection = projectionOf(userType, query);
    const operations = parsePatch(body);
    const change = (current: ScimResource, version: number) => {
      conditions.check(version);
      return applyPatch(userType, current, operations);
    };
    return answerUser(await users.change(connection, id, change, 'patch'), base, projection);
  },

  remove: ({ users, connection, conditions }, id) => users.remove(connection, id, conditions.check),
};

function desiredIn(context: ScimContext, body: JsonObject): ScimResource {
  const { resource, dropped } = normalize(userType, body);
  noteDropped(context, dropped);
  return resource;
}

function fetchUsers(
  { users, connection, base }: ScimContext,
  wanted: Parameters<ScimContext['users']['list']>[1]['matches'],
): Fetch {
  return async (offset, limit) => {
    const { total, users: views } = await users.list(connection, { matches: wanted, offset, limit });
    return { total, bodies: views.map((view) => presentUser(view, base)) };
  };
}

import { type Request, type RequestHandler, type Response, Router } from 'express';
import { callerOf } from './authentication.ts';
import { dataOf, readBody } from './body.ts';
import { create, patch, remove, replace } from './changes.ts';
import { type Collection, list, listUnder, retrieve, type Surroundings, type Target } from './collection.ts';
import { ApiError } from './errors.ts';
import { refuseQuery } from './page.ts';
import type { Operation, Resource } from './resource.ts';

/** The routes of one resource, as its declaration has them; every other method on its paths is forbidden. */
export function resourceRouter(resource: Resource, surroundings: Surroundings): Router {
  const router = Router();
  const collection: Collection = { resource, surroundings };
  for (const operation of resource.operations) {
    const { method, on, handle } = handlers[operation];
    const path = on === 'item' ? resource.itemPath : resource.collectionPath;
    const query = operation === 'list' ? [] : [withoutQuery];
    const body = method === 'get' || method === 'delete' ? [] : readBody();
    router[method](path, ...query, ...body, (request, response) => handle(collection, request, response));
  }
  for (const sub of resource.under ?? []) {
    const path = `/${sub.path}/:parentId/${resource.path}`;
    router.get(path, async (request, response) => {
      response.json(await listUnder(collection, sub, targetOf(request, response), request.query));
    });
    router.all(path, forbidden);
  }
  router.all([resource.collectionPath, resource.itemPath], forbidden);
  return router;
}

/** "Unsupported request to retrieve, create, update or delete a resource" */
export const forbidden: RequestHandler = (request) => {
  throw new ApiError('forbidden', `${request.method} is not supported here.`);
};

/** Refuses query parameters, for an operation that has none. */
export const withoutQuery: RequestHandler = (request, _response, next) => {
  refuseQuery(request.query);
  next();
};

interface Handler {
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  on: 'collection' | 'item';
  handle(collection: Collection, request: Request, response: Response): Promise<void>;
}

/** "Status codes of success" of the specification. */
const handlers = {
  list: {
    method: 'get',
    on: 'collection',
    handle: async (collection, request, response) => {
      response.json(await list(collection, targetOf(request, response), request.query));
    },
  },
  create: {
    method: 'post',
    on: 'collection',
    handle: async (collection, request, response) => {
      const data = await create(collection, targetOf(request, response), dataOf(request.body));
      response.status(201).json({ data });
    },
  },
  retrieve: {
    method: 'get',
    on: 'item',
    handle: async (collection, request, response) => {
      response.json({ data: await retrieve(collection, targetOf(request, response)) });
    },
  },
  patch: {
    method: 'patch',
    on: 'item',
    handle: async (collection, request, response) => {
      response.json({ data: await patch(collection, targetOf(request, response), dataOf(request.body)) });
    },
  },
  replace: {
    method: 'put',
    on: 'item',
    handle: async (collection, request, response) => {
      response.json({ data: await replace(collection, targetOf(request, response), dataOf(request.body)) });
    },
  },
  delete: {
    method: 'delete',
    on: 'item',
    handle: async (collection, request, response) => {
      response.json({ data: await remove(collection, targetOf(request, response)) });
    },
  },
} satisfies Record<Operation, Handler>;

function targetOf({ params }: Request, response: Response): Target {
  const { parentId = '', itemId = '' } = params;
  return { parentId: String(parentId), id: String(itemId), caller: callerOf(response) };
}

import { type Request, type Response, Router } from 'express';
import type { Query, ScimContext } from './context.ts';
import type { Page } from './endpoint.ts';
import { groupsEndpoint } from './groups.ts';
import { listResponse } from './list.ts';
import { listAll } from './root-list.ts';
import { queryIn } from './search-request.ts';
import { sendText } from './send.ts';
import { usersEndpoint } from './users.ts';

/**
 * Searches by POST (RFC 7644 §3.4.3) and at the root (§3.4.2.1). They come before SCIMMYRouters, which would parse filters
 * in exponential time.
 */
export function searchRoutes(contextOf: (request: Request) => ScimContext): Router {
  const answer =
    (list: (context: ScimContext, query: Query) => Promise<Page>, queryOf: (request: Request) => Query) =>
    async (request: Request, response: Response) => {
      const context = contextOf(request);
      sendText(response, await listResponse(await list(context, queryOf(request)), context.now));
    };
  const inBody = ({ body }: Request) => queryIn(body);
  return Router()
    .get(
      '/',
      answer(listAll, ({ query }) => query),
    )
    .post('/.search', answer(listAll, inBody))
    .post('/Users/.search', answer(usersEndpoint.list, inBody))
    .post('/Groups/.search', answer(groupsEndpoint.list, inBody));
}

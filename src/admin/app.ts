import { Router } from 'express';
import { adminContract } from './catalog.ts';
import { AdminError } from './errors.ts';
import { type AccountDeps, accountHandlers } from './handlers/accounts.ts';
import { auditHandlers } from './handlers/audit.ts';
import { type ConnectDeps, connectHandlers } from './handlers/connect.ts';
import { type HoldDeps, holdHandlers } from './handlers/holds.ts';
import { type MappingDeps, mappingHandlers } from './handlers/mappings.ts';
import { type OverviewDeps, overviewHandlers } from './handlers/overview.ts';
import { type PeopleDeps, peopleHandlers } from './handlers/people.ts';
import { type TrafficDeps, trafficHandlers } from './handlers/traffic.ts';
import { type TravelServiceDeps, travelHandlers } from './handlers/travel.ts';
import { type TravelDataDeps, travelDataHandlers } from './handlers/travel-data.ts';
import { adminOpenApi } from './openapi.ts';
import { type OpenidDeps, openidHandlers } from './openid/sign-in.ts';
import { adminErrorHandler, contractRouter, refuseOtherMethods } from './router.ts';

/** Dependencies of the admin API. */
export interface AdminDeps extends PeopleDeps, AccountDeps, OpenidDeps, TravelDataDeps {
  held: HoldDeps;
  mappings: MappingDeps;
  overview: OverviewDeps;
  traffic: TrafficDeps;
  connect: ConnectDeps;
  travelService: TravelServiceDeps;
}

/** Creates the JSON API of the admin page, to be mounted under /admin/api. */
export function adminApi(deps: AdminDeps): Router {
  const router = Router({ caseSensitive: true });
  // Few clients ask for the document, and creating it would take a noticeable part of the time of a start.
  let document: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    // It is text, because everybody may ask for it, and making 180 KB of JSON takes longer than all else of the request.
    document ??= JSON.stringify(adminOpenApi(adminContract));
    response.type('json').send(document);
  });
  const handlers = {
    ...overviewHandlers(deps.overview),
    ...peopleHandlers(deps),
    ...mappingHandlers(deps.mappings),
    ...holdHandlers(deps.held),
    ...trafficHandlers(deps.traffic),
    ...connectHandlers(deps.connect),
    ...travelHandlers(deps.travelService),
    ...travelDataHandlers(deps),
    ...accountHandlers(deps),
    ...auditHandlers({ audit: deps.audit, nameOf: deps.traffic.nameOf }),
    ...openidHandlers(deps),
  };
  router.use(contractRouter(adminContract, handlers, deps));
  router.use(refuseOtherMethods(adminContract));
  router.use(({ method, baseUrl, path }) => {
    throw new AdminError('notFound', `The admin API has no ${method} ${(baseUrl + path).slice(0, 200)}.`);
  });
  router.use(adminErrorHandler(deps.log));
  return router;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { adminPassword, adminSessions, adminTokens } from '../store/credentials/admins.ts';
import { auditLog } from '../store/credentials/audit-log.ts';
import { encryption } from '../store/credentials/encryption.ts';
import { openidAttempts } from '../store/credentials/openid-attempts.ts';
import { peopleSummaries } from '../store/identities/people-summaries.ts';
import { groupPages } from '../store/lists/group-pages.ts';
import { adminContract } from './catalog.ts';
import type { AdminDeps, AdminParts } from './deps.ts';
import { AdminError } from './errors.ts';
import { FairQueue } from './fair-queue.ts';
import { accountHandlers } from './handlers/accounts.ts';
import { auditHandlers } from './handlers/audit.ts';
import { connectHandlers } from './handlers/connect.ts';
import { holdHandlers } from './handlers/holds.ts';
import { listHandlers } from './handlers/lists.ts';
import { mappingHandlers } from './handlers/mappings.ts';
import { overviewHandlers } from './handlers/overview.ts';
import { peopleHandlers } from './handlers/people.ts';
import { shadowHandlers } from './handlers/shadow.ts';
import { trafficHandlers } from './handlers/traffic.ts';
import { travelHandlers } from './handlers/travel.ts';
import { travelDataHandlers } from './handlers/travel-data.ts';
import { adminOpenApi } from './openapi.ts';
import { openidProvider } from './openid/provider.ts';
import { type OpenidSignIn, openidHandlers } from './openid/sign-in.ts';
import { adminPage } from './page.ts';
import { adminErrorHandler, contractRouter, refuseOtherMethods } from './router.ts';
import { scimCredentials } from './scim-credentials.ts';
import { userNames } from './user-names.ts';

/** Creates the routes of /admin: the page and its API. */
export function adminRoutes(parts: AdminParts): Router {
  const { settings, database, runtime, page } = parts;
  const router = Router({ caseSensitive: true });
  router.use(
    '/api',
    adminApi({
      ...parts,
      password: adminPassword(database),
      openidAttempts: openidAttempts(database),
      sessions: adminSessions(database),
      tokens: adminTokens(database),
      audit: auditLog(database),
      credentials: scimCredentials(database, runtime.wallClock),
      peopleSummaries: peopleSummaries(database),
      groupPages: groupPages(database),
      connectionIds: () => database.scopes.ids(),
      acceptsPasswords: settings.passwordSignIn,
      openid: openidSignIn(parts),
      now: runtime.wallClock,
      newId: runtime.newId,
    }),
  );
  if (page !== undefined && existsSync(join(page, 'index.html'))) router.use(adminPage(page));
  return router;
}

/** The exchanges with the OpenID provider, each of which may take as long as its time limit. */
const EXCHANGES = { running: 20, runningOfAddress: 5, waiting: 200, waitingOfAddress: 50 };

function openidSignIn({ settings, runtime, encryptionKey }: AdminParts): OpenidSignIn | undefined {
  const { adminOpenid } = settings;
  if (!adminOpenid) return undefined;
  return {
    ...{ label: adminOpenid.label, rules: adminOpenid, publicUrl: adminOpenid.publicUrl },
    provider: openidProvider(adminOpenid, runtime.now),
    exchanges: new FairQueue(EXCHANGES),
    encryption: encryption(encryptionKey),
  };
}

function adminApi(deps: AdminDeps): Router {
  const router = Router({ caseSensitive: true });
  // Made once, at the first request, because everybody may ask for it.
  let document: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    document ??= JSON.stringify(adminOpenApi(adminContract));
    response.type('json').send(document);
  });
  const handlers = {
    ...overviewHandlers(deps),
    ...peopleHandlers(deps),
    ...mappingHandlers(deps),
    ...listHandlers(deps),
    ...holdHandlers(deps),
    ...shadowHandlers(deps),
    ...trafficHandlers(deps),
    ...connectHandlers(deps),
    ...travelHandlers(deps),
    ...travelDataHandlers(deps),
    ...accountHandlers(deps),
    ...auditHandlers({ audit: deps.audit, nameOf: userNames(deps) }),
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

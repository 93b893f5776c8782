import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { ADDRESS_NOT_ALLOWED } from '../http/connection-limits.ts';
import { addRequestNotes } from '../http/log.ts';
import { addressPredicate } from '../http/proxies.ts';
import { operationDeps } from '../operations/deps.ts';
import { errorBody, OperationError } from '../operations/errors.ts';
import { activityReader } from '../operations/traffic/activity.ts';
import { sampleCompanyLock } from '../operations/travel/sample-data.ts';
import { adminPassword, adminSessions, adminTokens } from '../store/credentials/admins.ts';
import { encryption } from '../store/credentials/encryption.ts';
import { openidAttempts } from '../store/credentials/openid-attempts.ts';
import { adminOperations } from './catalog.ts';
import type { AdminDeps, AdminParts, ServedTravel } from './deps.ts';
import { adminOpenApi } from './openapi.ts';
import { openidProvider } from './openid/provider.ts';
import { failureLog, type OpenidSignIn } from './openid/sign-in.ts';
import { adminPage } from './page.ts';
import { adminErrorHandler, operationRouter, refuseOtherMethods } from './router.ts';
import { FairQueue } from './sign-in/fair-queue.ts';
import { travelApi } from './travel-api.ts';

/** Creates the routes of /admin: the page and its API. */
export function adminRoutes(parts: AdminParts): Router {
  const { settings, database, runtime, page } = parts;
  const router = Router({ caseSensitive: true });
  if (settings.adminAllowFrom) router.use(refuseOtherAddresses(settings.adminAllowFrom));
  router.use(
    '/api',
    adminApi(parts.embedded, {
      ...operationDeps({
        ...parts,
        now: runtime.wallClock,
        newId: runtime.newId,
        wake: parts.provisioning.wake,
      }),
      activity: activityReader({ exchanges: parts.exchanges, now: runtime.wallClock }),
      withSampleCompany: sampleCompanyLock(),
      password: adminPassword(database),
      openidAttempts: openidAttempts(database),
      sessions: adminSessions(database),
      tokens: adminTokens(database),
      acceptsPasswords: settings.passwordSignIn,
      openid: openidSignIn(parts),
      logFailure: failureLog({ log: parts.log, now: runtime.wallClock }),
    }),
  );
  if (page !== undefined && existsSync(join(page, 'index.html'))) router.use(adminPage(page));
  return router;
}

/** Answers 403 to requests from addresses that the entries do not name. */
function refuseOtherAddresses(entries: string[]): RequestHandler {
  const isAllowed = addressPredicate(entries);
  return (_request, response, next) => {
    const address = clientAddressOf(response);
    if (isAllowed(address)) return next();
    addRequestNotes(response, { reason: ADDRESS_NOT_ALLOWED });
    const text = `The admin page does not accept requests from ${address}: adminPage.allowFrom does not name it.`;
    const refused = new OperationError('forbidden', text);
    response.status(refused.status).json(errorBody(refused));
  };
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

function adminApi(embedded: ServedTravel | undefined, deps: AdminDeps): Router {
  const router = Router({ caseSensitive: true });
  // Made once, at the first request, because everybody may ask for it.
  let document: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    document ??= JSON.stringify(adminOpenApi(adminOperations));
    response.type('json').send(document);
  });
  if (embedded) router.use('/travel-api', travelApi(embedded, deps));
  router.use(operationRouter(adminOperations, deps));
  router.use(refuseOtherMethods(adminOperations));
  router.use(({ method, baseUrl, path }) => {
    throw new OperationError('notFound', `The admin API has no ${method} ${(baseUrl + path).slice(0, 200)}.`);
  });
  router.use(adminErrorHandler(deps.log));
  return router;
}

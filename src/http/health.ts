import { Router } from 'express';
import { scopeOf } from './scope.ts';

/** /healthz: the process answers. /readyz: it can do its work, as `isReady` finds (DESIGN §3). */
export function healthRoutes(isReady: () => Promise<boolean>): Router {
  return Router()
    .get('/healthz', (_request, response) => {
      response.json({ status: 'ok' });
    })
    .get('/readyz', async (_request, response) => {
      const ready = await isReady().catch((error: unknown) => {
        scopeOf(response).log.error({ err: error }, 'the check for readiness failed');
        return false;
      });
      response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
    });
}

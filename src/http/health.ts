import { Router } from 'express';
import { scopeOf } from './scope.ts';

/** What /readyz asks. */
export interface HealthDeps {
  isReady(): Promise<boolean>;
  /** Why writes fail, in plain words; undefined while they work. */
  writes: { failure(): string | undefined; probe(): Promise<string | undefined> };
}

/**
 * /healthz: the process answers. /readyz: it can do its work, as `isReady` finds. While writes fail it is ready all the
 * same, as reads go on, unless the caller requires writes (`?require=writes`).
 */
export function healthRoutes({ isReady, writes }: HealthDeps): Router {
  return Router()
    .get('/healthz', (_request, response) => {
      response.json({ status: 'ok' });
    })
    .get('/readyz', async (request, response) => {
      const canRead = await isReady().catch((error: unknown) => {
        scopeOf(response).log.error({ err: error }, 'the check for readiness failed');
        return false;
      });
      const isRequired = [request.query['require']].flat().includes('writes');
      const reason = isRequired ? await writes.probe() : writes.failure();
      const isFit = canRead && !(isRequired && reason !== undefined);
      response.status(isFit ? 200 : 503).json({
        status: isFit ? 'ready' : 'not ready',
        ...(reason === undefined ? { writes: 'ok' } : { writes: 'failing', reason }),
      });
    });
}

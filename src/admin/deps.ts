import type { Request, RequestHandler, Response } from 'express';
import type { Runtime } from '../model/runtime-ports.ts';
import type { EmbeddedService, ServiceDeps } from '../operations/deps.ts';
import type { AdminPasswords } from '../store/credentials/admins.ts';
import type { OpenidDeps } from './openid/sign-in.ts';
import type { RouterDeps } from './router.ts';
import type { RefusedSignIns } from './sign-in/refused-sign-ins.ts';
import type { SignInLimit } from './sign-in/sign-in-limit.ts';

/** The parts of the service that the admin page works with. */
export interface AdminParts
  extends Omit<
    ServiceDeps,
    | 'activity'
    | 'withSampleCompany'
    | 'wake'
    | 'now'
    | 'newId'
    | 'audit'
    | 'credentials'
    | 'peopleSummaries'
    | 'groupPages'
    | 'connectionIds'
    | 'embedded'
  > {
  embedded: ServedTravel | undefined;
  limit: SignInLimit;
  refusedSignIns: RefusedSignIns;
  /** 32 bytes that encrypt the cookies of sign-ins. */
  encryptionKey: Uint8Array;
  provisioning: ServiceDeps['provisioning'] & { wake(): void };
  runtime: Pick<Runtime, 'newId' | 'wallClock' | 'now'>;
  log: RouterDeps['log'];
  /** True if the browser sent the request over HTTPS, as far as proxies are trusted. */
  isSecure(request: Request): boolean;
  /** Returns scheme and host of the URLs that clients use, without a slash at the end. */
  publicUrl(request: Request): string;
  /** The folder with the built page; undefined: only the API is served. */
  page: string | undefined;
}

/** The embedded travel service, and its API for admins. */
export interface ServedTravel extends EmbeddedService {
  /**
   * Returns the routes of the travel API. `findCaller` returns the name of the caller for the log and the credential, or answers a request
   * that is not admitted.
   */
  serveAdmins(
    findCaller: (
      request: Request,
      response: Response,
    ) => Promise<{ userId: string; credential: string } | undefined>,
  ): RequestHandler;
}

/** Everything that the handlers of the admin API use. */
export interface AdminDeps extends ServiceDeps, RouterDeps, OpenidDeps {
  password: AdminPasswords;
  limit: SignInLimit;
}

import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { hashSecret } from '../http/bearer.ts';
import { parametersOf, presentedBy } from './client-authentication.ts';

const WINDOW_MS = 60_000;
/** An identity provider with a wrong secret tries a few times an hour; nobody guesses 256 bits at this rate. */
const FAILURES = 100;

/**
 * Lets nobody fail more than a hundred times a minute; who succeeds is not counted, nor is a fault of ours. Who fails under one name keeps nobody
 * out who comes from the same address under another, as all do who come by one proxy.
 */
export function failureLimit(): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: FAILURES,
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_request, { statusCode }) => statusCode < 400 || statusCode >= 500,
    // The address that trusted proxies tell of, whole IPv6 networks as one.
    keyGenerator: (request) =>
      `${ipKeyGenerator(request.ip ?? request.socket.remoteAddress ?? '')} ${hashSecret(claimedClient(request))}`,
    standardHeaders: false,
    legacyHeaders: false,
    handler: (_request, response) => {
      response.set('Retry-After', String(WINDOW_MS / 1000));
      const text = 'Too many requests failed; try again in a minute.';
      response.status(429).json({ error: 'invalid_request', error_description: text });
    },
  });
}

/** The name under which a request comes; '' when it has none that can be read. */
function claimedClient({ headers, body }: Request): string {
  try {
    return presentedBy(headers.authorization, parametersOf(String(body))).clientId ?? '';
  } catch {
    return '';
  }
}

import { type Request, type RequestHandler, type Response, Router } from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { markRoutine } from '../http/log.ts';
import { redactWebhookUrl } from '../http/redaction.ts';
import { ADMIN_CREDENTIAL } from '../model/exchange.ts';
import { beginAuditEntry } from '../operations/audited.ts';
import type { ServedTravel } from './deps.ts';
import { adminErrorHandler, admitCaller, type RouterDeps } from './router.ts';
import type { Caller } from './sign-in/sessions.ts';

/**
 * Serves the API of the embedded travel service to admins, who read and, with the role admin, change resources. Answers and errors are
 * those of that API, but for a caller who may not call it. Each change is recorded in the audit log before it takes effect.
 */
export function travelApi(embedded: ServedTravel, deps: RouterDeps): RequestHandler {
  const refuse = adminErrorHandler(deps.log);
  const router = Router({ caseSensitive: true });
  // A body that arrives late brings a request here twice.
  const findCaller = async (request: Request, response: Response) => {
    try {
      const caller = await admitCaller(request, response, isRead(request) ? 'viewer' : 'admin', deps);
      if (!caller) return undefined;
      if (isRead(request)) markRoutine(response);
      else if (!response.locals['isAudited']) await recordChange(request, response, caller, deps);
      if (caller.role === 'viewer') changeAnswer(response, async (body) => withoutWebhookUrls(body));
      return { userId: caller.shownName, credential: `${ADMIN_CREDENTIAL}${caller.id}` };
    } catch (error) {
      refuse(error, request, response, () => {});
      return undefined;
    }
  };
  router.use(embedded.serveAdmins(findCaller));
  return router;
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Writes the entry of a change, and its outcome before the answer is sent. The values are not in the entry: they may be secrets. */
async function recordChange(
  request: Request,
  response: Response,
  caller: Caller,
  deps: RouterDeps,
): Promise<void> {
  response.locals['isAudited'] = true;
  const details = { method: request.method, path: request.path };
  const entry = {
    ...{ actor: caller.shownName, actorKind: caller.kind },
    ...{ address: clientAddressOf(response), action: 'changeTravelData', details },
  };
  const finish = await beginAuditEntry(entry, deps);
  changeAnswer(response, async (body) => {
    const fields = Object.keys(Object(request.body?.data));
    const id = Object(Object(body).data).id;
    const known = { ...details, ...(typeof id === 'string' && { id }), ...(fields.length > 0 && { fields }) };
    await finish({ status: response.statusCode, details: known });
    return body;
  });
}

/** Lets a function see the body of the answer before it is sent, and return another one. */
function changeAnswer(response: Response, change: (body: unknown) => Promise<unknown>): void {
  const { json } = response;
  response.json = (body) => {
    void change(body).then((changed) => json.call(response, changed));
    return response;
  };
}

/** The answer for a viewer: the URL of a webhook often contains the secret of its receiver. Events of webhooks have it too. */
function withoutWebhookUrls(body: unknown): unknown {
  const { data, ...rest } = Object(body);
  if (data === undefined) return body;
  return { ...rest, data: Array.isArray(data) ? data.map(withoutUrl) : withoutUrl(data) };
}

function withoutUrl(resource: Record<string, unknown>): unknown {
  const { type, kind, url, data, previousAttributes } = resource;
  const redacted = (part: unknown) => {
    const { url: given } = Object(part);
    return given === undefined ? part : { ...Object(part), url: redactWebhookUrl(String(given)) };
  };
  if (type === 'webhook' && url !== undefined) return redacted(resource);
  if (type !== 'event' || !String(kind).startsWith('webhook.')) return resource;
  return {
    ...resource,
    data: redacted(data),
    ...(previousAttributes !== undefined && { previousAttributes: redacted(previousAttributes) }),
  };
}

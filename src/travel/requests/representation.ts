import { hash } from 'node:crypto';
import { gzip } from 'node:zlib';
import type { Express, Request, Response } from 'express';
import { REVALIDATE } from '../../http/app.ts';
import { BRIDGE_CREDENTIAL } from '../../model/exchange.ts';
import { callerCredential } from '../authentication/authentication.ts';
import { ApiError, errorBody } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/** The conditions of a request (RFC 9110 §13.1). */
export interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

/** Reads the conditions of a request; undefined if it has none. */
export function conditionsOf(request: Request): Conditions | undefined {
  const [ifMatch, ifNoneMatch] = [request.get('if-match'), request.get('if-none-match')];
  return ifMatch === undefined && ifNoneMatch === undefined ? undefined : { ifMatch, ifNoneMatch };
}

/** Throws 412 if a resource, in its response form, is not as the conditions of a change want it. */
export function requireConditions({ ifMatch, ifNoneMatch }: Conditions, data: JsonObject): void {
  const tag = etagOf(JSON.stringify({ data }));
  const isWanted = ifMatch === undefined || includes(ifMatch, tag, 'strong');
  if (!isWanted || (ifNoneMatch !== undefined && includes(ifNoneMatch, tag, 'weak'))) throw changed();
}

/** Marks an answer as the present state of the resource at its URL, so that it gets an ETag. */
export function markCurrent({ locals }: Response): void {
  locals['isCurrent'] = true;
}

/**
 * Gives current states an ETag, answers 304 where the client has them already, and compresses long answers. The prototype is patched once,
 * because a method on each response slows every request down.
 */
export function sendRepresentations({ response }: Express): void {
  const send = response.send;
  response.send = function (this: Response, body) {
    if (typeof body !== 'string') return send.call(this, body);
    const isCompressed = isCompressible(this, body);
    if (this.locals['isCurrent'] && this.statusCode < 300) {
      const tag = etagOf(body);
      this.set({
        ETag: isCompressed ? tag.replace(/"$/, `${COMPRESSED}"`) : tag,
        'Cache-Control': REVALIDATE,
      });
      this.vary('Authorization');
      const outcome = outcomeOfRead(this.req, tag);
      if (outcome === 304) {
        this.removeHeader('Content-Type');
        return this.status(304).end();
      }
      if (outcome === 412) {
        this.removeHeader('ETag');
        return send.call(this.status(412), JSON.stringify(errorBody(changed())));
      }
    }
    if (!isCompressed) return send.call(this, body);
    gzip(body, (error, bytes) => {
      if (error) this.destroy(error);
      else send.call(this.set('Content-Encoding', 'gzip'), bytes);
    });
    return this;
  };
}

/** A shorter body fits into a packet with its headers. */
const COMPRESSED_FROM = 1_024;

/** The bridge runs in this process, where compressing costs more than sending. */
function isCompressible(response: Response, body: string): boolean {
  if (body.length < COMPRESSED_FROM || callerCredential(response)?.credential === BRIDGE_CREDENTIAL)
    return false;
  response.vary('Accept-Encoding');
  return response.req.acceptsEncodings('gzip', 'identity') === 'gzip';
}

/** The conditions of a GET are judged by the state that is about to be sent. */
function outcomeOfRead(request: Request, tag: string): 200 | 304 | 412 {
  const conditions = isRead(request) ? conditionsOf(request) : undefined;
  if (!conditions) return 200;
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && !includes(ifMatch, tag, 'strong')) return 412;
  return ifNoneMatch !== undefined && includes(ifNoneMatch, tag, 'weak') ? 304 : 200;
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The ETag of a body: a hash, because an answer also changes with the resources that it is derived from. */
function etagOf(body: string): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
}

/** The end of the ETag of a compressed answer: its bytes are others, and the state is the same. */
const COMPRESSED = '-gzip';

/** Reports whether a list of ETags has one (RFC 9110 §8.8.3.2). A malformed list has none. */
function includes(list: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  if (!/^(?:[\s,]*(?:W\/)?"[^"]*")+[\s,]*$/.test(list)) return false;
  const tags = [...list.matchAll(/(W\/)?("[^"]*")/g)];
  return tags.some(
    ([, weak, given = '']) =>
      (weak === undefined || comparison === 'weak') && given.replace(`${COMPRESSED}"`, '"') === tag,
  );
}

function changed(): ApiError {
  return new ApiError('conflict', 'The resource is not as the conditions of the request want it.', {
    status: 412,
  });
}

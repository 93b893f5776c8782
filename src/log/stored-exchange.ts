import { cutStrangerText } from '../http/minute-quota.ts';
import { redactBody, redactQuery } from '../http/redaction.ts';
import type { KeptBody, NewExchange, StoredExchange } from '../model/exchange.ts';

/**
 * Maximum size of a kept body, in bytes. It is less than the first piece of a streamed response, which is all that is kept of
 * it, so that such a body counts as truncated.
 */
const MAX_BODY_BYTES = 64_000;

/** True for a request without a valid credential: anybody can send it, as often as they like. */
export function isOfStranger({ connection, userId }: Pick<NewExchange, 'connection' | 'userId'>): boolean {
  return connection === undefined && userId === undefined;
}

/** Returns an exchange as it is stored: without secrets, with the person whom it is about, and with truncated bodies. */
export function toStored({ address: _address, ...exchange }: NewExchange, at: number): StoredExchange {
  const { status, path, requestHeaders } = exchange;
  const requestBody = toKeptBody(exchange.requestBody);
  const responseBody = toKeptBody(exchange.responseBody);
  // The errors of the embedded travel service are shown with their bodies.
  const hasCode = status !== undefined && status >= 400 && exchange.direction !== 'api';
  // Redaction comes first, because a secret cannot be recognized in a truncated text.
  const redacted = redactQuery(path);
  const isStranger = isOfStranger(exchange);
  return {
    ...exchange,
    at,
    ms: Math.round(exchange.ms * 10) / 10,
    person: exchange.person ?? personOf(exchange),
    path: isStranger ? cutStrangerText(redacted) : redacted,
    error: exchange.error ?? (hasCode ? errorCode(responseBody) : undefined),
    requestHeaders: isStranger ? cutValues(requestHeaders) : requestHeaders,
    ...{ requestBody, responseBody },
  };
}

function cutValues(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, cutStrangerText(value)]));
}

/** The person of a SCIM request is the one in the path or the one that was created. */
function personOf({ direction, path, responseHeaders: { location = '' } }: NewExchange): string | undefined {
  if (direction !== 'scim') return undefined;
  const inPath = /^\/+scim\/+v2\/+Users\/+([\w-]{1,100})\/?(?:$|\?)/i.exec(path);
  return (inPath ?? /\/Users\/([\w-]{1,100})$/.exec(location))?.[1];
}

function toKeptBody(body: string | Uint8Array | undefined): KeptBody | undefined {
  if (body === undefined || body.length === 0) return undefined;
  const { text, cut } = redactBody(typeof body === 'string' ? body : decoder.decode(body), MAX_BODY_BYTES);
  return { text, isCut: cut };
}

const decoder = new TextDecoder();

/** Returns the `scimType` of a SCIM error, or the code of an error of the travel API. */
function errorCode(body: KeptBody | undefined): string | undefined {
  if (!body || body.isCut) return undefined;
  try {
    const { scimType, code } = Object(JSON.parse(body.text));
    return [scimType, code].find((value) => typeof value === 'string')?.slice(0, 100);
  } catch {
    return undefined;
  }
}

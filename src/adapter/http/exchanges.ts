import type { AxiosResponse } from 'axios';
import { type CallCause, type ExchangeRecorder, pickHeaders } from '../../model/exchange.ts';
import { asObject, asString } from '../json.ts';

/** The log of exchanges, and the connection whose calls are recorded. */
export interface CallRecorder {
  recorder: ExchangeRecorder;
  connection: string;
}

/** A call that has ended. */
export interface EndedCall {
  request: {
    method: string;
    path: string;
    cause?: CallCause | undefined;
    /** True for calls that are repeated all day: those that succeed are not recorded. */
    isPolling?: true;
  };
  /** The media type and the text of the request body; undefined if it has none. */
  body: { type: string; text: string } | undefined;
  /** The duration in milliseconds. */
  ms: number;
  /** The response, or the error in place of one. */
  result: { response: AxiosResponse<string> } | { error: unknown; isTimeout: boolean };
}

/** Records a call in the log of exchanges, unless it is a successful poll. */
export function recordCall({ recorder, connection }: CallRecorder, call: EndedCall): void {
  const { request, body, ms, result } = call;
  const response = 'response' in result ? result.response : undefined;
  const isOk = response !== undefined && response.status < 400;
  if (request.isPolling && isOk) return;
  const isKept = !isOk || request.method !== 'GET' || recorder.keepsReadBodies(connection);
  recorder.record({
    ...{ direction: 'travel', ms, connection, method: request.method, status: response?.status },
    path: sentPath(result) ?? request.path,
    person: request.cause?.person,
    requestId: request.cause?.requestId,
    error: 'error' in result ? errorText(result) : undefined,
    requestHeaders: body ? { 'content-type': body.type } : {},
    responseHeaders: response ? pickHeaders(response.headers, loggedHeaders) : {},
    requestBody: isKept ? body?.text : undefined,
    responseBody: isKept ? response?.data : undefined,
  });
}

/** Returns the path and query as sent; undefined if there was no request yet. */
function sentPath(result: EndedCall['result']): string | undefined {
  const sent: unknown = 'response' in result ? result.response.request : asObject(result.error)?.['request'];
  return typeof sent === 'object' && sent !== null && 'path' in sent ? asString(sent.path) : undefined;
}

/** Returns the code of an error: its other properties contain the credential. */
function errorText({ error, isTimeout }: { error: unknown; isTimeout: boolean }): string {
  return isTimeout ? 'timeout' : (asString(asObject(error)?.['code']) ?? 'no answer');
}

const loggedHeaders = ['content-type', 'etag', 'retry-after'];

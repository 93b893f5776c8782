import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import SCIMMY from 'scimmy';
import { parseQuery, type Query } from './protocol/endpoint.ts';
import { type JsonText, sendScim } from './protocol/responses.ts';

/**
 * SCIMMY's types require methods to return instances of its schemas. At run time it accepts any value, and its own instances
 * take a hundred times as long.
 */
const Resource = SCIMMY.Types.Resource as unknown as new () => object;

/**
 * A resource class that keeps the id and the query of a request. SCIMMY's own constructor parses filters in exponential time,
 * and refuses some that identity providers send.
 */
export class UnparsedResource extends Resource {
  protected readonly id: string | undefined;
  protected readonly query: Query;

  constructor(...[id, query]: [id?: string | Parameters, query?: Parameters]) {
    super();
    this.id = typeof id === 'string' ? id : undefined;
    this.query = parseQuery((typeof id === 'string' ? query : id) ?? {});
  }

  /** SCIMMYRouters sets the base path on every request, but for the whole process. The request context has the base URL. */
  static basepath(): undefined {
    return undefined;
  }
}

/** The parameters of a URL as the client has written them. */
type Parameters = Record<string, unknown>;

/**
 * Replaces `response.send`, which SCIMMYRouters calls. The `send` of express would add a charset to the media type, and an ETag
 * of the body.
 */
export const sendAsScim: RequestHandler = (_request, response, next) => {
  response.send = sendThis;
  next();
};

function sendThis(this: Response, json?: JsonText): Response {
  // SCIMMYRouters sets the media type of a response without a body, too.
  this.removeHeader('Content-Type');
  sendScim(this, json);
  return this;
}

/** SCIMMYRouters passes an error with this property on, and sends the message of any other one to the client. */
const passedOn = Object.assign(new Error('A resource class has failed.'), {
  schemas: [SCIMMY.Messages.Error.id],
});

/** Runs a method of a resource class. An error of it reaches `restoreError`, and not SCIMMYRouters. */
export async function keepingErrors<T>({ locals }: Response, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    locals['resourceError'] = error;
    throw passedOn;
  }
}

/** Passes on the error that a resource class threw. SCIMMYRouters replaces it by one without headers and cause. */
export const restoreError: ErrorRequestHandler = (error, _request, response, next) => {
  response.removeHeader('Content-Type');
  next(response.locals['resourceError'] ?? error);
};

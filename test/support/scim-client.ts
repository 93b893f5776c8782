/** An answer of the front door. */
export interface ScimAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

/** A client of one service with one token. */
export interface ScimClient {
  /** Sends a request to a path below `/scim/v2`, with JSON unless `body` is text. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimAnswer>;
}

/** The client of the service at `url`. */
export function scimClient(url: string, token: string): ScimClient {
  return {
    send: async (method, path, body, headers) => {
      const response = await fetch(`${url}/scim/v2${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/scim+json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
  };
}

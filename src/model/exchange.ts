/**
 * `scim`: a request of an IdP to the bridge. `oauth`: a request of a client to /oauth/token. `travel`: a call of the bridge to the
 * travel API. `api`: a request to the embedded travel service.
 */
export type ExchangeDirection = 'scim' | 'oauth' | 'travel' | 'api';

/** The directions of the bridge itself: the requests to it, and its calls. */
export const bridgeDirections = ['scim', 'oauth', 'travel'] as const satisfies ExchangeDirection[];

/** An exchange of the log that is no request to the embedded travel service. */
type BridgeExchange = LoggedExchange & { direction: (typeof bridgeDirections)[number] };

/** True for a request to the bridge or a call of it. Those to the embedded travel service are a list of their own. */
export function isOfBridge(exchange: LoggedExchange): exchange is BridgeExchange {
  return exchange.direction !== 'api';
}

/** The credential with which the bridge calls the embedded travel service. */
export const BRIDGE_CREDENTIAL = 'bridge';

/** The credentials of the admin page and of admin tokens begin so. */
export const ADMIN_CREDENTIAL = 'admin:';

/** True for a call of the bridge as the embedded travel service has received it. It is in the log as a travel call, too. */
export function isOwnCall({ direction, credential }: LoggedExchange): boolean {
  return direction === 'api' && credential === BRIDGE_CREDENTIAL;
}

/** One request and its response, without their bodies. */
export interface Exchange {
  direction: ExchangeDirection;
  /** The start of the request, in epoch milliseconds. */
  at: number;
  /** The duration in milliseconds. */
  ms: number;
  /** Undefined if the request had no valid token, and for requests to the embedded travel service. */
  connection: string | undefined;
  /** The SCIM id of the user whom the exchange is about: the one in the path, a created one, or the one that is reconciled. */
  person: string | undefined;
  /** The authenticated user of the embedded travel service, and the credential that the user authenticated with. */
  userId?: string | undefined;
  credential?: string | undefined;
  /** A SCIM request and the travel calls that it caused have the same one. Calls of background work have none. */
  requestId: string | undefined;
  method: string;
  /** The path and query, percent-encoded as sent. Values that may be secrets are replaced by `*`. */
  path: string;
  /** 499: the client closed the connection. Undefined for a travel call without a response. */
  status: number | undefined;
  /**
   * The `scimType` or the error code of the response, why a credential was refused, e.g. `expired credential`, or why there is no
   * response, e.g. `ECONNREFUSED`.
   */
  error: string | undefined;
  /** Only headers that influence the exchange, with names in lower case. Never credentials. */
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string>;
}

/** A body as it is kept: secrets are replaced by `*`, and a long body is truncated. */
export interface KeptBody {
  text: string;
  /** True if the text is only the beginning of the body. */
  isCut: boolean;
}

/** An exchange as it is stored. Bodies of writes and of errors are kept, those of other reads only on request. */
export interface StoredExchange extends Exchange {
  requestBody?: KeptBody | undefined;
  responseBody?: KeptBody | undefined;
}

/** An exchange of the log with its position there, a whole number. An exchange that is logged later has a higher one. */
export type LoggedExchange = StoredExchange & { position: string };

/** Conditions that must all hold. */
export interface ExchangeQuery {
  /** The empty text selects exchanges without a connection. */
  connection?: string | undefined;
  /** A person whom the exchange is about or asks about: the SCIM id; the userName, addresses and travel id. */
  person?: { id: string; names: readonly string[] } | undefined;
  /** One direction, or several of which any will do. */
  direction?: ExchangeDirection | readonly ExchangeDirection[] | undefined;
  method?: string | undefined;
  /** A range of statuses, both included. Calls without a response have none. */
  status?: { from: number; to: number } | undefined;
  /** True: only statuses of 400 or higher, and calls without a response. */
  isFailed?: boolean | undefined;
  /** The beginning of the path, without case, e.g. `/scim/v2/Groups`. */
  path?: string | undefined;
  /** The user of the embedded travel service on whose behalf the request was made. */
  userId?: string | undefined;
  /** The exchanges of one SCIM request. */
  requestId?: string | undefined;
  /**
   * True: without the calls that the bridge makes at an interval, such as for the event feed, lookups, imports and probes, unless they
   * have failed. They concern no person, and no request causes them.
   */
  hidesPolls?: boolean | undefined;
  /** Epoch milliseconds, included. */
  since?: number | undefined;
  /** Epoch milliseconds, excluded. */
  until?: number | undefined;
  /** Only exchanges before this position. */
  before?: string | undefined;
  /** Only exchanges after this position. */
  after?: string | undefined;
  limit: number;
  /** True: the exchanges have neither headers nor bodies, which then are not read. */
  isBrief?: boolean | undefined;
}

/** A page of exchanges, the newest first. */
export interface ExchangePage {
  exchanges: LoggedExchange[];
  /**
   * The `before` of the next page; undefined if there is none. A page may be short, or empty, although there is a next one: each page
   * looks at a limited part of the log.
   */
  next: string | undefined;
  /** The end of the log as it was read: what is logged later is found with it as `after`. */
  head: string;
}

/** The log of exchanges, as it is read by people. */
export interface ExchangeLog {
  list(query: ExchangeQuery): Promise<ExchangePage>;
  /** Returns the exchange at a position; undefined if it has been deleted. */
  get(position: string): Promise<LoggedExchange | undefined>;
  /** Makes all replicas keep the bodies of reads of a connection until that time (epoch milliseconds), within some seconds. */
  keepReadBodies(connection: string, until: number): Promise<void>;
  /** Returns the connections whose reads are kept with their bodies at a time, each with the end of that time. */
  readBodyWindows(now: number): Promise<Map<string, number>>;
}

/** An exchange that has just ended, with its bodies as they were sent: those that are to be kept. */
export interface NewExchange extends Omit<Exchange, 'at'> {
  requestBody?: string | Uint8Array | undefined;
  responseBody?: string | undefined;
  /** The address of the client, which limits the exchanges without a valid credential. It is not stored. */
  address?: string | undefined;
}

/** The SCIM id of the person for whom a travel call is made, and the SCIM request that causes it. */
export type CallCause = Partial<Pick<Exchange, 'person' | 'requestId'>>;

/** Returns those of the headers that the log keeps. Names are in lower case. */
export function pickHeaders(headers: object, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value: unknown = Reflect.get(headers, name);
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
}

/** Adds exchanges to the log. */
export interface ExchangeRecorder {
  /** Queues an exchange. It is written some time later, or never if the database cannot keep up. Never throws. */
  record(exchange: NewExchange): void;
  /** True if the bodies of reads of this connection are kept at present. */
  keepsReadBodies(connection: string): boolean;
}

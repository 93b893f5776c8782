/** One SCIM request of an IdP and its answer, as the log of exchanges holds them. */
export interface RecordedExchange {
  /** The arrival of the request, in epoch milliseconds. */
  at: number;
  connection: string;
  method: string;
  /** The path and query below the SCIM base URL, percent-encoded as sent, e.g. `/Users?filter=userName%20eq%20%22ada%22`. */
  path: string;
  /** Header names in lower case. Credentials may be missing. */
  requestHeaders: Record<string, string>;
  /** The whole body. Undefined if there was none, or if it was not kept or not kept whole. */
  requestBody?: string;
  status: number;
  /** Header names in lower case. */
  responseHeaders: Record<string, string>;
  /** The whole body. Undefined if there was none, or if it was not kept or not kept whole. */
  responseBody?: string;
}

/** Exchanges in the order in which they were logged, and the position after them. */
export interface RecordedExchanges {
  exchanges: RecordedExchange[];
  /** Read on from here, even if there are none. Every exchange that is logged later has a later position. */
  position: string;
}

/** The log of exchanges, as a recording reads it. */
export interface ExchangeSource {
  /** Reads the exchanges of a connection since a time (epoch milliseconds), or after the position of an earlier read. */
  read(connection: string, from: { since: number } | { after: string }): Promise<RecordedExchanges>;
  /**
   * Asks the running services to log the bodies of reads too, until that time (epoch milliseconds). Missing if they
   * always do or cannot.
   */
  keepReadBodies?(connection: string, until: number): Promise<void>;
}

/** The request log's table. Times are epoch milliseconds. */
export interface RequestLogTables {
  request_log: RequestLogTable;
}

/** One request to the travel service. */
export interface RequestLogTable {
  /** In the order in which they were kept. */
  seq: number;
  time: number;
  ms: number;
  method: string;
  path: string;
  /** The path as it is searched: without its query, folded, and no longer than is useful. */
  place: string;
  status: number;
  user_id: string | null;
  credential: string | null;
  request_id: string;
  request_body: string | null;
  /** 1: the body was longer than what is kept of it. */
  request_cut: number;
  response_body: string | null;
  response_cut: number;
}

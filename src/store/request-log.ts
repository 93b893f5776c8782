import { type Kysely, type Selectable, sql } from 'kysely';
import type { LoggedRequest, RequestLog, RequestLogQuery } from '../travel/ports.ts';
import type { Database } from './database.ts';
import type { NameMatcher } from './erasure/matchers.ts';
import { insertInBatches } from './queries.ts';
import { takeFeedNumbers } from './sequences.ts';
import type { Tables } from './tables.ts';

/** Returns the request log of a database. Writes are not synced at once: a power failure may lose the last entries. */
export function requestLog({ db, transaction }: Database): RequestLog {
  return {
    append: (requests) =>
      transaction(
        async (tx) => {
          const first = await takeFeedNumbers(tx, 'request', requests.length);
          const rows = requests.map((request, position) => toRow(request, first + position));
          await insertInBatches(rows, (some) => tx.insertInto('request_log').values(some));
        },
        { durable: false },
      ),
    list: async (query) => {
      const { found, next } = await findRequestPage(db, query);
      return { requests: await readRequests(db, found), next };
    },
    deleteOlderThan: (before, limit) =>
      transaction(
        async (tx) => {
          const oldest = tx
            .selectFrom('request_log')
            .select('seq')
            .where('time', '<', before)
            .orderBy('time')
            .limit(limit);
          const { numDeletedRows } = await tx
            .deleteFrom('request_log')
            .where('seq', 'in', oldest)
            .executeTakeFirstOrThrow();
          return Number(numDeletedRows);
        },
        { durable: false },
      ),
  };
}

type Row = Selectable<Tables['request_log']>;

function toRow(request: LoggedRequest, seq: number): Row {
  const { requestBody, responseBody } = request;
  return {
    seq,
    time: request.time,
    ms: request.ms,
    method: request.method,
    path: request.path,
    place: searchablePath(request.path),
    status: request.status,
    user_id: request.userId ?? null,
    credential: request.credential ?? null,
    request_id: request.requestId,
    request_body: requestBody?.text ?? null,
    request_cut: Number(requestBody?.cut ?? false),
    response_body: responseBody?.text ?? null,
    response_cut: Number(responseBody?.cut ?? false),
  };
}

async function readRequests(db: Kysely<Tables>, entries: { seq: number }[]): Promise<LoggedRequest[]> {
  if (entries.length === 0) return [];
  const seqs = entries.map(({ seq }) => seq);
  const rows = await db
    .selectFrom('request_log')
    .selectAll()
    .where('seq', 'in', seqs)
    .orderBy('time', 'desc')
    .orderBy('seq', 'desc')
    .execute();
  return rows.map(toRequest);
}

function toRequest(row: Row): LoggedRequest {
  const body = (text: string | null, cut: number) => (text === null ? undefined : { text, cut: cut === 1 });
  return {
    time: row.time,
    ms: row.ms,
    method: row.method,
    path: row.path,
    status: row.status,
    userId: row.user_id ?? undefined,
    credential: row.credential ?? undefined,
    requestId: row.request_id,
    requestBody: body(row.request_body, row.request_cut),
    responseBody: body(row.response_body, row.response_cut),
  };
}

/** Limit on the index entries that one page scans, whatever the filter; some milliseconds of work. */
const MAX_SCANNED_ROWS = 20_000;
/** The length to which paths are truncated for the search, in characters. */
const MAX_SEARCHED_PATH = 200;

/** An entry of the index of the log. A cursor contains the last entry of the previous page. */
interface Entry {
  time: number;
  seq: number;
}

/**
 * Returns a path in the form in which it is searched. Lower case, because routes of the travel service are not
 * case-sensitive.
 */
export function searchablePath(path: string): string {
  const [own = ''] = path.split('?', 1);
  return own.toLowerCase().replace(/\/+$/, '').slice(0, MAX_SEARCHED_PATH);
}

/** Returns the entries of one page, and the cursor of the next page if there may be more. */
export async function findRequestPage(
  db: Kysely<Tables>,
  query: RequestLogQuery,
): Promise<{ found: Entry[]; next: string | undefined }> {
  const { limit } = query;
  const found = await selectMatchingRows(db, query)
    .limit(limit + 1)
    .execute();
  const last = found.length > limit ? found[limit - 1] : await readLastScannedRow(db, query);
  return { found: found.slice(0, limit), next: last && toCursor(last) };
}

/** Selects the scanned entries that match the filter. The index contains all columns that the filter needs. */
function selectMatchingRows(db: Kysely<Tables>, query: RequestLogQuery) {
  const { statuses, userId, path } = query;
  const place = path === undefined ? '' : searchablePath(path);
  return db
    .selectFrom((log) => selectScannedRows(log, query).as('looked_at'))
    .select(['time', 'seq'])
    .$if(statuses !== undefined, (all) =>
      all.where('status', '>=', statuses?.from ?? 0).where('status', '<=', statuses?.to ?? 0),
    )
    .$if(userId !== undefined, (all) => all.where('user_id', '=', userId ?? ''))
    .$if(place !== '', (all) =>
      all.where((row) =>
        row.or([
          row('place', '=', place),
          row(sql<string>`substr(${row.ref('place')}, 1, ${place.length + 1})`, '=', `${place}/`),
        ]),
      ),
    )
    .orderBy('time', 'desc')
    .orderBy('seq', 'desc');
}

function selectScannedRows(db: Pick<Kysely<Tables>, 'selectFrom'>, { since, until, after }: RequestLogQuery) {
  const behind = after === undefined ? undefined : parseCursor(after);
  return db
    .selectFrom('request_log')
    .select(['time', 'seq', 'status', 'user_id', 'place'])
    .$if(since !== undefined, (log) => log.where('time', '>=', since ?? 0))
    .$if(until !== undefined, (log) => log.where('time', '<', until ?? 0))
    .$if(behind !== undefined, (log) =>
      log.where((row) =>
        row(row.refTuple('time', 'seq'), '<', row.tuple(behind?.time ?? 0, behind?.seq ?? 0)),
      ),
    )
    .orderBy('time', 'desc')
    .orderBy('seq', 'desc')
    .limit(MAX_SCANNED_ROWS);
}

/** Returns the last entry that a page scans; undefined if the log ends before the limit. */
function readLastScannedRow(db: Kysely<Tables>, query: RequestLogQuery): Promise<Entry | undefined> {
  return selectScannedRows(db, query)
    .offset(MAX_SCANNED_ROWS - 1)
    .clearLimit()
    .limit(1)
    .executeTakeFirst();
}

function toCursor({ time, seq }: Entry): string {
  return `${time.toString(36)}-${seq.toString(36)}`;
}

function parseCursor(text: string): Entry {
  const [time = '', seq = ''] = text.split('-');
  return { time: Number.parseInt(time, 36), seq: Number.parseInt(seq, 36) };
}

/** Entries per read. With long bodies that is some megabytes. */
const ROWS_AT_ONCE = 200;

/** The person to look for in the request log. */
export interface LoggedPerson {
  matcher: NameMatcher;
  travelIds: readonly string[];
  /** Receives the number of entries that were looked at since the last call. */
  onRead?(count: number): void;
}

/** Counts the entries that name the person. */
export async function countLoggedRequests({ db }: Database, person: LoggedPerson): Promise<number> {
  let count = 0;
  for await (const { rows } of readRowsAbout(db, person, BEGINNING)) count += rows.length;
  return count;
}

/**
 * Reduces the entries after a position that name the person to time, duration, method, redacted path, status and
 * request id. Returns their number, and the position of the last entry that was read.
 */
export async function redactLoggedRequests(
  { db, transaction, dialect }: Database,
  person: LoggedPerson,
  after = BEGINNING,
): Promise<{ count: number; last: number }> {
  let count = 0;
  let place = after;
  for await (const { rows, last } of readRowsAbout(db, person, after)) {
    place = last;
    if (rows.length === 0) continue;
    await transaction(async (tx) => {
      const seqs = rows.map(({ seq }) => seq);
      const paths = tx
        .selectFrom('request_log')
        .select(['seq', 'path'])
        .where('seq', 'in', seqs)
        .orderBy('seq');
      // Read again: another erasure may have redacted the paths since.
      for (const { seq, path: before } of await dialect.lockValues(paths).execute()) {
        const path = redactPath(before, person);
        await tx
          .updateTable('request_log')
          .set({ path, place: searchablePath(path), ...redactedColumns })
          .where('seq', '=', seq)
          .execute();
      }
    });
    count += rows.length;
  }
  return { count, last: place };
}

const BEGINNING = Number.MIN_SAFE_INTEGER;

const redactedColumns = {
  user_id: null,
  credential: null,
  request_body: null,
  request_cut: 0,
  response_body: null,
  response_cut: 0,
} as const;

async function* readRowsAbout(
  db: Kysely<Tables>,
  person: LoggedPerson,
  after: number,
): AsyncGenerator<{ rows: Row[]; last: number }> {
  let last = after;
  for (;;) {
    const rows: Row[] = await db
      .selectFrom('request_log')
      .selectAll()
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(ROWS_AT_ONCE)
      .execute();
    const end = rows.at(-1);
    if (!end) return;
    last = end.seq;
    person.onRead?.(rows.length);
    yield { rows: rows.filter((row) => isAbout(row, person)), last };
  }
}

function isAbout({ path, user_id, request_body, response_body }: Row, person: LoggedPerson): boolean {
  if (user_id !== null && person.travelIds.includes(user_id)) return true;
  if (redactPath(path, person) !== path) return true;
  return [request_body, response_body].some((body) => body !== null && person.matcher.matchesJson(body));
}

/** Replaces the path segments that name the person. If the query names the person, it is removed. */
export function redactPath(path: string, { matcher }: Pick<LoggedPerson, 'matcher'>): string {
  const [own = '', ...queries] = path.split('?');
  const segments = own
    .split('/')
    .map((one) => (matcher.matchesValue(decodePart(one)) ? ERASED_SEGMENT : one));
  const query = queries.join('?');
  const isKept = query !== '' && !matcher.matchesSentence(decodePart(query));
  return isKept
    ? `${segments.join('/')}?${query}`
    : `${segments.join('/')}${query === '' && queries.length > 0 ? '?' : ''}`;
}

const ERASED_SEGMENT = ':erased';

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

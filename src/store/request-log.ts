import { type CompiledQuery, type DialectAdapter, type Kysely, type Selectable, sql } from 'kysely';
import type { LoggedRequest, RequestLog, RequestLogQuery } from '../travel/ports.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';
import { takeNumbers } from './travel-turns.ts';

/** So many rows are one statement; few sizes, so that each is built once. */
const SIZES = [50, 10, 1];

/** The request log in a database. A failure of power may take its last moments: nobody rests on them. */
export function requestLog({ db, withRelaxedDurability: lightly }: Database): RequestLog {
  return {
    append: (requests) =>
      lightly(db, (light) =>
        light.transaction().execute(async (tx) => {
          const last = await takeNumbers(tx, 'request', requests.length);
          const rows = requests.map((request, at) => toRow(request, last - requests.length + 1 + at));
          for (const size of SIZES) while (rows.length >= size) await insert(tx, rows.splice(0, size));
        }),
      ),
    list: async (query) => {
      const { found, next } = await requestPage(db, query);
      return { requests: await read(db, found), next };
    },
    deleteOlderThan: (before, limit) =>
      lightly(db, async (light) => {
        const oldest = light
          .selectFrom('request_log')
          .select('seq')
          .where('time', '<', before)
          .orderBy('time')
          .limit(limit);
        const { numDeletedRows } = await light
          .deleteFrom('request_log')
          .where('seq', 'in', oldest)
          .executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      }),
  };
}

type Row = Selectable<Tables['request_log']>;

const built = new WeakMap<DialectAdapter, Map<number, CompiledQuery>>();

/** Inserts rows by a statement that is built once for each number of them: building it takes longer than carrying it out. */
async function insert(tx: Kysely<Tables>, rows: Row[]): Promise<void> {
  const { adapter } = tx.getExecutor();
  const known = built.get(adapter) ?? new Map<number, CompiledQuery>();
  built.set(adapter, known);
  const compiled = known.get(rows.length) ?? tx.insertInto('request_log').values(rows).compile();
  known.set(rows.length, compiled);
  // All have the same columns in the same order, as `toRow` makes them.
  await tx.executeQuery({ ...compiled, parameters: rows.flatMap((row) => Object.values(row)) });
}

function toRow(request: LoggedRequest, seq: number): Row {
  const { requestBody, responseBody } = request;
  return {
    seq,
    time: request.time,
    ms: request.ms,
    method: request.method,
    path: request.path,
    place: placeOf(request.path),
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

async function read(db: Kysely<Tables>, entries: { seq: number }[]): Promise<LoggedRequest[]> {
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

/** So many entries of the index are looked at for one page, whatever is looked for: some milliseconds. */
const LOOKED_AT = 20_000;
/** The longest path that is searched. */
const PLACE = 200;

/** An entry of the log's index. Pages are made of places behind one. */
interface Entry {
  time: number;
  seq: number;
}

/** A path as it is searched. The routes of the travel service are the same in any case. */
export function placeOf(path: string): string {
  const [own = ''] = path.split('?', 1);
  return own.toLowerCase().replace(/\/+$/, '').slice(0, PLACE);
}

/** The requests of one page, and where the next page begins, if there may be more. */
export async function requestPage(
  db: Kysely<Tables>,
  query: RequestLogQuery,
): Promise<{ found: Entry[]; next: string | undefined }> {
  const { limit } = query;
  const found = await matching(db, query)
    .limit(limit + 1)
    .execute();
  const last = found.length > limit ? found[limit - 1] : await lastLookedAt(db, query);
  return { found: found.slice(0, limit), next: last && toText(last) };
}

/** Of the entries that are looked at, those that are looked for: the index holds all that has to be known of them. */
function matching(db: Kysely<Tables>, query: RequestLogQuery) {
  const { statuses, userId, path } = query;
  const place = path === undefined ? '' : placeOf(path);
  return db
    .selectFrom((log) => lookedAt(log, query).as('looked_at'))
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

function lookedAt(db: Pick<Kysely<Tables>, 'selectFrom'>, { since, until, after }: RequestLogQuery) {
  const behind = after === undefined ? undefined : fromText(after);
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
    .limit(LOOKED_AT);
}

/** The last entry that was looked at; undefined when there is none behind it. */
function lastLookedAt(db: Kysely<Tables>, query: RequestLogQuery): Promise<Entry | undefined> {
  return lookedAt(db, query)
    .offset(LOOKED_AT - 1)
    .clearLimit()
    .limit(1)
    .executeTakeFirst();
}

function toText({ time, seq }: Entry): string {
  return `${time.toString(36)}-${seq.toString(36)}`;
}

function fromText(text: string): Entry {
  const [time = '', seq = ''] = text.split('-');
  return { time: Number.parseInt(time, 36), seq: Number.parseInt(seq, 36) };
}

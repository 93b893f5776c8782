import type { CompiledQuery, DialectAdapter, Kysely, Selectable } from 'kysely';
import type { LoggedRequest, RequestLog } from '../travel/ports.ts';
import type { Database } from './database.ts';
import { placeOf, requestPage } from './request-log-page.ts';
import type { Tables } from './tables.ts';
import { takeNumbers } from './travel-turns.ts';

/** So many rows are one statement; few sizes, so that each is built once. */
const SIZES = [50, 10, 1];

/** The request log in a database. A failure of power may take its last moments: nobody rests on them. */
export function requestLog({ db, lightly }: Database): RequestLog {
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
    sweep: (before, limit) =>
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

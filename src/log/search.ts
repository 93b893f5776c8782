import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type {
  ExchangeLog,
  ExchangePage,
  ExchangeQuery,
  KeptBody,
  LoggedExchange,
} from '../model/exchange.ts';
import type { ExchangeSource, RecordedExchange } from '../replay/exchanges.ts';
import type { Database } from '../store/sql/database.ts';
import { parseJson, toJson, yieldToEventLoop } from '../store/sql/queries.ts';
import { caseFoldedKey } from '../store/sql/search-keys.ts';
import type { ExchangeTable, Tables } from '../store/sql/tables.ts';
import { readBodyWindows, readHead } from './exchange-store.ts';

/** The log of exchanges as people and recordings read it. */
export interface ExchangeReader extends ExchangeLog, Pick<ExchangeSource, 'read'> {}

/** Returns the reading side of the log of a database. */
export function exchangeReader({ db }: Pick<Database, 'db'>): ExchangeReader {
  const list = (query: ExchangeQuery) => listExchanges(db, query);
  return {
    list,
    get: async (position) => {
      const one = db.selectFrom('exchange').selectAll().where('position', '=', Number(position));
      const row = await one.executeTakeFirst();
      return row && toExchange(row);
    },
    readBodyWindows: (now) => readBodyWindows(db, now),
    read: async (connection, from) => {
      const query = { connection, direction: 'scim', ...from, limit: PAGE } as const;
      const { exchanges, head: position, next } = await list(query);
      for (let before = next; before !== undefined; ) {
        const page = await list({ ...query, before });
        exchanges.push(...page.exchanges);
        before = page.next;
      }
      return { exchanges: exchanges.reverse().map(toRecorded), position };
    },
    keepReadBodies: async (connection, until) => {
      await db
        .updateTable('connection')
        .set({ read_bodies_until: until })
        .where('id', '=', connection)
        .where((row) => row.or([row('read_bodies_until', 'is', null), row('read_bodies_until', '<', until)]))
        .execute();
    },
  };
}

/** The number of positions that one statement looks at, and the statements of one page. Others run between two of them. */
const STEP = 1_000;
const MAX_STEPS = 5;
/** The exchanges of a page that a recording reads. */
const PAGE = 500;

async function listExchanges(db: Kysely<Tables>, query: ExchangeQuery): Promise<ExchangePage> {
  const head = await readHead(db);
  const range = await findRange(db, query);
  // A query that an index answers is one step.
  const step = query.person || query.requestId !== undefined ? Infinity : STEP;
  const exchanges: LoggedExchange[] = [];
  const page = (next?: number) => ({ exchanges, next: next?.toString(), head: String(head) });
  let upTo = Math.min(head, range.upTo, Number(query.before ?? Infinity) - 1);
  for (let steps = 0; upTo > range.after; steps += 1) {
    if (steps === MAX_STEPS) return page(upTo + 1);
    const after = Math.max(range.after, upTo - step);
    // One more than the page has shows that there is another one.
    const found = await readMatching(db, query, { after, upTo }, query.limit + 1 - exchanges.length);
    exchanges.push(...found);
    if (exchanges.length > query.limit) {
      exchanges.pop();
      return page(Number(exchanges.at(-1)?.position));
    }
    upTo = after;
    await yieldToEventLoop();
  }
  return page();
}

/** Positions from `after`, which is left out, to `upTo`. */
type Range = Record<'after' | 'upTo', number>;

/** The longest time between the beginning of an exchange and its place in the log, with the difference of clocks. */
const MAX_DELAY_MS = 10 * 60_000;

/** Finds the range that a query looks at, so that one of a short time in the past does not look at everything since then. */
async function findRange(db: Kysely<Tables>, { since, until, after = '0' }: ExchangeQuery): Promise<Range> {
  const first = db.selectFrom('exchange').select('position').limit(1);
  const oldest = await first.orderBy('position').executeTakeFirst();
  const earlier = first.where('at', '<', (since ?? 0) - MAX_DELAY_MS).orderBy('at', 'desc');
  const later = first.where('at', '>=', (until ?? 0) + MAX_DELAY_MS).orderBy('at');
  const before = since === undefined ? undefined : await earlier.executeTakeFirst();
  const end = until === undefined ? undefined : await later.executeTakeFirst();
  return {
    after: Math.max(Number(after), (oldest?.position ?? 1) - 1, before?.position ?? 0),
    upTo: end?.position ?? Infinity,
  };
}

/** Reads the newest matching exchanges of a range. */
async function readMatching(
  db: Kysely<Tables>,
  query: ExchangeQuery,
  { after, upTo }: Range,
  limit: number,
): Promise<LoggedExchange[]> {
  const matching = db
    .selectFrom('exchange')
    .select(briefColumns)
    .where('position', '>', after)
    .where('position', '<=', upTo)
    .where((row) => row.and(conditionsOf(row, query)))
    .orderBy('position', 'desc')
    .limit(limit);
  const rows = query.isBrief ? matching : matching.select(['request', 'response']);
  return (await rows.execute()).map(toExchange);
}

const briefColumns = [
  ...(['position', 'at', 'ms', 'direction', 'connection_id', 'person', 'user_id', 'credential'] as const),
  ...(['request_id', 'method', 'path', 'status', 'error'] as const),
] satisfies (keyof ExchangeTable)[];

/** A request or response in its column. */
interface Message {
  headers: Record<string, string>;
  body?: KeptBody;
}

const unread = toJson({ headers: {} } satisfies Message);

function toExchange(
  row: Pick<ExchangeTable, (typeof briefColumns)[number]> &
    Partial<Pick<ExchangeTable, 'request' | 'response'>>,
): LoggedExchange {
  const request = parseJson<Message>(row.request ?? unread);
  const response = parseJson<Message>(row.response ?? unread);
  return {
    ...{ position: String(row.position), at: row.at, ms: row.ms, direction: row.direction },
    ...{ connection: row.connection_id || undefined, person: row.person ?? undefined },
    ...{ userId: row.user_id ?? undefined, credential: row.credential ?? undefined },
    ...{ requestId: row.request_id ?? undefined, method: row.method, path: row.path },
    ...{ status: row.status ?? undefined, error: row.error ?? undefined },
    ...{ requestHeaders: request.headers, requestBody: request.body },
    ...{ responseHeaders: response.headers, responseBody: response.body },
  };
}

type Row = ExpressionBuilder<Tables, 'exchange'>;

function conditionsOf(row: Row, query: ExchangeQuery): Expression<SqlBool>[] {
  const { connection, person, direction, method, status, isFailed, path } = query;
  const { userId, requestId, hidesPolls, since, until } = query;
  const conditions: (Expression<SqlBool> | undefined | false)[] = [
    connection !== undefined && row('connection_id', '=', connection),
    person && row('position', 'in', positionsAbout(row, person)),
    direction !== undefined && row('direction', 'in', [direction].flat()),
    method !== undefined && row('method', '=', method.toUpperCase()),
    status && row.and([row('status', '>=', status.from), row('status', '<=', status.to)]),
    isFailed && row.or([row('status', 'is', null), row('status', '>=', 400)]),
    // Paths are percent-encoded, so that the database folds the same letters as JavaScript.
    path !== undefined && sql<boolean>`substr(lower(path), 1, ${path.length}) = ${path.toLowerCase()}`,
    userId !== undefined && row('user_id', '=', userId),
    requestId !== undefined && row('request_id', '=', requestId),
    hidesPolls &&
      row.or([
        row('direction', '<>', 'travel'),
        row('person', 'is not', null),
        row('request_id', 'is not', null),
        row('status', 'is', null),
        row('status', '>=', 400),
      ]),
    since !== undefined && row('at', '>=', since),
    until !== undefined && row('at', '<', until),
  ];
  return conditions.filter((condition) => condition !== undefined && condition !== false);
}

/** Selects the positions of the exchanges that are about a person or search for the person. */
function positionsAbout(row: Row, { id, names }: NonNullable<ExchangeQuery['person']>) {
  const own = row.selectFrom('exchange as own').select('own.position').where('own.person', '=', id);
  const sought = [id, ...names].map(caseFoldedKey);
  return own.union(
    row.selectFrom('exchange as asked').select('asked.position').where('asked.sought', 'in', sought),
  );
}

/** Returns an exchange as recordings need it: the path below the base URL, and no body in place of a truncated one. */
export function toRecorded(exchange: LoggedExchange): RecordedExchange {
  const { at, connection = '', method, path, requestHeaders, status, responseHeaders } = exchange;
  const { requestBody, responseBody } = exchange;
  return {
    ...{ at, connection, method, requestHeaders, responseHeaders },
    path: path.replace(/^\/+scim\/+v2\/*(?=\/|$)/i, ''),
    status: status ?? 499,
    ...(requestBody && !requestBody.isCut ? { requestBody: requestBody.text } : {}),
    ...(responseBody && !responseBody.isCut ? { responseBody: responseBody.text } : {}),
  };
}

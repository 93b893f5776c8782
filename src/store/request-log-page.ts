import { type Kysely, sql } from 'kysely';
import type { RequestLogQuery } from '../travel/ports.ts';
import type { Tables } from './tables.ts';

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

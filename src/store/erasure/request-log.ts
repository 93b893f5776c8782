import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../database.ts';
import { placeOf } from '../request-log.ts';
import type { Tables } from '../tables.ts';
import type { Mentions } from './mentions.ts';

/** Entries that are looked at together: with long bodies that is some megabytes. */
const BATCH = 200;

/** Whom entries of the request log are about. */
export interface LoggedPerson {
  mentions: Mentions;
  travelIds: readonly string[];
}

/** How many entries name the person; nothing is changed. */
export async function countLogged({ db }: Database, person: LoggedPerson): Promise<number> {
  let count = 0;
  for await (const { rows } of entries(db, person, BEGINNING)) count += rows.length;
  return count;
}

/**
 * Reduces the entries behind a place that name the person to what every entry must have: when, how long, method, path without
 * what names the person, status and request id. Answers how many, and the place of the last entry.
 */
export async function reduceLogged(
  { db }: Database,
  person: LoggedPerson,
  after = BEGINNING,
): Promise<{ count: number; last: number }> {
  let count = 0;
  let place = after;
  for await (const { rows, last } of entries(db, person, after)) {
    place = last;
    if (rows.length === 0) continue;
    await db.transaction().execute(async (tx) => {
      for (const { seq, path: before } of rows) {
        const path = pathWithout(before, person);
        await tx
          .updateTable('request_log')
          .set({ path, place: placeOf(path), ...reduced })
          .where('seq', '=', seq)
          .execute();
      }
    });
    count += rows.length;
  }
  return { count, last: place };
}

const BEGINNING = Number.MIN_SAFE_INTEGER;

const reduced = {
  user_id: null,
  credential: null,
  request_body: null,
  request_cut: 0,
  response_body: null,
  response_cut: 0,
} as const;

type Row = Selectable<Tables['request_log']>;

async function* entries(
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
      .limit(BATCH)
      .execute();
    const end = rows.at(-1);
    if (!end) return;
    last = end.seq;
    yield { rows: rows.filter((row) => isAbout(row, person)), last };
  }
}

function isAbout({ path, user_id, request_body, response_body }: Row, person: LoggedPerson): boolean {
  if (user_id !== null && person.travelIds.includes(user_id)) return true;
  if (pathWithout(path, person) !== path) return true;
  return [request_body, response_body].some((body) => body !== null && person.mentions.occursIn(body));
}

/** The path without the segments that name the person, and without a query that does. */
function pathWithout(path: string, { mentions }: LoggedPerson): string {
  const [own = '', ...queries] = path.split('?');
  const segments = own.split('/').map((one) => (mentions.isNamed(decoded(one)) ? ERASED_SEGMENT : one));
  const query = queries.join('?');
  const isKept = query !== '' && !mentions.isTold(decoded(query));
  return isKept
    ? `${segments.join('/')}?${query}`
    : `${segments.join('/')}${query === '' && queries.length > 0 ? '?' : ''}`;
}

const ERASED_SEGMENT = ':erased';

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

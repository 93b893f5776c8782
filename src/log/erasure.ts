import { decodeOrKeep } from '../http/redaction.ts';
import type { Database } from '../store/sql/database.ts';
import { batches, parseJson, yieldToEventLoop } from '../store/sql/queries.ts';
import type { ExchangeTable } from '../store/sql/tables.ts';
import type { KeptBody } from './exchange.ts';

/** A person to erase from the log. */
export interface PersonInLog {
  /** The SCIM ids. */
  ids: readonly string[];
  /** The ids in the embedded travel service. */
  travelIds: readonly string[];
  /** Returns true if a path or a body of a connection has one of the person's names; the connection may be empty. */
  isNamed(text: string, connection: string): boolean;
}

/** Finds the exchanges that are about a person, that the person has made, or whose path or bodies have one of the person's names. */
export async function findExchanges(database: Database, person: PersonInLog): Promise<number[]> {
  const found: number[] = [];
  for await (const rows of readRows(database))
    for (const row of rows) if (concerns(row, person)) found.push(row.position);
  return found;
}

/** Deletes the exchanges at these positions. */
export async function deleteExchanges({ transaction }: Database, positions: number[]): Promise<void> {
  for (const some of batches(positions))
    await transaction((tx) => tx.deleteFrom('exchange').where('position', 'in', some).execute());
}

/** Returns the userNames and travel addresses that a person has had, as the exchanges about the person tell them. */
export async function findFormerNames({ db }: Database, ids: readonly string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const some of batches(ids)) {
    const rows = await db
      .selectFrom('exchange')
      .select(['request', 'response'])
      .where('person', 'in', some)
      .execute();
    for (const text of rows.flatMap(bodiesOf))
      for (const [, name = ''] of text.matchAll(/"(?:userName|email)"\s*:\s*"([^"\\]+)"/g)) names.add(name);
  }
  return [...names];
}

/** The exchanges that one statement reads. */
const STEP = 500;

type Row = Pick<
  ExchangeTable,
  'position' | 'connection_id' | 'person' | 'user_id' | 'path' | 'request' | 'response'
>;

async function* readRows({ db }: Database): AsyncGenerator<Row[]> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('exchange')
      .select(['position', 'connection_id', 'person', 'user_id', 'path', 'request', 'response'])
      .where('position', '>', last)
      .orderBy('position')
      .limit(STEP)
      .execute();
    const end = rows.at(-1);
    if (!end) return;
    last = end.position;
    yield rows;
    await yieldToEventLoop();
  }
}

function concerns(row: Row, { ids, travelIds, isNamed }: PersonInLog): boolean {
  if (row.person !== null && ids.includes(row.person)) return true;
  if (row.user_id !== null && travelIds.includes(row.user_id)) return true;
  return [decodeOrKeep(row.path), ...bodiesOf(row)].some((text) => isNamed(text, row.connection_id));
}

function bodiesOf({ request, response }: Pick<Row, 'request' | 'response'>): string[] {
  return [request, response].flatMap((message) => parseJson<{ body?: KeptBody }>(message).body?.text ?? []);
}

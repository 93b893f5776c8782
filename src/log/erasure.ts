import { decodeOrKeep } from '../http/redaction.ts';
import type { KeptBody } from '../model/exchange.ts';
import type { Database } from '../store/sql/database.ts';
import { batches, parseJson, yieldToEventLoop } from '../store/sql/queries.ts';
import type { ExchangeTable } from '../store/sql/tables.ts';

/** A person to erase from the log. */
export interface PersonInLog {
  /** The SCIM ids and the travel ids. */
  ids: readonly string[];
  /** The connections of the person's account. Exchanges without a connection are searched, too. */
  connections: readonly string[];
  /** Returns true if a path or a body has one of the person's names. */
  isNamed(text: string): boolean;
}

/** The exchanges that one statement reads. */
const STEP = 500;

/** Finds the exchanges that are about a person, that the person has made, or whose path or bodies have one of the person's names. */
export async function findExchanges(
  { db }: Database,
  { ids, connections, isNamed }: PersonInLog,
): Promise<number[]> {
  const found: number[] = [];
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('exchange')
      .select(['position', 'connection_id', 'person', 'user_id', 'path', 'request', 'response'])
      .where('position', '>', last)
      .orderBy('position')
      .limit(STEP)
      .execute();
    const end = rows.at(-1);
    if (!end) return found;
    last = end.position;
    for (const { position, connection_id, person, user_id, path, ...messages } of rows) {
      const isOwn = ids.includes(person ?? '') || ids.includes(user_id ?? '');
      const isInAccount = connection_id === '' || connections.includes(connection_id);
      if (isOwn || (isInAccount && [decodeOrKeep(path), ...bodiesOf(messages)].some(isNamed)))
        found.push(position);
    }
    await yieldToEventLoop();
  }
}

/** Deletes the exchanges at these positions. */
export async function deleteExchanges({ db }: Database, positions: readonly number[]): Promise<void> {
  for (const some of batches(positions))
    await db.deleteFrom('exchange').where('position', 'in', some).execute();
}

/** Returns the userNames and travel addresses that a person has had, as the exchanges about the person tell them. */
export async function findFormerNames({ db }: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('exchange')
    .select(['request', 'response'])
    .where('person', 'in', ids)
    .execute();
  const texts = rows.flatMap(bodiesOf);
  const named = texts.flatMap((text) => [...text.matchAll(/"(?:userName|email)"\s*:\s*"([^"\\]+)"/g)]);
  return [...new Set(named.map(([, name = '']) => name))];
}

function bodiesOf({ request, response }: Pick<ExchangeTable, 'request' | 'response'>): string[] {
  return [request, response].flatMap((message) => parseJson<{ body?: KeptBody }>(message).body?.text ?? []);
}

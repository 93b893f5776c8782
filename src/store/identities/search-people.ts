import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { findingValueText, type ListedPerson } from '../../model/people.ts';
import type { Finding } from '../../model/translation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { JsonObject } from '../../schema/resource.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { parseJson, yieldToEventLoop } from '../sql/queries.ts';
import { containsText, inRange, personKeys, personSearchKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { walkIndex } from '../sql/walk-index.ts';

/** The people with findings whose values are compared, and those whom one statement reads. */
const MAX_WITH_FINDINGS = 10_000;
const FINDINGS_STEP = 1_000;

/** The text in which people are sought, in the scope of a connection. */
interface TextSearch {
  scope: Scope;
  /** Folded. */
  text: string;
}

/**
 * Yields the ids of the people in whose names, addresses, numbers, ids or values of findings a text occurs, deleted people included, an id
 * sometimes twice. No index finds a part of a text, so all keys are compared: narrow ones, in steps (docs/decisions/0059).
 */
export async function* idsWithText(
  db: Kysely<Tables>,
  search: TextSearch,
): AsyncGenerator<string[], void, undefined> {
  const { scope, text } = search;
  yield* walkIndex(db, scope, {
    ...{ table: 'identity_email', id: 'identity_id', key: 'email_key' },
    range: personKeys,
    matches: sql`${containsText('email_key', text)} or ${containsText('identity_id', text)}`,
  });
  yield* walkIndex(db, scope, {
    ...{ table: 'identity', id: 'id', key: 'travel_id' },
    range: { from: '', to: '\u{10FFFF}' },
    matches: containsText('travel_id', text),
  });
  yield* idsWithFindingText(db, search);
}

async function* idsWithFindingText(
  db: Kysely<Tables>,
  { scope, text }: TextSearch,
): AsyncGenerator<string[], void, undefined> {
  let [key, id] = ['', ''];
  for (let read = 0; read < MAX_WITH_FINDINGS; read += FINDINGS_STEP) {
    const { rows } = await sql<{ user_name_key: string; id: string; findings: string }>`
      select user_name_key, id, findings from identity
      where ${inScope(scope)} and finding_codes <> '' and (user_name_key, id) > (${key}, ${id})
      order by user_name_key, id limit ${sql.lit(FINDINGS_STEP)}`.execute(db);
    await yieldToEventLoop();
    yield rows.filter((row) => hasFindingText(parseJson(row.findings), text)).map((row) => row.id);
    const last = rows.at(-1);
    if (!last || rows.length < FINDINGS_STEP) return;
    [key, id] = [last.user_name_key, last.id];
  }
}

function hasFindingText(findings: Finding[], text: string): boolean {
  return findings.some((finding) => foldCase(findingValueText(finding)).includes(text));
}

/** The condition of the people whom `hasText` has to check: all with the text, and all with findings. */
export function mayHaveText({ scope, text }: TextSearch): RawBuilder<SqlBool> {
  return sql<SqlBool>`(finding_codes <> '' or ${containsText('id', text)} or ${containsText('travel_id', text)}
    or exists (select 1 from identity_email as keyed
      where ${inScope(scope, 'keyed')} and keyed.identity_id = identity.id
        and ${inRange('keyed.email_key', personKeys)} and ${containsText('keyed.email_key', text)}))`;
}

/** Returns true for the people whom `idsWithText` yields. */
export function hasText(person: ListedPerson, desired: JsonObject, text: string): boolean {
  const { id, travelId = '', findings } = person;
  const key = personSearchKey(desired).slice(personKeys.from.length);
  return [id, travelId, key].some((one) => one.includes(text)) || hasFindingText(findings, text);
}

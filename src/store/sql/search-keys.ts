import { createHash } from 'node:crypto';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PartOperator } from '../../model/list-ports.ts';
import { displayNameOf, type Evidence } from '../../model/people.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { cleanValue } from '../../schema/clean-text.ts';
import { nameOf, spellingsOf } from '../../schema/name-spellings.ts';
import {
  emailsOf,
  employeeNumberKey,
  employeeNumberOf,
  isObject,
  type JsonObject,
  textOf,
  urns,
} from '../../schema/resource.ts';

/**
 * Returns the key under which a text is found regardless of case. Folded here and not in SQL, because SQLite folds
 * ASCII only and PostgreSQL folds by locale.
 */
export function caseFoldedKey(text: string): string {
  return hashIfLong(foldCase(text));
}

/** Returns the key under which a mapping finds a group by its name. */
export function ruleNameKey(name: string): string {
  return caseFoldedKey(cleanValue(name));
}

/** Returns the key under which a text is found exactly. */
export function exactKey(text: string): string {
  return hashIfLong(text);
}

/** Returns the key of a string attribute. Null for a value of any other type, which cannot be searched. */
export function attributeKey(value: unknown, key: (text: string) => string): string | null {
  return typeof value === 'string' ? key(value) : null;
}

/** Returns the keys of a user's email addresses, without duplicates (RFC 7643 §4.1.2). */
export function emailKeys(desired: JsonObject): string[] {
  return [...new Set(emailsOf(desired).map(caseFoldedKey))];
}

/** Returns the keys of a user in the table `identity_email`: those of the email addresses, of the employee number, of the name, and of the person. */
export function contactKeys(desired: JsonObject): string[] {
  const number = employeeNumberKey(employeeNumberOf(desired));
  const numbers = number === undefined ? [] : [numberSearchKey(number)];
  return [...emailKeys(desired), ...numbers, ...nameKeys(desired), personSearchKey(desired)];
}

/**
 * The beginning of the keys of `personSearchKey`. It is a capital letter, as no key of an address contains, and not one of ASCII, whose case
 * `like` ignores in SQLite: no text that is sought occurs in it.
 */
const PERSON = 'Ω';

/**
 * Returns the key in which any part of a person's names, addresses, employee number and externalId is found. It begins with the name, or
 * the userName of somebody without one, so that the keys sort people by name. A key that is too long is cut, because a hash of it has no parts.
 */
export function personSearchKey(desired: JsonObject): string {
  const { userName, externalId, name } = desired;
  const names = isObject(name) ? [name['givenName'], name['familyName']] : [];
  const texts = [...names, userName, ...emailsOf(desired), employeeNumberOf(desired), externalId]
    .filter((text) => typeof text === 'string')
    .map(foldCase);
  let key = foldCase(displayNameOf(desired) || String(userName ?? ''));
  for (const text of texts) if (!key.includes(text)) key += `\n${text}`;
  // Half of a character outside the basic plane cannot be stored.
  return PERSON + key.slice(0, MAX_KEY_LENGTH - PERSON.length).replace(/[\ud800-\udbff]$/, '');
}

/**
 * Returns the key of an employee number. It begins with capital letters, which no key of an address contains: a search for an address
 * never finds it.
 */
export function numberSearchKey(employeeNumberKey: string): string {
  return `NUMBER ${hashIfLong(employeeNumberKey)}`;
}

/** The beginning of the keys of names. It is in capital letters for the same reason. */
const NAME = 'NAME ';

/** Returns a key for each spelling of a user's name, with the department; none without one, because many people have one name. */
function nameKeys(desired: JsonObject): string[] {
  const extension = desired[urns.enterprise];
  const department = isObject(extension) ? textOf(extension['department'])?.trim() : undefined;
  if (!department) return [];
  const spellings = new Set(spellingsOf(nameOf(desired)));
  return [...spellings].map((spelling) => NAME + hashIfLong(`${spelling} ${foldCase(department)}`));
}

/** Returns what two people with this key share; the value is empty for names. */
export function evidenceOf(key: string): Evidence {
  if (key.startsWith(NAME)) return { kind: 'nameAndDepartment', value: '' };
  const number = numberSearchKey('');
  return key.startsWith(number)
    ? { kind: 'employeeNumber', value: key.slice(number.length) }
    : { kind: 'address', value: key };
}

/** Texts from `from` up to but without `to`. */
export interface TextRange {
  from: string;
  to: string;
}

/** The keys that begin with a text, whatever its case. */
export function prefixRange(prefix: string): TextRange {
  return rangeAfter(foldCase(prefix));
}

/** The texts that begin with this one. No text follows U+10FFFF. */
function rangeAfter(from: string): TextRange {
  return { from, to: `${from}\u{10FFFF}` };
}

/** The keys of people. No key of another kind is among them. */
export const personKeys: TextRange = { from: PERSON, to: 'Ϊ' };

/** The condition that a column, or an expression, contains a text, which is folded as the column is. */
export function containsText(column: string | RawBuilder<unknown>, text: string): RawBuilder<SqlBool> {
  return isLike(column, `%${escapeLike(text)}%`);
}

/** The condition that a text occurs at this place of a column that is folded as the text is. Longer texts than keys occur in none. */
export function hasPart(column: string, operator: PartOperator, text: string): RawBuilder<SqlBool> {
  if (text.length > MAX_KEY_LENGTH) return sql<SqlBool>`1 = 0`;
  if (operator === 'sw') return inRange(column, rangeAfter(text));
  return operator === 'ew' ? isLike(column, `%${escapeLike(text)}`) : containsText(column, text);
}

function isLike(column: string | RawBuilder<unknown>, pattern: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${typeof column === 'string' ? sql.ref(column) : column} like ${pattern} escape '\\'`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** The condition that a key is in a range. */
export function inRange(column: string, { from, to }: TextRange): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} >= ${from} and ${sql.ref(column)} < ${to}`;
}

/**
 * The longest key, in characters. Real names and addresses are shorter, and PostgreSQL refuses index entries above
 * 2,700 bytes.
 */
const MAX_KEY_LENGTH = 500;

/**
 * Prefix of the hash that replaces a key that is too long. A text that itself begins with this prefix is hashed too, so
 * that it cannot equal the hash of another text.
 */
const HASH_PREFIX = 'sha256:';

/** The keys of texts that are too long. */
export const hashedKeys: TextRange = { from: HASH_PREFIX, to: 'sha256;' };

/** The condition that a key of a person was cut. It also holds for some keys that were not: characters count as bytes. */
export function isCut(column: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`octet_length(${sql.ref(column)}) >= ${sql.lit(MAX_KEY_LENGTH - 1)}`;
}

/** Replaces a text that is too long for an index by its hash. */
function hashIfLong(text: string): string {
  const isKept = text.length <= MAX_KEY_LENGTH && !text.startsWith(HASH_PREFIX);
  return isKept ? text : `${HASH_PREFIX}${createHash('sha256').update(text).digest('hex')}`;
}

import type { FieldKey } from '../../model/translation.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { isObject, type Json } from '../../schema/resource.ts';
import { type Confirmation, type Field, fields, findField } from '../fields/fields.ts';
import type { Rules } from '../rules/rules.ts';
import { isEqualJson } from '../values/values.ts';
import { hasValue, parseFieldKey, readField } from './traveler.ts';

/**
 * True if the traveler shows another value of a field than the one that was sent (null: a removal), so that the travel API may not have
 * kept it. A value that the traveler does not show is not another one. Texts that the travel API may rewrite are never another one.
 */
export function showsOtherValue(
  traveler: TravelUser,
  { key, value, rules }: { key: FieldKey; value: Json; rules: Rules },
): boolean {
  const shown = key === 'archived' && traveler.isArchivedUnknown ? undefined : readField(traveler, key);
  if (shown === value) return false;
  const isRole = parseFieldKey(key).kind === 'role';
  if (isRole)
    return value === null ? shown !== undefined : traveler.roles !== undefined && shown === undefined;
  const confirmation = confirmationOf(key, rules.fields);
  if (confirmation === undefined || shown === undefined) return false;
  if (value === null) return true;
  return !hasValue(traveler, { key, wanted: value, rules }) && !comparisons[confirmation](shown, value);
}

/**
 * True if two values of a field are one value in two forms. Texts are one if they only differ in case, spaces, punctuation or
 * compatibility characters (NFKC); references, roles and `archived` must be equal.
 */
export function areSameSpellings(key: FieldKey, one: Json, other: Json): boolean {
  if (isEqualJson(one, other)) return true;
  if (one === null || other === null || parseFieldKey(key).kind === 'role') return false;
  const confirmation = confirmationOf(key, fields);
  if (confirmation === undefined) return isEqualJson(withPlainTexts(one), withPlainTexts(other));
  const isSame = comparisons[confirmation];
  return isSame(one, other) || isSame(other, one);
}

/** True for a text that a travel API may rewrite. */
export function isRewritten(key: FieldKey, { fields: table }: Rules): boolean {
  return parseFieldKey(key).kind !== 'role' && confirmationOf(key, table) === undefined;
}

/** Replaces texts, also those of custom fields, by their letters and digits. */
function withPlainTexts(value: Json): Json {
  if (typeof value === 'string') return plainText(value);
  if (!Array.isArray(value)) return value;
  return value.map((item) =>
    isObject(item) && typeof item.data === 'string' ? { ...item, data: plainText(item.data) } : item,
  );
}

/** Returns the text as it is if nothing but spaces and punctuation is in it. */
function plainText(text: string): string {
  const plain = foldCase(foldCase(text).normalize('NFKC')).replaceAll(/[\p{Z}\p{P}\s]+/gu, '');
  return plain === '' ? text : plain;
}

function confirmationOf(key: FieldKey, table: readonly Field[]): Confirmation | undefined {
  return key === 'archived' ? 'exact' : findField(key, table)?.confirmation;
}

const comparisons: Record<Confirmation, (shown: Json, sent: Json) => boolean> = {
  exact: (shown, sent) => shown === sent,
  caseless: (shown, sent) => foldCase(String(shown)) === foldCase(String(sent)),
  date: (shown, sent) => String(shown).slice(0, DATE_LENGTH) === sent,
};

/** The length of YYYY-MM-DD, after which a time may follow. */
const DATE_LENGTH = 10;

import { foldCase } from '../schema/case-fold.ts';
import type { Json } from '../schema/resource.ts';
import { type Field, findField } from './fields.ts';
import type { Rules } from './rules.ts';
import type { FieldKey } from './translation.ts';
import { hasValue, parseFieldKey, readField, type TravelUser } from './traveler.ts';

/** How a traveler confirms the value of a field that was sent (`Field.confirmation`). */
export type Confirmation = 'exact' | 'caseless' | 'date';

/**
 * True if the traveler shows another value of a field than the one that was sent (null: a removal), so that the travel API may not have
 * kept it. A value that the traveler does not show is not another one. Texts that the travel API may rewrite are never another one.
 */
export function showsOtherValue(
  traveler: TravelUser,
  { key, value, rules }: { key: FieldKey; value: Json; rules: Rules },
): boolean {
  const shown = readField(traveler, key);
  const isRole = parseFieldKey(key).kind === 'role';
  if (isRole)
    return value === null ? shown !== undefined : traveler.roles !== undefined && shown === undefined;
  const confirmation = confirmationOf(key, rules.fields);
  if (confirmation === undefined || shown === undefined) return false;
  if (value === null) return true;
  return !hasValue(traveler, { key, wanted: value, rules }) && !comparisons[confirmation](shown, value);
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

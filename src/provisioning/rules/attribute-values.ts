import type { Identities } from '../../model/store-ports.ts';
import { pathReader } from '../../schema/filter-match.ts';
import type { AttributePath } from '../../schema/filter-parser.ts';
import { userType } from '../../schema/resource-types.ts';
import { toText } from '../../translator/values/values.ts';

/** The number of people who are looked at, and of values that are returned. */
const PEOPLE = 500;
const VALUES = 20;

/** A value of an attribute, and the number of people who have it. */
export interface AttributeValue {
  value: string;
  people: number;
}

/** Finds the values that people of a connection have in an attribute, the most frequent first: among the first 500, at most 20. */
export async function findAttributeValues(
  identities: Pick<Identities, 'findPage'>,
  connection: string,
  path: AttributePath,
): Promise<AttributeValue[]> {
  const read = pathReader(userType, path);
  const { identities: people } = await identities.findPage(connection, 0, PEOPLE);
  const counts = new Map<string, number>();
  for (const { claimed, desired } of people) {
    const texts = claimed ? read(desired).map(toText) : [];
    for (const value of new Set(texts))
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts]
    .map(([value, count]) => ({ value, people: count }))
    .toSorted((one, other) => other.people - one.people || one.value.localeCompare(other.value))
    .slice(0, VALUES);
}

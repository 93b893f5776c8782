import { planCodes } from '../../model/findings.ts';
import { findingValueText, type ListedPerson } from '../../model/people.ts';
import type { Finding } from '../../model/translation.ts';

/** How many people of a connection have a finding with this code, field and value. */
export interface FindingValue {
  connection: string;
  code: string;
  field: string;
  /** As `findingValueText` formats it. */
  value: string;
  people: number;
  /** One of the people. */
  example: Pick<ListedPerson, 'id' | 'userName' | 'name'>;
  /** True if the people have other values than those that are told apart. */
  isRest: boolean;
}

/** The columns of finding values in CSV. */
export const findingValueColumns = {
  connection: ({ connection }: FindingValue) => connection,
  finding: ({ code }: FindingValue) => code,
  field: ({ field }: FindingValue) => field,
  value: ({ value }: FindingValue) => value,
  otherValues: ({ isRest }: FindingValue) => isRest,
  people: ({ people }: FindingValue) => people,
  exampleId: ({ example }: FindingValue) => example.id,
  exampleUserName: ({ example }: FindingValue) => example.userName,
};

/**
 * The values of a connection, code and field that are told apart: the first ones in the order of userNames. Further ones, such as addresses
 * that are taken, are counted together, so that memory is bounded.
 */
const MAX_VALUES = 1_000;

/** The values of one connection, code and field by their texts. */
interface Kind {
  values: Map<string, FindingValue>;
  rest?: FindingValue;
}

/**
 * Counts people by the codes, fields and values of their findings, the most frequent first; with `code`, only findings of that code. Plans of
 * shadow mode count only if they are asked for.
 */
export async function countFindingValues(
  pages: AsyncIterable<ListedPerson[]>,
  code?: string,
): Promise<FindingValue[]> {
  const kinds = new Map<string, Kind>();
  for await (const people of pages)
    for (const person of people) {
      const found = person.findings.filter((one) =>
        code === undefined ? !planCodes.has(one.code) : one.code === code,
      );
      // A person with two findings of one value counts once.
      for (const value of new Set(found.map((finding) => findOrAddValue(kinds, person, finding))))
        value.people += 1;
    }
  const values = [...kinds.values()].flatMap(({ values, rest }) => [
    ...values.values(),
    ...(rest ? [rest] : []),
  ]);
  return values.sort((one, other) => other.people - one.people);
}

function findOrAddValue(kinds: Map<string, Kind>, person: ListedPerson, finding: Finding): FindingValue {
  const { connection, id, userName, name } = person;
  const { code, field } = finding;
  const key = JSON.stringify([connection, code, field]);
  const kind: Kind = kinds.get(key) ?? { values: new Map() };
  kinds.set(key, kind);
  const text = findingValueText(finding);
  const known = kind.values.get(text);
  if (known) return known;
  const added = { connection, code, field, people: 0, example: { id, userName, name } };
  if (kind.values.size >= MAX_VALUES) {
    kind.rest ??= { ...added, value: '', isRest: true };
    return kind.rest;
  }
  const value = { ...added, value: text, isRest: false };
  kind.values.set(text, value);
  return value;
}

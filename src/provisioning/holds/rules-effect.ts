import type { Json } from '../../schema/resource.ts';
import type { FieldKey, Lookups } from '../../translator/translation.ts';
import { canonicalJson } from '../../translator/values/values.ts';
import { usedNames } from '../people/explain-fields.ts';
import type { FieldChange } from '../rules/mapping-effect.ts';
import { fieldNames } from '../rules/preview-mapping.ts';

/** The number of different changes of values that are counted for each field. Later ones are counted together. */
const MAX_COUNTED = 1_000;
/** The number of changes of values that are shown for each field. */
const MAX_SHOWN = 5;
const MAX_EXAMPLES = 10;

/** One value in the place of another, and the number of people for whom that is so. Null is a missing value. */
interface ReplacedValue {
  before: Json;
  after: Json;
  people: number;
}

/** The effect of a change of rules on one field. */
export interface FieldEffect {
  field: FieldKey;
  people: number;
  /** The most frequent changes of values. */
  values: ReplacedValue[];
  /** The number of people with other changes of values. */
  others: number;
}

/** One of the people whom a change of rules affects. */
interface EffectExample {
  id: string;
  userName: string;
  changes: Pick<FieldChange, 'field' | 'before' | 'after'>[];
}

/** The effect of a held change of rules on the people of a connection who were compared so far. */
export interface RulesEffect {
  /** The id of the count: another one may take its place. */
  count: string;
  /** The number of people whose travelers were compared so far. */
  looked: number;
  isComplete: boolean;
  /** The changes of mappings and lists of the travel service, each as a text that names it (`describeCauses`). */
  causes: string[];
  /** The number of people whom the change affects. */
  people: number;
  /** The affected fields, those of the most people first. */
  fields: FieldEffect[];
  examples: EffectExample[];
  /** The names of custom fields by key, and of the resources that the values contain by id. */
  names: Record<string, string>;
}

export type EffectCounter = ReturnType<typeof effectCounter>;

/** Adds up the changes of people. The names are those of the lookups, of which later ones count first. */
export function effectCounter(lookups: Lookups[]) {
  const fields = new Map<FieldKey, FieldCounter>();
  const examples: EffectExample[] = [];
  let people = 0;
  return {
    add: (person: Pick<EffectExample, 'id' | 'userName'>, changes: FieldChange[]): void => {
      people += 1;
      for (const change of changes) countChange(fields, change);
      if (examples.length >= MAX_EXAMPLES) return;
      const { id, userName } = person;
      examples.push({ id, userName, changes: changes.map(({ isAgain: _, ...change }) => change) });
    },
    total: (): Pick<RulesEffect, 'people' | 'fields' | 'examples' | 'names'> => {
      const shown = [...fields].map(([field, counter]) => toFieldEffect(field, counter));
      const names = lookups.map((one) => ({ ...fieldNames(one), ...usedNames([shown, examples], one) }));
      return {
        people,
        fields: shown.sort((one, other) => other.people - one.people),
        examples,
        names: Object.assign({}, ...names),
      };
    },
  };
}

interface FieldCounter {
  people: number;
  values: Map<string, ReplacedValue>;
}

function countChange(fields: Map<FieldKey, FieldCounter>, { field, before, after }: FieldChange): void {
  const counter = fields.get(field) ?? { people: 0, values: new Map() };
  fields.set(field, counter);
  counter.people += 1;
  const key = canonicalJson([before, after]);
  const known = counter.values.get(key);
  if (known) known.people += 1;
  else if (counter.values.size < MAX_COUNTED) counter.values.set(key, { before, after, people: 1 });
}

function toFieldEffect(field: FieldKey, { people, values: counted }: FieldCounter): FieldEffect {
  const values = [...counted.values()]
    .sort((one, other) => other.people - one.people)
    .slice(0, MAX_SHOWN)
    .map((value) => ({ ...value }));
  const others = people - values.reduce((sum, value) => sum + value.people, 0);
  return { field, people, values, others };
}

import { readPath } from '../schema/filter-match.ts';
import { isObject, type Json, type ScimResource } from '../schema/resource.ts';
import type { Candidate } from './decide.ts';
import { defaultRules } from './default-rules.ts';
import type { PlainField } from './fields.ts';
import { type Rule, type Rules, ruleFor } from './rules.ts';
import { readText } from './value-readers.ts';
import { isUnassigned, type Reading, textOf } from './values.ts';

/** Where a field's value may come from: its mapping rule alone where it has one, else the default rules. */
export function sourcesOf(rules: Rules, user: ScimResource, field: PlainField): Candidate[] {
  const rule = ruleFor(rules, field);
  return rule ? [ruleSource(rule, user)] : defaultRules[field](user, rules.mapping);
}

/** What a mapping rule reads in a user. */
export function ruleSource(rule: Rule, user: ScimResource): Candidate {
  const found = readPath(user, rule.path)
    .map(simple)
    .filter((value) => !isUnassigned(value));
  const { origin, text, transform, hasDefault } = rule;
  // A default is for whom nothing usable is said, too.
  const raws = hasDefault && found.every((value) => textOf(value) === undefined) ? [...found, null] : found;
  const source = { origin, rule: text, raws };
  return transform ? { ...source, prepare: (raw) => prepared(raw, transform) } : source;
}

/** What a source gives after its transforms, without what they make nothing of. */
export function valuesIn({ raws, prepare }: Candidate): Json[] {
  return raws.flatMap((raw) => {
    const prepared = prepare ? prepare(raw) : { value: raw };
    return 'value' in prepared ? [prepared.value] : [];
  });
}

/** An element of a multi-valued attribute stands for its `value` (RFC 7643 §2.4). */
function simple(value: Json): Json {
  return isObject(value) && value.value !== undefined ? value.value : value;
}

function prepared(raw: Json, transform: (text: string | undefined) => Reading): Reading {
  const text = textOf(raw);
  return text === undefined && raw !== null ? readText(raw) : transform(text);
}

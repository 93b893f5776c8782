import type { Json, JsonObject, ScimResource } from '../schema/resource.ts';
import type { Reading } from './reading.ts';
import type { TraceEntry } from './result.ts';
import { elementsOf, isUnassigned, typeOf } from './values.ts';

/** One place where a field's value may come from, in the order of preference. */
export interface Candidate {
  origin: TraceEntry['origin'];
  /** What is read, for the trace. */
  rule: string;
  /** What was found there; empty when nothing. */
  raws: Json[];
  /** The place in the mapping where the value stands, if the mapping itself names it. */
  mappingPath?: string;
  /** The transforms of a rule, before the field's own reader. */
  prepare?: (raw: Json) => Reading;
}

/** A candidate of the default rules. */
export function candidate(rule: string, ...values: (Json | undefined)[]): Candidate {
  const raws = values.filter((value) => value !== undefined).filter((value) => !isUnassigned(value));
  return { origin: 'default', rule, raws };
}

/** Elements of a multi-valued attribute in a rule's order of preference, each group with the path that selects it. */
interface Preference {
  path: string;
  elements: JsonObject[];
}

/** The elements by type in the order given, then the primary one, then all; those of a `never` type are left out. */
export function preferred(
  user: ScimResource,
  name: string,
  { types, never = [] }: { types: string[]; never?: string[] },
): Preference[] {
  const elements = elementsOf(user, name).filter((element) => !never.includes(typeOf(element) ?? ''));
  return [
    ...types.map((type) => ({
      path: `${name}[type eq "${type}"]`,
      elements: elements.filter((element) => typeOf(element) === type),
    })),
    { path: `${name}[primary eq true]`, elements: elements.filter(({ primary }) => primary === true) },
    { path: name, elements },
  ];
}

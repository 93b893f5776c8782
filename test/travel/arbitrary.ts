import fc, { type Arbitrary } from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../src/travel/json.ts';
import { visibleCharacter } from '../fixtures/unicode.ts';
import { partAt } from './contract.ts';

/** Returns the ids that fit a parameter with this description. */
export type Ids = (description: string) => string[];

/** Generates values that a schema allows. */
export function valuesOf(schema: JsonObject, ids: Ids): Arbitrary<Json> {
  const { $ref, const: only, enum: values, type } = schema;
  if (typeof $ref === 'string') return $ref.endsWith('/Anything') ? anything : valuesOf(partAt($ref), ids);
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom(...values);
  const choices = [schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []));
  if (choices.length > 0) return fc.oneof(...choices.filter(isJsonObject).map((one) => valuesOf(one, ids)));
  if (Array.isArray(type)) {
    return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one }, ids)));
  }
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer(boundsOf(schema));
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'array':
      return fc.array(valuesOf(isJsonObject(schema['items']) ? schema['items'] : {}, ids), {
        ...{ minLength: Number(schema['minItems'] ?? 0), maxLength: 3 },
      });
    case 'object':
      return objectsOf(schema, ids);
    case 'string':
      return stringsOf(schema, ids);
    default:
      return anything;
  }
}

/** The same values with some parts replaced by any JSON, removed, or added. */
export function mutatedValues(values: Arbitrary<Json>): Arbitrary<Json> {
  const change = fc.record({
    place: fc.nat(50),
    how: fc.constantFrom('replace', 'remove', 'add'),
    with: unexpectedJson,
  });
  return fc
    .tuple(values, fc.array(change, { maxLength: 2 }))
    .map(([value, changes]) => changes.reduce((changed, one) => changedAt(changed, one), value));
}

/** JSON that no schema expects. */
export const unexpectedJson: Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json),
  fc.constantFrom<Json>(null, '', 'x'.repeat(5000), -0, 1e308, [null], { '': {} }, '\u0000', '\ud800', {
    toString: 'x',
    constructor: null,
  }),
);

interface Change {
  place: number;
  how: string;
  with: Json;
}

const anything = fc.constantFrom<Json>('window', 7, true, ['a', 1], { deep: { er: 'x' } });

function objectsOf({ properties, required }: JsonObject, ids: Ids): Arbitrary<Json> {
  const members = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, member]) => [
    name,
    valuesOf(isJsonObject(member) ? member : {}, ids),
  ]);
  const model: Record<string, Arbitrary<Json>> = Object.fromEntries(members);
  return fc.record(model, { requiredKeys: Array.isArray(required) ? required.map(String) : [] });
}

function stringsOf({ format, pattern, maxLength, description }: JsonObject, ids: Ids): Arbitrary<Json> {
  if (format === 'idn-email') return fc.emailAddress();
  if (format === 'date') return day;
  if (format === 'uri') return fc.webUrl();
  if (/^\^\[.+\]\{(?:24|1,50)\}\$$/.test(String(pattern)))
    return fc.constantFrom(...ids(String(description)));
  // Non-blank strings are names: some are equal, so that they clash.
  if (pattern === '\\S')
    return fc.oneof(words, fc.string({ unit: visibleCharacter, minLength: 1, maxLength: 20 }).map(named));
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern, 'u'));
  return fc.string({ unit: visibleCharacter, maxLength: Math.min(Number(maxLength ?? 30), 30) });
}

const words = fc.constantFrom('Research', 'APOLLO', 'apollo', 'R42', 'Ünïcode 🚀');
const day = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

function named(text: string): string {
  return `n${text}`;
}

function boundsOf({ minimum, maximum }: JsonObject): { min?: number; max?: number } {
  const bound = (value: Json | undefined) =>
    typeof value === 'number' && Math.abs(value) < 2 ** 31 ? value : undefined;
  const [min, max] = [bound(minimum), bound(maximum)];
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** Changes one part of a value. Parts are numbered depth first, modulo their count. */
function changedAt(value: Json, { place, how, with: other }: Change): Json {
  const parts = pathsOf(value);
  const path = parts[place % parts.length] ?? [];
  return changed(value, path, (part) => {
    if (how === 'add' && isJsonObject(part)) return { ...part, surprise: other };
    if (how === 'add' && Array.isArray(part)) return [...part, other];
    return how === 'remove' ? undefined : other;
  });
}

function pathsOf(value: Json): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const inner = Object.entries(value).flatMap(([name, part]) => pathsOf(part).map((path) => [name, ...path]));
  return [[], ...inner];
}

function changed(value: Json, [name, ...rest]: string[], change: (part: Json) => Json | undefined): Json {
  if (name === undefined) return change(value) ?? null;
  const entries = Object.entries(isJsonObject(value) || Array.isArray(value) ? value : {}).flatMap(
    ([key, part]) => {
      if (key !== name) return [[key, part]];
      const next = rest.length === 0 ? change(part) : changed(part, rest, change);
      return next === undefined ? [] : [[key, next]];
    },
  );
  return Array.isArray(value) ? entries.map(([, part]) => part as Json) : Object.fromEntries(entries);
}

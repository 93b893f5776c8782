import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, ScimResource } from '../../src/schema/resource.ts';
import { type Mapping, parseMapping } from '../../src/translator/mapping.ts';
import type { Applied, FieldKey, Translation, Wanted } from '../../src/translator/result.ts';
import { compileRules, type Rules } from '../../src/translator/rules.ts';
import type { Lookups, Reference, ScimUserMapping } from '../../src/translator/snapshot.ts';
import { toTravel } from '../../src/translator/to-travel.ts';

/** What a travel service has, in every test that says nothing else. */
export const lookups: Lookups = JSON.parse(readFileSync(join(__dirname, 'lookups.json'), 'utf8'));

/** What a translation may be given, as plain JSON. */
export interface Given {
  mapping?: Json;
  collection?: ScimUserMapping[];
  lookups?: Partial<Lookups>;
  references?: { [raw: string]: Reference };
  applied?: Applied;
}

/** The mapping in a JSON value that must be free of faults. */
export function mappingOf(json: Json): Mapping {
  const result = parseMapping(json);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.mapping;
}

/** Rules of a mapping file and a collection. */
export function rulesOf(mapping: Json = {}, collection: ScimUserMapping[] = []): Rules {
  return compileRules(mappingOf(mapping), collection);
}

/** A user translated with everything that is not given at its default. */
export function translate(user: ScimResource, given: Given = {}): Translation {
  return toTravel(rulesOf(given.mapping, given.collection), user, {
    lookups: { ...lookups, ...given.lookups },
    references: new Map(Object.entries(given.references ?? {})),
    applied: given.applied ?? {},
  });
}

/** Wanted fields in short: the value, null for absent, `?` for unresolved, `!` for what stays as it is. */
export function inShort(fields: Record<FieldKey, Wanted>): { [key: string]: Json } {
  return Object.fromEntries(Object.entries(fields).map(([key, wanted]) => [key, shortly(wanted)]));
}

function shortly(wanted: Wanted): Json {
  if (wanted.kind === 'value') return wanted.value;
  if (wanted.kind === 'kept') return '!';
  return wanted.kind === 'absent' ? null : '?';
}

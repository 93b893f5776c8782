import type { Json, ScimResource } from '../../src/schema/resource.ts';
import { type Mapping, parseMapping } from '../../src/translator/mapping.ts';
import type { Applied, FieldKey, Translation, Wanted } from '../../src/translator/result.ts';
import { compileRules, type Rules } from '../../src/translator/rules.ts';
import type { Lookups, Reference, ScimUserMapping } from '../../src/translator/snapshot.ts';
import { toTravel } from '../../src/translator/to-travel.ts';

/** What a travel service has, in every test that says nothing else. */
export const lookups: Lookups = {
  customFields: [
    { id: 'cf-title', name: 'Job title', dataType: 'text', disabled: false, options: [] },
    {
      id: 'cf-number',
      name: 'Employee number',
      dataType: 'text',
      disabled: false,
      validationRegexp: '[0-9]{4}',
      options: [],
    },
    { id: 'cf-old', name: 'Old field', dataType: 'text', disabled: true, options: [] },
    {
      id: 'cf-department',
      name: 'Department',
      dataType: 'option',
      disabled: false,
      options: [
        { id: 'o-sales', data: 'Sales', disabled: false },
        { id: 'o-legal', data: 'Legal', disabled: false },
        { id: 'o-closed', data: 'Closed', disabled: true },
      ],
    },
    {
      id: 'cf-skills',
      name: 'Skills',
      dataType: 'optionsList',
      disabled: false,
      options: [
        { id: 'o-go', data: 'Go', disabled: false },
        { id: 'o-sql', data: 'SQL', disabled: false },
      ],
    },
    { id: 'cf-odd', name: 'Odd', dataType: 'hologram', disabled: false, options: [] },
    { id: 'cf-twin-1', name: 'Twin', dataType: 'text', disabled: false, options: [] },
    { id: 'cf-twin-2', name: 'Twin', dataType: 'text', disabled: false, options: [] },
    {
      id: 'cf-perl',
      name: 'Perl',
      dataType: 'text',
      disabled: false,
      validationRegexp: '(?=x)',
      options: [],
    },
  ],
  costCenters: [
    { id: 'cc-12', name: 'CC-40', archived: false },
    { id: 'cc-13', name: 'Marketing', archived: false },
    { id: 'cc-14', name: 'Twins', archived: false },
    { id: 'cc-15', name: 'Twins', archived: false },
    { id: 'cc-16', name: 'Closed', archived: true },
  ],
  billingProfiles: [
    { id: 'b-1', name: 'HQ', archived: false },
    { id: 'b-2', name: 'Branch', archived: false },
  ],
  travelPolicies: [
    { id: 'p-1', name: 'Standard', archived: false },
    { id: 'p-2', name: 'Executive', archived: false },
  ],
  scimUserMappings: [],
};

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

/** Wanted fields in short: the value, null for absent, `?` for unresolved. */
export function inShort(fields: Record<FieldKey, Wanted>): { [key: string]: Json } {
  return Object.fromEntries(Object.entries(fields).map(([key, wanted]) => [key, shortly(wanted)]));
}

function shortly(wanted: Wanted): Json {
  if (wanted.kind === 'value') return wanted.value;
  return wanted.kind === 'absent' ? null : '?';
}

import { chooseReading } from '../schema/attribute-names.ts';
import { readPath } from '../schema/filter-match.ts';
import type { AttributePath } from '../schema/filter-parser.ts';
import { isObject, type Json, type ScimResource } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import type { Candidate } from './decide.ts';
import { defaultRules } from './default-rules.ts';
import { isPlainField, type PlainField } from './fields.ts';
import { jsonPath } from './mapping-faults.ts';
import { type Mapping, readablePath } from './mapping-file.ts';
import { readText } from './readers.ts';
import { compileTransforms, constantsOf, describeTransform } from './transforms.ts';
import type { FieldKey, Finding, ScimUserMapping } from './translation.ts';
import { canonicalJson, isUnassigned, type Reading, toText } from './values.ts';

/** Raised when this code translates differently, so that everyone is translated anew. */
const EDITION = 4;

/** What a mapping rule sets. */
export type Target =
  | { kind: 'field'; field: PlainField }
  | { kind: 'customField'; by: 'id' | 'name'; value: string };

/** One mapping rule, ready to use. */
export interface Rule {
  origin: 'file' | 'collection';
  path: AttributePath;
  target: Target;
  /** The place of the target, for whoever mends it. */
  targetPath: string;
  /** The path with the transforms, for the trace. */
  text: string;
  /** Absent when the rule has no transforms. */
  transform?: (text: string | undefined) => Reading;
  /** True when the rule makes a value where there is none. */
  hasDefault: boolean;
  /** The values that the rule itself names, after its transforms. */
  constants: () => Reading[];
}

/** All that decides how a SCIM user becomes a traveler, but for what is looked up. */
export interface Rules {
  /** The same for the same rules, in whatever process. */
  version: string;
  mapping: Mapping;
  /** In the order of precedence: the file's, then the collection's. */
  rules: Rule[];
  /** Rows of the collection that cannot be used. */
  faults: Finding[];
}

/**
 * Puts the rules together: the mapping file wins over the travel API's scimUserMapping collection, and both over the
 * defaults. The travel API may list the rows of the collection in any order: of several for one target the one is used
 * whose scimAttribute comes last by the codes of its characters.
 */
export function compileRules(mapping: Mapping, collection: ScimUserMapping[]): Rules {
  const fromFile = mapping.scimUserMapping.flatMap((row, index) =>
    fileRule(row, { mapping, path: ['scimUserMapping', index] }),
  );
  const rows = collection.toSorted((one, other) => (rowText(one) < rowText(other) ? 1 : -1));
  const read = rows.map(collectionRule);
  const seen = new Set<string>();
  const faults: Finding[] = [];
  const rules: Rule[] = [];
  for (const one of read) {
    const mark = 'origin' in one ? canonicalJson({ ...one.target }) : '';
    if (!('origin' in one)) faults.push(one);
    else if (seen.has(mark)) faults.push(doubled(one));
    else rules.push(one);
    seen.add(mark);
  }
  return {
    version: versionOf(mapping, rows),
    mapping,
    rules: withKnownUrns([...fromFile, ...rules]),
    faults,
  };
}

/** Divides the paths of rules by the URNs that other rules name: `urn:acme:hr.badge` beside `urn:acme:hr:office`. */
function withKnownUrns(rules: Rule[]): Rule[] {
  const urns = new Set(rules.map(({ path }) => path.urn?.toLowerCase()));
  return rules.map((rule) => ({
    ...rule,
    path: chooseReading(rule.path, (urn) => urns.has(urn.toLowerCase())),
  }));
}

/** The mapping rule that sets a field in place of its default rule, if there is one. */
export function ruleFor({ rules }: Rules, field: PlainField): Rule | undefined {
  return rules.find(({ target }) => target.kind === 'field' && target.field === field);
}

/** True when a rule still sets the field: what it no longer wants is then removed from the traveler, not released. */
export function isSetByRules({ rules }: Rules, key: FieldKey): boolean {
  if (isPlainField(key) || key === 'archived' || key.startsWith('roles.')) return true;
  return rules.some(({ target }) => target.kind === 'customField' && `customFields.${target.value}` === key);
}

type Row = Mapping['scimUserMapping'][number];

function fileRule(row: Row, { mapping, path: place }: { mapping: Mapping; path: PropertyKey[] }): Rule[] {
  const path = readablePath(row.scimAttribute);
  const target = targetOf(row);
  // parseMapping lets neither through.
  if ('problem' in path || !target) return [];
  const transforms = row.transforms ?? [];
  const setting = { country: mapping.phone?.defaultCountry, path: [...place, 'transforms'] };
  const rule: Rule = {
    origin: 'file',
    path,
    target,
    targetPath: jsonPath([...place, targetKey(target)]),
    text: [row.scimAttribute, ...transforms.map(describeTransform)].join(' | '),
    hasDefault: transforms.some(
      (transform) => typeof transform === 'object' && transform.default !== undefined,
    ),
    constants: () => constantsOf(transforms, setting),
  };
  if (transforms.length === 0) return [rule];
  return [{ ...rule, transform: compileTransforms(transforms, setting) }];
}

function targetKey(target: Target): keyof Row {
  if (target.kind === 'field') return 'userAttribute';
  return target.by === 'id' ? 'customFieldId' : 'customField';
}

function targetOf({
  customFieldId,
  customField,
  userAttribute,
}: Omit<Row, 'scimAttribute'>): Target | undefined {
  if (customFieldId !== undefined) return { kind: 'customField', by: 'id', value: customFieldId };
  if (customField !== undefined) return { kind: 'customField', by: 'name', value: customField };
  return userAttribute === undefined ? undefined : { kind: 'field', field: userAttribute };
}

function collectionRule(row: ScimUserMapping): Rule | Finding {
  const { scimAttribute, customFieldId, userAttribute } = row;
  const path = readablePath(scimAttribute);
  if ('problem' in path) return faultyRow(row, `its scimAttribute ${path.problem}`);
  if ((customFieldId === undefined) === (userAttribute === undefined)) {
    return faultyRow(row, 'it has not exactly one of customFieldId and userAttribute');
  }
  const common = {
    origin: 'collection',
    path,
    targetPath: placeOfRow(row),
    text: scimAttribute,
    hasDefault: false,
    constants: () => [],
  } as const;
  if (customFieldId !== undefined)
    return { ...common, target: { kind: 'customField', by: 'id', value: customFieldId } };
  if (userAttribute === undefined || !isPlainField(userAttribute)) {
    return faultyRow(row, `a traveler has no attribute ${userAttribute}`);
  }
  return { ...common, target: { kind: 'field', field: userAttribute } };
}

function placeOfRow({ scimAttribute }: ScimUserMapping): string {
  return `the scimUserMapping of ${scimAttribute} in the travel service`;
}

function doubled({ text, target }: Rule): Finding {
  const row = target.kind === 'field' ? { userAttribute: target.field } : { customFieldId: target.value };
  return faultyRow({ scimAttribute: text, ...row }, 'another scimUserMapping sets the same');
}

function faultyRow(
  { scimAttribute, customFieldId, userAttribute }: ScimUserMapping,
  problem: string,
): Finding {
  const field =
    customFieldId === undefined ? (userAttribute ?? 'scimUserMapping') : `customFields.${customFieldId}`;
  return {
    field,
    code: 'mappingUnusable',
    value: scimAttribute,
    reason: `The scimUserMapping of ${scimAttribute} in the travel service is not used: ${problem}.`,
    remedy: 'Correct or delete that scimUserMapping in the travel service.',
    mappingPath: placeOfRow({ scimAttribute }),
  };
}

/** Rows of the same content have the same text, and of other content another one. */
function rowText({ scimAttribute, customFieldId, userAttribute }: ScimUserMapping): string {
  return canonicalJson([scimAttribute, customFieldId ?? null, userAttribute ?? null]);
}

/** The order of the file's rules counts only where two may set one custom field, by its id and by its name. */
function versionOf({ $schema: _, scimUserMapping, ...mapping }: Mapping, rows: ScimUserMapping[]): string {
  // Through JSON text, as the parts of a mapping that are not there are undefined, which is no JSON value.
  const textOf = (part: object) => canonicalJson(JSON.parse(JSON.stringify(part)) as Json);
  const ofFields = scimUserMapping.filter(({ userAttribute }) => userAttribute !== undefined);
  const ofCustomFields = scimUserMapping.filter(({ userAttribute }) => userAttribute === undefined);
  const file = [...ofFields.map(textOf).sort(), ...ofCustomFields.map(textOf)];
  return digest(`${EDITION}${textOf(mapping)}${file.join()}${rows.map(rowText).join()}`);
}

/**
 * A short stable digest of a text (FNV-1a, two lanes of 32 bits): tells versions of rules apart, and keeps no secret.
 */
export function digest(text: string): string {
  return `${lane(text, 0x811c9dc5)}${lane(text, 0x9747b28c)}`;
}

function lane(text: string, seed: number): string {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Where a field's value may come from: its mapping rule alone where it has one, else the default rules. */
export function candidatesFor(rules: Rules, user: ScimResource, field: PlainField): Candidate[] {
  const rule = ruleFor(rules, field);
  return rule ? [toCandidate(rule, user)] : defaultRules[field](user, rules.mapping);
}

/** What a mapping rule reads in a user. */
export function toCandidate(rule: Rule, user: ScimResource): Candidate {
  const found = readPath(userType, rule.path, user)
    .map(simple)
    .filter((value) => !isUnassigned(value));
  const { origin, text, transform, hasDefault } = rule;
  // A default is for whom nothing usable is said, too.
  const raws = hasDefault && found.every((value) => toText(value) === undefined) ? [...found, null] : found;
  const source = { origin, rule: text, raws };
  return transform ? { ...source, prepare: (raw) => prepared(raw, transform) } : source;
}

/** What a source gives after its transforms, without what they make nothing of. */
export function preparedValues({ raws, prepare }: Candidate): Json[] {
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
  const text = toText(raw);
  return text === undefined && raw !== null ? readText(raw) : transform(text);
}

/** The values by which a user's manager is named, the preferred first: what the bridge must resolve before it translates. */
export function findManagerReferences(rules: Rules, user: ScimResource): string[] {
  const named = candidatesFor(rules, user, 'managerId').flatMap(preparedValues).map(toText);
  return [...new Set(named.filter((raw) => raw !== undefined))];
}

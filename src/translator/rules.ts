import { chooseReading } from '../schema/attribute-names.ts';
import type { AttributePath } from '../schema/filter-parser.ts';
import type { Json } from '../schema/resource.ts';
import { type Field, fields, findField } from './fields.ts';
import { jsonPath } from './mapping-faults.ts';
import { type Mapping, parseRulePath } from './mapping-file.ts';
import { compileTransforms, constantsOf, describeTransform } from './transforms.ts';
import type { FieldKey, Finding, ScimUserMapping } from './translation.ts';
import { canonicalJson, type Reading } from './values.ts';

/**
 * Part of the version of all rules. Increase it when a change of this code changes translations, or the sources of a
 * default rule, so that all identities are translated again.
 */
export const EDITION = 4;

/** The field of a traveler that a mapping rule sets. */
export type Target =
  | { kind: 'field'; field: string }
  | { kind: 'customField'; by: 'id' | 'name'; value: string };

/** A mapping rule, parsed and compiled. */
export interface Rule {
  origin: 'file' | 'collection';
  path: AttributePath;
  target: Target;
  /**
   * The place of the rule's target for messages: its JSON path in the mapping file, or the name of the row in the
   * collection.
   */
  targetPath: string;
  /** The SCIM path with the transforms, as the trace shows it. */
  text: string;
  /** Applies the transforms; undefined if the rule has none. */
  transform?: (text: string | undefined) => Reading;
  /** True if the rule gives a value to users without the attribute. */
  hasDefault: boolean;
  /** The constants of the rule (results of `map`, and `default`) with all later transforms applied. */
  constants: () => Reading[];
}

/** The compiled mapping: everything besides the lookups that determines how a SCIM user is translated. */
export interface Rules {
  /** A digest that is equal for equal rules, even in another process. */
  version: string;
  /** The fields that can be translated. */
  fields: readonly Field[];
  mapping: Mapping;
  /** The mapping rules in order of precedence: those of the file, then those of the collection. */
  rules: Rule[];
  /** Findings about rows of the collection that cannot be used. */
  faults: Finding[];
}

/**
 * Compiles the rules of a mapping file and of the travel API's scimUserMapping collection. The file takes precedence
 * over the collection, and both over the default rules. If several rows of the collection have the same target, the one
 * with the last scimAttribute in character code order is used, so that the order of rows does not matter.
 */
export function compileRules(
  mapping: Mapping,
  collection: ScimUserMapping[],
  table: readonly Field[] = fields,
): Rules {
  const fromFile = mapping.scimUserMapping.flatMap((row, index) =>
    fileRule(row, { mapping, path: ['scimUserMapping', index] }),
  );
  const rows = collection.toSorted((one, other) => (rowText(one) < rowText(other) ? 1 : -1));
  const seen = new Set<string>();
  const faults: Finding[] = [];
  const rules: Rule[] = [];
  for (const compiled of rows.map((row) => collectionRule(row, table))) {
    const target = 'origin' in compiled ? canonicalJson({ ...compiled.target }) : '';
    if (!('origin' in compiled)) faults.push(compiled);
    else if (seen.has(target)) faults.push(duplicateRow(compiled));
    else rules.push(compiled);
    seen.add(target);
  }
  return {
    version: versionOf(mapping, rows),
    fields: table,
    mapping,
    rules: withKnownUrns([...fromFile, ...rules]),
    faults,
  };
}

/**
 * Splits paths again by the URNs of other rules: if a rule uses `urn:acme:hr:office`, then `urn:acme:hr.badge` is the
 * attribute `badge` of the extension `urn:acme:hr`.
 */
function withKnownUrns(rules: Rule[]): Rule[] {
  const urns = new Set(rules.map(({ path }) => path.urn?.toLowerCase()));
  return rules.map((rule) => ({
    ...rule,
    path: chooseReading(rule.path, (urn) => urns.has(urn.toLowerCase())),
  }));
}

/** Finds the mapping rule that replaces the default rule of a field. */
export function findRule({ rules }: Rules, key: string): Rule | undefined {
  return rules.find(({ target }) => target.kind === 'field' && target.field === key);
}

/**
 * Returns true if any rule can set the field. An unwanted value of such a field is removed; the bridge only stops
 * owning any other field.
 */
export function isSetByRules({ rules, fields: table }: Rules, key: FieldKey): boolean {
  if (findField(key, table) || key === 'archived' || key.startsWith('roles.')) return true;
  return rules.some(({ target }) => target.kind === 'customField' && `customFields.${target.value}` === key);
}

type Row = Mapping['scimUserMapping'][number];

function fileRule(
  row: Row,
  { mapping, path: jsonPathOfRow }: { mapping: Mapping; path: PropertyKey[] },
): Rule[] {
  const path = parseRulePath(row.scimAttribute);
  const target = targetOf(row);
  // Cannot happen, because parseMapping refuses such rows.
  if ('problem' in path || !target) return [];
  const transforms = row.transforms ?? [];
  const setting = { country: mapping.phone?.defaultCountry, path: [...jsonPathOfRow, 'transforms'] };
  const rule: Rule = {
    origin: 'file',
    path,
    target,
    targetPath: jsonPath([...jsonPathOfRow, targetKey(target)]),
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

function collectionRule(row: ScimUserMapping, table: readonly Field[]): Rule | Finding {
  const { scimAttribute, customFieldId, userAttribute } = row;
  const path = parseRulePath(scimAttribute);
  if ('problem' in path) return faultyRow(row, `its scimAttribute ${path.problem}`);
  if ((customFieldId === undefined) === (userAttribute === undefined)) {
    return faultyRow(row, 'it has not exactly one of customFieldId and userAttribute');
  }
  const common = {
    origin: 'collection',
    path,
    targetPath: describeRow(row),
    text: scimAttribute,
    hasDefault: false,
    constants: () => [],
  } as const;
  if (customFieldId !== undefined)
    return { ...common, target: { kind: 'customField', by: 'id', value: customFieldId } };
  if (userAttribute === undefined || !findField(userAttribute, table)) {
    return faultyRow(row, `a traveler has no attribute ${userAttribute}`);
  }
  return { ...common, target: { kind: 'field', field: userAttribute } };
}

function describeRow({ scimAttribute }: ScimUserMapping): string {
  return `the scimUserMapping of ${scimAttribute} in the travel service`;
}

function duplicateRow({ text, target }: Rule): Finding {
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
    mappingPath: describeRow({ scimAttribute }),
  };
}

/** Returns a text that is equal for rows with equal content. */
function rowText({ scimAttribute, customFieldId, userAttribute }: ScimUserMapping): string {
  return canonicalJson([scimAttribute, customFieldId ?? null, userAttribute ?? null]);
}

/**
 * Returns the version of a mapping. The order of rules matters only for custom fields, because two rules may set the
 * same one, by id and by name.
 */
function versionOf({ $schema: _, scimUserMapping, ...mapping }: Mapping, rows: ScimUserMapping[]): string {
  // The round trip through JSON drops members that are undefined.
  const toCanonicalText = (part: object) => canonicalJson(JSON.parse(JSON.stringify(part)) as Json);
  const ofFields = scimUserMapping.filter(({ userAttribute }) => userAttribute !== undefined);
  const ofCustomFields = scimUserMapping.filter(({ userAttribute }) => userAttribute === undefined);
  const file = [...ofFields.map(toCanonicalText).sort(), ...ofCustomFields.map(toCanonicalText)];
  return digest(`${EDITION}${toCanonicalText(mapping)}${file.join()}${rows.map(rowText).join()}`);
}

/** A short stable digest of a text (FNV-1a, twice 32 bits), to tell versions of rules apart; not for secrets. */
export function digest(text: string): string {
  return `${fnv1a(text, 0x811c9dc5)}${fnv1a(text, 0x9747b28c)}`;
}

function fnv1a(text: string, seed: number): string {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

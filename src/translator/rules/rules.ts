import type { FieldKey, Finding, ScimUserMapping } from '../../model/translation.ts';
import { chooseReading } from '../../schema/attribute-names.ts';
import { conditionTest } from '../../schema/filter-match.ts';
import type { Filter } from '../../schema/filter-parser.ts';
import { jsonPath } from '../../schema/json-path.ts';
import type { ScimResource } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import {
  type Field,
  fields,
  findField,
  preferenceField,
  preferenceKey,
  toFieldKey,
} from '../fields/fields.ts';
import type { Mapping } from '../mapping/mapping-file.ts';
import {
  isSyntaxProblem,
  parseCondition,
  parseInputPath,
  parseRulePath,
  parseTemplate,
  pathsOfTemplate,
  type RulePath,
  type TemplatePart,
  undeclaredName,
} from '../mapping/rule-syntax.ts';
import { transformText } from '../values/transform-text.ts';
import {
  type CompiledTransforms,
  compileMapPlace,
  compileTransforms,
  constantsOf,
  isDefault,
  joinOf,
} from '../values/transforms.ts';
import { canonicalJson, type Reading } from '../values/values.ts';
import { compileScope, type MappingScope } from './scope.ts';

/**
 * Part of the version of all rules. Increase it when a change of this code changes translations, or the sources of a
 * default rule, so that all identities are translated again.
 */
export const EDITION = 9;

/** The field of a traveler that a mapping rule sets. */
export type Target =
  | { kind: 'field'; field: string }
  | { kind: 'customField'; by: 'id' | 'name'; value: string };

/** The input of a rule: the first of several SCIM paths that has a value (or a usable one), or a template. */
export type RuleInput =
  | {
      kind: 'paths';
      paths: RulePath[];
      /** Set if the next path is also used if no value of the one before can be used. */
      fallback?: 'unusable';
      /** Set if the values of all paths are read, as one list or as one text with a separator. */
      join?: { separator?: string };
    }
  | {
      kind: 'template';
      parts: TemplatePart[];
      /** The JSON path of the template in the mapping file. */
      mappingPath: string;
    };

/** The condition of a rule: a SCIM filter on the user. */
export interface RuleCondition {
  text: string;
  filter: Filter;
  holds: (resource: ScimResource) => boolean;
}

/** A mapping rule, parsed and compiled. */
export interface Rule {
  origin: 'file' | 'collection';
  input: RuleInput;
  /** The rule is used only for users for whom the condition holds; undefined: for all users. */
  condition?: RuleCondition;
  target: Target;
  /**
   * The place of the rule's target for messages: its JSON path in the mapping file, or the name of the row in the
   * collection.
   */
  targetPath: string;
  /** The input of the rule, with the transforms, as the trace shows it. */
  text: string;
  /** Applies the transforms; undefined if the rule has none. */
  transform?: CompiledTransforms;
  /** Returns the place in the first `map` of the entry that a text fits; undefined if the rule has no `map`. */
  placeInMap?: (text: string) => number | undefined;
  /** True if the rule gives a value to users without the attribute. */
  hasDefault: boolean;
  /** The constants of the rule (a template without paths, results of `map`, and `default`) with all later transforms applied. */
  constants: () => Reading[];
}

/** The compiled mapping: everything besides the lookups that determines how a SCIM user is translated. */
export interface Rules {
  /** A digest that is equal for equal rules, even in another process. */
  version: string;
  /** The fields that can be translated: those of the table, and the preferences that rules name. */
  fields: readonly Field[];
  mapping: Mapping;
  /** The mapping rules in order of precedence: those of the file, then those of the collection. */
  rules: Rule[];
  /** The scope of the mapping; undefined if everybody is in it. */
  scope: MappingScope | undefined;
  /** The people who are provisioned although the connection is in shadow mode; absent if it has no pilot. */
  pilot?: MappingScope | undefined;
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
    const target = 'origin' in compiled ? canonicalJson(compiled.target) : '';
    if (!('origin' in compiled)) faults.push(compiled);
    else if (seen.has(target)) faults.push(duplicateRow(compiled));
    else rules.push(compiled);
    seen.add(target);
  }
  return {
    version: versionOf(mapping, rows),
    fields: [...table, ...preferencesOf(fromFile)],
    mapping,
    rules: withKnownUrns([...fromFile, ...rules]),
    scope: mapping.scope === undefined ? undefined : compileScope(mapping.scope),
    faults,
  };
}

/** Returns a function that computes something of rules once for each version of them: rules never change. */
export function oncePerRules<T>(compute: (rules: Rules) => T): (rules: Rules) => T {
  const known = new WeakMap<Rules, { result: T }>();
  return (rules) => {
    const { result } = known.get(rules) ?? { result: compute(rules) };
    known.set(rules, { result });
    return result;
  };
}

/** Returns a row for each preference that rules set. */
function preferencesOf(rules: Rule[]): Field[] {
  const targets = rules.flatMap(({ target }) => (target.kind === 'field' ? [target.field] : []));
  return [...new Set(targets)].filter((key) => preferenceKey.test(key)).map(preferenceField);
}

/**
 * Splits paths again by the URNs of other rules: if a rule uses `urn:acme:hr:office`, then `urn:acme:hr.badge` is the
 * attribute `badge` of the extension `urn:acme:hr`.
 */
function withKnownUrns(rules: Rule[]): Rule[] {
  const urns = new Set(
    rules.flatMap(({ input }) => pathsOfInput(input)).map(({ path }) => path.urn?.toLowerCase()),
  );
  const split = (given: RulePath): RulePath => ({
    ...given,
    path: chooseReading(given.path, (urn) => urns.has(urn.toLowerCase())),
  });
  return rules.map((rule) => ({ ...rule, input: withPaths(rule.input, split) }));
}

/** Returns the SCIM paths that a rule reads. */
export function pathsOfInput(input: RuleInput): RulePath[] {
  return input.kind === 'paths' ? input.paths : pathsOfTemplate(input.parts);
}

function withPaths(input: RuleInput, change: (path: RulePath) => RulePath): RuleInput {
  if (input.kind === 'paths') return { ...input, paths: input.paths.map(change) };
  const changePlain = (part: string | RulePath) => (typeof part === 'object' ? change(part) : part);
  const parts = input.parts.map((part) =>
    typeof part === 'object' && 'optional' in part
      ? { optional: part.optional.map(changePlain) }
      : changePlain(part),
  );
  return { ...input, parts };
}

/** A rule with a condition. */
export type ConditionalRule = Rule & { condition: RuleCondition };

function isConditional(rule: Rule): rule is ConditionalRule {
  return rule.condition !== undefined;
}

/** The rules that set one field, in the order in which they are tried. */
export interface RuleChain {
  /** The rules with a condition: the first whose condition holds is used. */
  conditional: ConditionalRule[];
  /** The rule without a condition, which is used if no condition holds. */
  otherwise: Rule | undefined;
  /** The rules after it, which are never used. */
  overridden: Rule[];
}

/** Arranges the rules that set one field. */
export function toRuleChain(rules: Rule[]): RuleChain {
  const end = rules.findIndex((rule) => !isConditional(rule));
  const before = end < 0 ? rules : rules.slice(0, end);
  return {
    conditional: before.filter(isConditional),
    otherwise: rules[before.length],
    overridden: rules.slice(before.length + 1),
  };
}

/** Finds the mapping rules that replace the default rule of a field. */
export function findRules({ rules }: Rules, key: string): RuleChain {
  return toRuleChain(rules.filter(({ target }) => target.kind === 'field' && target.field === key));
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
  const input = inputOf(row, jsonPathOfRow);
  const filter = row.when === undefined ? undefined : parseCondition(row.when);
  const target = targetOf(row);
  // Cannot happen, because parseMapping refuses such rows.
  if (!input || !target || (filter && isSyntaxProblem(filter))) return [];
  const transforms = row.transforms ?? [];
  const setting = { country: mapping.phone?.defaultCountry, path: [...jsonPathOfRow, 'transforms'] };
  const fixed = fixedText(input);
  const rule: Rule = {
    origin: 'file',
    input,
    ...(filter
      ? { condition: { text: row.when ?? '', filter, holds: conditionTest(userType, filter) } }
      : {}),
    target,
    targetPath: jsonPath([...jsonPathOfRow, targetKey(target)]),
    text: ruleText(row),
    hasDefault: transforms.some(isDefault),
    constants: () => constantsOf(transforms, setting, fixed),
  };
  if (transforms.length === 0) return [rule];
  const placeInMap = compileMapPlace(transforms, setting);
  return [
    {
      ...rule,
      transform: compileTransforms(transforms, setting),
      ...(placeInMap ? { placeInMap } : {}),
    },
  ];
}

function inputOf(
  { scimAttribute, sources, fallback, template, transforms = [] }: Row,
  jsonPathOfRow: PropertyKey[],
): RuleInput | undefined {
  if (template !== undefined) {
    const parsed = parseTemplate(template);
    const mappingPath = jsonPath([...jsonPathOfRow, 'template']);
    return isSyntaxProblem(parsed) ? undefined : { kind: 'template', parts: parsed.parts, mappingPath };
  }
  const paths = (sources ?? [scimAttribute ?? '']).flatMap((text) => {
    const path = parseInputPath(text);
    return isSyntaxProblem(path) ? [] : [path];
  });
  if (paths.length === 0) return undefined;
  const join = joinOf(transforms);
  return {
    kind: 'paths',
    paths,
    ...(fallback === 'unusable' ? { fallback } : {}),
    ...(join ? { join } : {}),
  };
}

/**
 * The longest text of a rule in a trace, in characters. A trace has the text once for each value that the rule reads, and a `map` may
 * have hundreds of thousands of characters.
 */
const MAX_RULE_TEXT = 1_000;

function ruleText(row: Row): string {
  const text = [inputText(row), ...(row.transforms ?? []).map(transformText)].join(' | ');
  if (text.length <= MAX_RULE_TEXT) return text;
  // PostgreSQL stores no half of a surrogate pair.
  return `${text.slice(0, MAX_RULE_TEXT).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function inputText({ scimAttribute, sources = [], template }: Row): string {
  if (template !== undefined) return JSON.stringify(template);
  return scimAttribute ?? sources.join(' → ');
}

/** Returns the text of a template without paths, which gives the same value to all users. */
export function fixedText(input: RuleInput): { text: string; mappingPath: string } | undefined {
  if (input.kind !== 'template' || pathsOfInput(input).length > 0) return undefined;
  return { text: input.parts.join(''), mappingPath: input.mappingPath };
}

function targetKey(target: Target): keyof Row {
  if (target.kind === 'field') return 'userAttribute';
  return target.by === 'id' ? 'customFieldId' : 'customField';
}

function targetOf({ customFieldId, customField, userAttribute }: Row): Target | undefined {
  if (customFieldId !== undefined) return { kind: 'customField', by: 'id', value: customFieldId };
  if (customField !== undefined) return { kind: 'customField', by: 'name', value: customField };
  return userAttribute === undefined ? undefined : { kind: 'field', field: toFieldKey(userAttribute) };
}

function collectionRule(row: ScimUserMapping, table: readonly Field[]): Rule | Finding {
  const { scimAttribute, customFieldId, userAttribute } = row;
  const path = parseRulePath(scimAttribute);
  if (isSyntaxProblem(path)) return faultyRow(row, `its scimAttribute ${path.problem}`);
  const undeclared = undeclaredName(path);
  if (undeclared !== undefined)
    return faultyRow(row, `its scimAttribute names no attribute of a schema: ${undeclared}`);
  if ((customFieldId === undefined) === (userAttribute === undefined)) {
    return faultyRow(row, 'it has not exactly one of customFieldId and userAttribute');
  }
  const common: Omit<Rule, 'target'> = {
    origin: 'collection',
    input: { kind: 'paths', paths: [{ text: scimAttribute, path }] },
    targetPath: describeRow(row),
    text: scimAttribute,
    hasDefault: false,
    constants: () => [],
  };
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
 * Returns the version of a mapping. The order of rules matters among those for one field of the table, and among those
 * for custom fields, because two rules may set the same one, by id and by name.
 */
function versionOf({ $schema: _, scimUserMapping, ...mapping }: Mapping, rows: ScimUserMapping[]): string {
  const ofFields = new Map<string, string[]>();
  for (const row of scimUserMapping) {
    const field = row.userAttribute === undefined ? undefined : toFieldKey(row.userAttribute);
    if (field !== undefined) ofFields.set(field, [...(ofFields.get(field) ?? []), canonicalJson(row)]);
  }
  const ofCustomFields = scimUserMapping.filter(({ userAttribute }) => userAttribute === undefined);
  const file = [
    ...[...ofFields.values()].map((rows) => rows.join()).sort(),
    ...ofCustomFields.map((row) => canonicalJson(row)),
  ];
  return digest(`${EDITION}${canonicalJson(mapping)}${file.join()}${rows.map(rowText).join()}`);
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

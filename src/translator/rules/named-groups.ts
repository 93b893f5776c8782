import { foldCase } from '../../schema/case-fold.ts';
import { cleanValue } from '../../schema/clean-text.ts';
import { type AttributeExpression, attributeExpressionsIn, type Filter } from '../../schema/filter-parser.ts';
import { jsonPath } from '../../schema/json-path.ts';
import { toSourceUser } from '../fields/sources.ts';
import type { Mapping } from '../mapping/mapping-file.ts';
import { conditionExpressions, inputPaths, isGroupPath, pathsOfTemplate } from '../mapping/rule-syntax.ts';
import { conditionTests, type GroupTest, withGroups } from './groups.ts';
import { valuesReader } from './rule-sources.ts';
import { oncePerRules, type Rule, type Rules } from './rules.ts';
import type { MappingScope } from './scope.ts';

/** Returns the test for the groups whose members a rule may translate otherwise than others; undefined if no rule reads groups. */
export const groupTest = oncePerRules((rules): GroupTest | undefined => {
  const readers = groupReaders(rules);
  return readers.length === 0 ? undefined : (group) => readers.some((reader) => reader.test(group));
});

/** A rule that reads groups, the scope of the mapping or the pilot, with the test for the groups that it reads. */
export interface GroupReader {
  rule: Rule | 'scope' | 'pilot';
  test: GroupTest;
}

/** Returns the scope, the pilot and the rules that read groups. */
export function groupReaders({ scope, pilot, rules }: Rules): GroupReader[] {
  const all = [
    { rule: 'scope' as const, tests: conditionTests(scope) },
    { rule: 'pilot' as const, tests: conditionTests(pilot) },
    ...rules.map((rule) => ({ rule, tests: [...conditionTests(rule.condition), ...inputTests(rule)] })),
  ];
  return all.flatMap(({ rule, tests }) =>
    tests.length === 0 ? [] : [{ rule, test: (group) => tests.some((test) => test(group)) }],
  );
}

/** A path of a template is read as it is: the transforms of a template get its whole text. */
function inputTests({ input, placeInMap }: Rule): GroupTest[] {
  const paths = input.kind === 'paths' ? input.paths : pathsOfTemplate(input.parts);
  const transforms = input.kind === 'paths' && placeInMap ? { placeInMap } : {};
  return paths
    .filter(({ path }) => isGroupPath(path))
    .map((path) => {
      const read = valuesReader(path, transforms);
      return (group) => read(toSourceUser(withGroups({}, [group]))).length > 0;
    });
}

/** A group that a mapping names in full, and the place of the name. */
export interface NamedGroup {
  path: string;
  name: string;
}

/** Returns the groups that a mapping names by equality: in conditions, in brackets of paths, and by the entries of `map`. */
export function findNamedGroups({ scimUserMapping, scope }: Mapping): NamedGroup[] {
  const inScope = conditionExpressions(scope)
    .flatMap(namesOf)
    .map((name) => ({ path: 'scope', name }));
  const inRules = scimUserMapping.flatMap((row, index) =>
    rowNames(row).map(({ member, name }) => ({
      path: jsonPath(['scimUserMapping', index, ...member]),
      name,
    })),
  );
  return [...inScope, ...inRules];
}

/** Returns the test for the names that rules and the pilot compare groups with by equality, as `findNamedGroups` finds them. */
export const isNamedGroup = oncePerRules((rules): ((name: string) => boolean) => {
  const keyOf = (name: string) => foldCase(cleanValue(name));
  const all = [...findNamedGroups(rules.mapping).map(({ name }) => name), ...groupsOfFilter(rules.pilot)];
  const names = new Set(all.map(keyOf));
  return (name) => names.has(keyOf(name));
});

/** Returns the groups that the scope of a mapping and the pilot name by equality. */
export function groupsOfScope({ scope, pilot }: Pick<Rules, 'scope' | 'pilot'>): string[] {
  return [...groupsOfFilter(scope), ...groupsOfFilter(pilot)];
}

function groupsOfFilter(scope: MappingScope | undefined): string[] {
  return scope ? attributeExpressionsIn(scope.filter).flatMap(namesOf) : [];
}

/** Returns a test for the expressions of a filter that name one of these groups by equality. */
export function namesOneOf(groups: readonly string[]): (expression: AttributeExpression) => boolean {
  return (expression) => namesOf(expression).some((name) => groups.includes(name));
}

interface PlacedName {
  member: PropertyKey[];
  name: string;
}

function rowNames({ when, transforms = [], ...input }: Mapping['scimUserMapping'][number]): PlacedName[] {
  const groups = inputPaths(input).filter(({ path }) => isGroupPath(path));
  const [first] = transforms;
  // The transforms of a template get its whole text.
  const readsNames = groups.some(
    ({ member, path }) => member[0] !== 'template' && path.sub?.toLowerCase() === 'display',
  );
  const keys = readsNames && typeof first === 'object' ? Object.keys(first.map ?? {}) : [];
  return [
    ...groups.flatMap(({ member, path }) => namesIn(path.filter).map((name) => ({ member, name }))),
    ...keys.map((name) => ({ member: ['transforms', 0, 'map', name], name })),
    ...conditionExpressions(when)
      .flatMap(namesOf)
      .map((name) => ({ member: ['when'], name })),
  ];
}

/** Returns the names with which an expression compares the groups of a user. */
function namesOf(expression: AttributeExpression): string[] {
  if (!isGroupPath(expression.path)) return [];
  const isName = expression.path.sub?.toLowerCase() === 'display';
  return [...namesIn(expression.path.filter), ...(isName ? comparedName(expression) : [])];
}

/** Returns the names that a filter in brackets compares `display` with. */
function namesIn(filter: Filter | undefined): string[] {
  return (filter ? attributeExpressionsIn(filter) : [])
    .filter(({ path }) => path.attribute?.toLowerCase() === 'display')
    .flatMap(comparedName);
}

function comparedName(expression: AttributeExpression): string[] {
  const isEquality = expression.op === 'eq' || expression.op === 'ne';
  return isEquality && typeof expression.value === 'string' ? [expression.value] : [];
}

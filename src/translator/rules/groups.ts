import type { UserGroup } from '../../model/translation.ts';
import { conditionTest } from '../../schema/filter-match.ts';
import { type AttributeExpression, attributeExpressionsIn, type Filter } from '../../schema/filter-parser.ts';
import { isObject, type ScimResource } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { isGroupPath } from '../mapping/rule-syntax.ts';
import type { RuleCondition } from './rules.ts';

/** Returns the user with the attribute `groups`, in the order of the names of the groups. */
export function withGroups(user: ScimResource, groups: readonly UserGroup[]): ScimResource {
  if (groups.length === 0) return user;
  const sorted = groups.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  return { ...user, groups: sorted.map(({ value, display }) => ({ value, display })) };
}

function sortKey({ value, display }: UserGroup): string {
  return JSON.stringify([display, value]);
}

/** Returns the groups in the attribute `groups` of a user. */
export function groupsOf({ groups }: ScimResource): UserGroup[] {
  if (!Array.isArray(groups)) return [];
  return groups.filter(isObject).map(({ value, display }) => ({
    value: typeof value === 'string' ? value : '',
    display: typeof display === 'string' ? display : '',
  }));
}

/** Tells whether a rule reads a membership in a group. */
export type GroupTest = (group: UserGroup) => boolean;

/** Returns a test for each expression of a condition that names groups: whether a membership in a group decides it. */
export function conditionTests(condition: Pick<RuleCondition, 'filter'> | undefined): GroupTest[] {
  const expressions = condition ? attributeExpressionsIn(condition.filter) : [];
  return expressions
    .filter(({ path }) => isGroupPath(path))
    .map((expression) => {
      const matches = conditionTest(userType, withoutNegation(expression));
      return (group) => matches(withGroups({}, [group]));
    });
}

/** A comparison with `ne` is decided by the groups that fit `eq`, and one with null by those that exist. */
function withoutNegation(expression: AttributeExpression): Filter {
  if (expression.op === 'pr') return expression;
  if (expression.value === null) return { op: 'pr', path: expression.path };
  return expression.op === 'ne' ? { ...expression, op: 'eq' } : expression;
}

/** Returns a function that finds the first group that the expressions of a condition fit; undefined if the condition names no groups. */
export function conditionGroup(
  condition: RuleCondition,
): ((groups: readonly UserGroup[]) => string | undefined) | undefined {
  const tests = conditionTests(condition);
  if (tests.length === 0) return undefined;
  return (groups) => groups.find((group) => tests.some((test) => test(group)))?.display;
}

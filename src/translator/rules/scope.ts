import type { ScopeVerdict } from '../../model/translation.ts';
import { conditionTest } from '../../schema/filter-match.ts';
import type { AttributeExpression, Filter } from '../../schema/filter-parser.ts';
import type { ScimResource } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { isSyntaxProblem, parseCondition } from '../mapping/rule-syntax.ts';

/** The scope of a mapping: a SCIM filter of the people who get a traveler. A pilot is such a filter, too. */
export interface MappingScope {
  text: string;
  filter: Filter;
  judge(resource: ScimResource, isUnresolved?: IsUnresolved): ScopeVerdict;
}

/** True for an expression whose result may still change from false to true, because it names a group that has not been received. */
type IsUnresolved = (expression: AttributeExpression) => boolean;

/** Compiles the scope of a mapping that `parseMapping` has accepted. */
export function compileScope(text: string): MappingScope | undefined {
  const filter = parseCondition(text);
  return isSyntaxProblem(filter) ? undefined : toScope(text, filter);
}

/** Makes a scope of a parsed filter. */
export function toScope(text: string, filter: Filter): MappingScope {
  const test = toTest(filter);
  return {
    text,
    filter,
    judge: (resource, isUnresolved = () => false) => {
      const result = test(resource, isUnresolved);
      if (result === undefined) return 'unresolved';
      return result ? 'in' : 'out';
    },
  };
}

/** The test of a filter in three-valued logic: undefined if the result depends on an expression that is unresolved. */
type Test = (resource: ScimResource, isUnresolved: IsUnresolved) => boolean | undefined;

function toTest(filter: Filter): Test {
  if ('operands' in filter) return joinTests(filter.op, filter.operands.map(toTest));
  if ('operand' in filter) return negate(toTest(filter.operand));
  if (filter.op === 'ne') return negate(toTest({ ...filter, op: 'eq' }));
  const holds = conditionTest(userType, filter);
  // Groups that come later only add memberships, so what holds already stays true.
  return (resource, isUnresolved) => holds(resource) || (isUnresolved(filter) ? undefined : false);
}

function joinTests(op: 'and' | 'or', tests: Test[]): Test {
  const decisive = op === 'or';
  return (resource, isUnresolved) => {
    const results = tests.map((test) => test(resource, isUnresolved));
    if (results.includes(decisive)) return decisive;
    return results.includes(undefined) ? undefined : !decisive;
  };
}

function negate(test: Test): Test {
  return (resource, isUnresolved) => {
    const result = test(resource, isUnresolved);
    return result === undefined ? undefined : !result;
  };
}

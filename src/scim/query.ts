import type { GroupMatch, IdentityMatch } from '../bridge/ports.ts';
import type { AttributePath, Filter } from '../schema/expression.ts';
import { groupType, type ResourceType, resolve, userType } from '../schema/resource-type.ts';

/** A filter in two: what indexes answer, and, unless that is all of it, the filter itself for what they leave. */
export interface Question<Match> {
  matches: Match[];
  residual: Filter | undefined;
}

/** The index that answers an equality on an attribute, by the attribute's name. */
type Indexes<By extends string> = Partial<Record<string, By>>;

const userIndexes: Indexes<IdentityMatch['by']> = {
  id: 'id',
  userName: 'userName',
  externalId: 'externalId',
  emails: 'email',
};

const groupIndexes: Indexes<GroupMatch['by']> = {
  id: 'id',
  displayName: 'displayName',
  externalId: 'externalId',
  members: 'member',
};

/** What a filter on users asks of the bridge. */
export function toUserQuestion(filter: Filter | undefined): Question<IdentityMatch> {
  return toQuestion(userType, userIndexes, filter);
}

/** What a filter on groups asks of the bridge. */
export function toGroupQuestion(filter: Filter | undefined): Question<GroupMatch> {
  return toQuestion(groupType, groupIndexes, filter);
}

function toQuestion<By extends string>(
  type: ResourceType,
  indexes: Indexes<By>,
  filter: Filter | undefined,
): Question<{ by: By; value: string }> {
  const found = conjuncts(filter).map((conjunct) => {
    const equality = equalityIn(conjunct);
    const by = equality && indexOf(type, indexes, equality.path);
    return equality && by ? { match: { by, value: equality.value }, isExact: equality.isExact } : undefined;
  });
  const isAnswered = found.every((one) => one?.isExact === true);
  return {
    matches: found.flatMap((one) => (one ? [one.match] : [])),
    residual: isAnswered ? undefined : filter,
  };
}

function conjuncts(filter: Filter | undefined): Filter[] {
  if (!filter) return [];
  return filter.op === 'and' ? filter.operands.flatMap(conjuncts) : [filter];
}

interface Equality {
  path: AttributePath;
  value: string;
  /** False when the filter asks for more than this. */
  isExact: boolean;
}

/** `a eq "x"`, `a.value eq "x"`, `a[… and value eq "x"]`, and Entra's `a[…].value eq "x"`. */
function equalityIn(filter: Filter): Equality | undefined {
  if (filter.op === 'eq' && typeof filter.value === 'string') {
    const { path, value } = filter;
    return { path, value, isExact: path.filter === undefined };
  }
  if (filter.op !== 'pr' || !filter.path.filter || filter.path.sub !== undefined) return undefined;
  const inner = conjuncts(filter.path.filter);
  const equalities = inner.flatMap((one) => (isValueEquality(one) ? [one.value] : []));
  const [value] = equalities;
  return value === undefined ? undefined : { path: filter.path, value, isExact: inner.length === 1 };
}

function isValueEquality(filter: Filter): filter is Filter & { value: string } {
  return (
    filter.op === 'eq' && filter.path.attribute?.toLowerCase() === 'value' && typeof filter.value === 'string'
  );
}

function indexOf<By extends string>(
  type: ResourceType,
  indexes: Indexes<By>,
  path: AttributePath,
): By | undefined {
  const { urn, name } = resolve(type, path);
  const isValue = path.sub === undefined || path.sub.toLowerCase() === 'value';
  return urn === undefined && name !== undefined && isValue && Object.hasOwn(indexes, name)
    ? indexes[name]
    : undefined;
}

import type { Member, MemberChange } from '../bridge/ports.ts';
import type { AttributePath, Filter } from '../schema/expression.ts';
import { splitName } from '../schema/names.ts';
import { isObject, ownValue } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { groupType, resolve } from '../schema/resource-type.ts';
import { checkedText } from '../schema/text.ts';
import { isUnassigned } from '../schema/values.ts';
import { netChanges } from './member-changes.ts';
import type { Operation } from './patch-message.ts';
import { pathOf } from './patch-steps.ts';
import { badRequest } from './scim-error.ts';

/** A group's body in two: its members, which are rows, and the rest. */
export function splitMembers(body: JsonObject): { members: Json | undefined; rest: JsonObject } {
  const entries = Object.entries(body);
  const members = entries.find(([key]) => isMembers(splitName(key)));
  return { members: members?.[1], rest: Object.fromEntries(entries.filter((entry) => entry !== members)) };
}

/** Members as they are kept (RFC 7643 §4.2); `$ref` is made when answering. */
export function toMembers(value: Json | undefined): Member[] {
  if (value === undefined || isUnassigned(value)) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((member) =>
    member === null ? [] : [toMember(member)],
  );
}

/** A group's PATCH in two: the steps on its members, and the operations on the rest (RFC 7644 §3.5.2). */
export function splitGroupPatch(operations: Operation[]): {
  operations: Operation[];
  members: MemberChange[];
} {
  const rest: Operation[] = [];
  const members: MemberChange[] = [];
  for (const operation of operations) {
    const path = operation.path === undefined ? undefined : pathOf(operation.path);
    if (path && isMembers(path)) members.push(...changesAt(path, operation));
    else if (path) rest.push(operation);
    else rest.push(withoutMembers(operation, members));
  }
  return { operations: rest, members: netChanges(members) };
}

function isMembers(name: Pick<AttributePath, 'urn' | 'attribute'> | undefined): boolean {
  return name !== undefined && resolve(groupType, name).attribute?.name === 'members';
}

function withoutMembers(operation: Operation, changes: MemberChange[]): Operation {
  const { members, rest } = splitMembers(isObject(operation.value) ? operation.value : {});
  if (members !== undefined) changes.push(...changesOfAll(operation.op, members));
  return { ...operation, value: rest };
}

function changesAt({ filter, sub }: AttributePath, { op, value }: Operation): MemberChange[] {
  // "immutable" (RFC 7643 §8.7.1): a member is added or removed, never changed.
  if (sub !== undefined) throw badRequest('mutability', 'The parts of a member cannot be changed.');
  if (!filter) return changesOfAll(op, value);
  const values = valuesOf(filter);
  if (op === 'remove') return [{ kind: 'remove', values }];
  return [{ kind: 'add', members: values.map((member) => ({ value: member })) }];
}

function changesOfAll(op: Operation['op'], value: Json | undefined): MemberChange[] {
  if (op === 'add') return [{ kind: 'add', members: toMembers(value) }];
  if (op === 'replace' || value === undefined || value === null)
    return [{ kind: 'replace', members: toMembers(op === 'replace' ? value : undefined) }];
  // With a value only those listed go (Entra); Salesforce puts the list into an object once more.
  const listed = isObject(value) ? (ownValue(value, 'members') ?? value) : value;
  return [{ kind: 'remove', values: toMembers(listed).map((member) => member.value) }];
}

/** The ids in `members[value eq "a" or value eq "b"]`; members are not read, so no other filter can be answered. */
function valuesOf(filter: Filter): string[] {
  if (filter.op === 'or') return filter.operands.flatMap(valuesOf);
  const isValue = filter.op === 'eq' && filter.path.attribute?.toLowerCase() === 'value';
  if (isValue && typeof filter.value === 'string') return [filter.value];
  throw badRequest('invalidFilter', 'Members are selected by their value only.');
}

function toMember(member: Json): Member {
  if (!isObject(member)) return toMember({ value: member });
  const [value, display, type] = ['value', 'display', 'type'].map((name) => textIn(member, name));
  if (value === undefined) throw badRequest('invalidValue', 'Every member must have a value.');
  return {
    value,
    ...(display === undefined ? {} : { display }),
    ...(type === undefined ? {} : { type }),
  };
}

/** Numbers are read as texts, as everywhere (docs/architecture.md, SCIM requests). */
function textIn(member: JsonObject, name: string): string | undefined {
  const value = ownValue(member, name);
  const isText = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return isText ? checkedText(String(value), 'members') : undefined;
}

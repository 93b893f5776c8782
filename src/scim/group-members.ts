import type { Member, MemberChange } from '../provisioning/group-ports.ts';
import { parseAttributeName } from '../schema/attribute-names.ts';
import { findAttribute, findSubAttribute } from '../schema/attributes.ts';
import type { AttributePath, Filter } from '../schema/filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../schema/resource.ts';
import { groupType, resolveAttribute } from '../schema/resource-types.ts';
import { checkText, isUnassigned } from '../schema/values.ts';
import { badRequest } from './errors.ts';
import { type PatchOperation, parsePatchPath } from './patch.ts';

/** A group's body in two: its members, which are rows, and the rest. */
export function splitMembers(body: JsonObject): { members: Json | undefined; rest: JsonObject } {
  const entries = flatEntries(body);
  const isOfMembers = ([key]: [string, Json]) => {
    const name = parseAttributeName(key);
    return name?.sub === undefined && isMembers(name);
  };
  // Of several spellings of the name the first counts.
  const members = entries.find(isOfMembers)?.[1];
  return { members, rest: Object.fromEntries(entries.filter((entry) => !isOfMembers(entry))) };
}

/** Members as they are kept (RFC 7643 §4.2); `$ref` is made when answering. */
export function parseMembers(value: Json | undefined): Member[] {
  if (value === undefined || isUnassigned(value)) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((member) =>
    member === null ? [] : [toMember(member)],
  );
}

/** A group's PATCH in two: the steps on its members, and the operations on the rest (RFC 7644 §3.5.2). */
export function splitGroupPatch(operations: PatchOperation[]): {
  operations: PatchOperation[];
  members: MemberChange[];
} {
  const rest: PatchOperation[] = [];
  const members: MemberPatchStep[] = [];
  for (const operation of operations) {
    const path = operation.path === undefined ? undefined : parsePatchPath(operation.path);
    if (path && isMembers(path)) members.push(...stepsAt(path, operation));
    else if (path && !isCoreUrn(path)) rest.push(operation);
    else rest.push(withoutMembers(operation, members));
  }
  return { operations: rest, members: netMemberChanges(members) };
}

type Name = Pick<AttributePath, 'urn' | 'attribute'>;

function isMembers(name: Name | undefined): boolean {
  return name !== undefined && resolveAttribute(groupType, name).attribute?.name === 'members';
}

/** True for the URN of the core schema alone, which stands for the whole group. */
function isCoreUrn(name: Name | undefined): boolean {
  if (name?.urn === undefined || name.attribute !== undefined) return false;
  return resolveAttribute(groupType, name).urn === undefined;
}

/** The attributes of a body, also those that stand in an object under the URN of the core schema. */
function flatEntries(body: JsonObject): [string, Json][] {
  return Object.entries(body).flatMap(([key, value]) =>
    isObject(value) && isCoreUrn(parseAttributeName(key))
      ? Object.entries(value)
      : [[key, value] as [string, Json]],
  );
}

/** Keys of a path-less value are paths themselves. */
function withoutMembers(operation: PatchOperation, steps: MemberPatchStep[]): PatchOperation {
  if (!isObject(operation.value)) return operation;
  const rest: [string, Json][] = [];
  for (const [key, value] of flatEntries(operation.value)) {
    const isPath = parseAttributeName(key) !== undefined || key.includes('[');
    const path = isPath ? parsePatchPath(key) : undefined;
    if (path && isMembers(path)) steps.push(...stepsAt(path, { ...operation, value }));
    else rest.push([key, value]);
  }
  return { ...operation, value: Object.fromEntries(rest) };
}

function stepsAt({ filter, sub }: AttributePath, { op, value }: PatchOperation): MemberPatchStep[] {
  if (sub !== undefined) throw partFault(sub);
  if (!filter) return stepsOfAll(op, value);
  const values = valuesOf(filter);
  switch (op) {
    case 'remove':
      return [{ kind: 'remove', values }];
    case 'add':
      return [{ kind: 'add', members: values.map((one) => memberNamed(one, value)) }];
    case 'replace':
      return [{ kind: 'substitute', values, members: substitutesFor(values, value) }];
  }
}

/** "immutable" (RFC 7643 §8.7.1): a member is added or removed, and none of its parts is changed. */
function partFault(sub: string): Error {
  const members = findAttribute(groupType.schema.attributes, 'members');
  return members && findSubAttribute(members, sub)
    ? badRequest('mutability', 'The parts of a member cannot be changed.')
    : badRequest('invalidPath', `members has no sub-attribute ${sub}.`);
}

/** An `add` describes the member that the filter names, and cannot make another of it. */
function memberNamed(named: string, value: Json | undefined): Member {
  const given = value === undefined ? [] : membersGiven(value, named);
  if (given.length > 1 || given.some((member) => member.value !== named))
    throw badRequest('mutability', 'The value of a member cannot be changed.');
  return given[0] ?? { value: named };
}

/** What takes the place of the members that a filter names (RFC 7644 §3.5.2.3); without a value they go. */
function substitutesFor(values: string[], value: Json | undefined): Member[] {
  const [only, ...more] = values;
  const given = isUnassigned(value) ? [] : membersGiven(value ?? null, more.length > 0 ? undefined : only);
  if (given.length > 1) throw badRequest('invalidValue', 'One value of members cannot become many.');
  return given;
}

/** Members as sent; one without a value of its own is the one that is named. */
function membersGiven(value: Json, named: string | undefined): Member[] {
  const elements = Array.isArray(value) ? value : [value];
  return elements.flatMap((element) =>
    element === null ? [] : [toMember(isNameless(element) ? { ...element, value: named ?? null } : element)],
  );
}

function isNameless(element: Json): element is JsonObject {
  return isObject(element) && isUnassigned(ownValue(element, 'value'));
}

function stepsOfAll(op: PatchOperation['op'], value: Json | undefined): MemberPatchStep[] {
  if (op === 'add') return [{ kind: 'add', members: parseMembers(value) }];
  if (op === 'replace' || value === undefined || value === null)
    return [{ kind: 'replace', members: parseMembers(op === 'replace' ? value : undefined) }];
  // With a value only those listed go (Entra); Salesforce puts the list into an object once more.
  const listed = isObject(value) ? (ownValue(value, 'members') ?? value) : value;
  return [{ kind: 'remove', values: parseMembers(listed).map((member) => member.value) }];
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
  return isText ? checkText(String(value), 'members') : undefined;
}

/**
 * One step of a PATCH on members. `substitute` puts the given members in the place of those with the values; at least one
 * of these must be a member (RFC 7644 §3.5.2.3).
 */
export type MemberPatchStep =
  | Exclude<MemberChange, { kind: 'require' }>
  | { kind: 'substitute'; values: string[]; members: Member[] };

/** What the steps come to: `cleared` are removed first, then `added` are added, in their order. */
interface Net {
  /** Lists of values; of each at least one must be a member before the PATCH. */
  required: string[][];
  /** Whether everybody else leaves as well. */
  isAll: boolean;
  cleared: Set<string>;
  added: Map<string, Member>;
}

/**
 * What any number of steps on members come to, in at most three: some clients send an operation for every member, and
 * each step costs the store a statement or more.
 */
export function netMemberChanges(steps: MemberPatchStep[]): MemberChange[] {
  const net: Net = { required: [], isAll: false, cleared: new Set(), added: new Map() };
  for (const step of steps) take(net, step);
  const members = [...net.added.values()];
  const requirement: MemberChange[] =
    net.required.length > 0 ? [{ kind: 'require', lists: net.required }] : [];
  if (net.isAll) return [...requirement, { kind: 'replace', members }];
  return [
    ...requirement,
    ...(net.cleared.size > 0 ? [{ kind: 'remove' as const, values: [...net.cleared] }] : []),
    ...(members.length > 0 ? [{ kind: 'add' as const, members }] : []),
  ];
}

function take(net: Net, step: MemberPatchStep): void {
  switch (step.kind) {
    case 'add':
      for (const member of step.members) {
        // Who is a member already stays as added first.
        if (!net.added.has(member.value)) net.added.set(member.value, member);
      }
      return;
    case 'remove':
      for (const value of step.values) {
        net.added.delete(value);
        net.cleared.add(value);
      }
      return;
    case 'replace':
      net.isAll = true;
      net.added.clear();
      take(net, { kind: 'add', members: step.members });
      return;
    case 'substitute':
      requireOneOf(net, step.values);
      take(net, { kind: 'remove', values: step.values });
      take(net, { kind: 'add', members: step.members });
  }
}

/** One of the values must be a member at this point; where the steps before do not tell, the store has to. */
function requireOneOf(net: Net, values: string[]): void {
  if (values.some((value) => net.added.has(value))) return;
  const unknown = net.isAll ? [] : values.filter((value) => !net.cleared.has(value));
  if (unknown.length === 0) throw badRequest('noTarget', 'No member of the group matches the filter.');
  net.required.push(unknown);
}

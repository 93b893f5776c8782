import type { Member, MemberChange } from '../model/group-ports.ts';
import { parseAttributeName } from '../schema/attribute-names.ts';
import { findAttribute, findSubAttribute } from '../schema/attributes.ts';
import type { AttributePath, Filter } from '../schema/filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../schema/resource.ts';
import { groupType, resolveAttribute } from '../schema/resource-types.ts';
import { checkText, isUnassigned } from '../schema/values.ts';
import { type PatchOperation, parsePatchPath } from './patch/patch.ts';
import { badRequest } from './protocol/errors.ts';

/** Separates the `members` of a group's body, which are stored as rows, from its other attributes. */
export function splitMembers(body: JsonObject): { members: Json | undefined; rest: JsonObject } {
  const entries = flatEntries(body);
  const isMembersEntry = ([key]: [string, Json]) => {
    const name = parseAttributeName(key);
    return name?.sub === undefined && isMembers(name);
  };
  // If the name occurs in several spellings, the first one is used.
  const members = entries.find(isMembersEntry)?.[1];
  return { members, rest: Object.fromEntries(entries.filter((entry) => !isMembersEntry(entry))) };
}

/** Parses the value of `members` (RFC 7643 §4.2). `$ref` is not stored: responses derive it. */
export function parseMembers(value: Json | undefined): Member[] {
  if (value === undefined || isUnassigned(value)) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((member) =>
    member === null ? [] : [toMember(member)],
  );
}

/**
 * Separates the operations of a group's PATCH (RFC 7644 §3.5.2) into those on attributes, and changes of the members,
 * which are stored as rows of their own.
 */
export function splitGroupPatch(operations: PatchOperation[]): {
  operations: PatchOperation[];
  members: MemberChange[];
} {
  const rest: PatchOperation[] = [];
  const members: MemberPatchStep[] = [];
  for (const operation of operations) {
    const path = operation.path === undefined ? undefined : parsePatchPath(operation.path);
    if (path && isMembers(path)) members.push(...memberSteps(path, operation));
    else if (path && !isCoreUrn(path)) rest.push(operation);
    else rest.push(takeMembers(operation, members));
  }
  return { operations: rest, members: netMemberChanges(members) };
}

type Name = Pick<AttributePath, 'urn' | 'attribute'>;

function isMembers(name: Name | undefined): boolean {
  return name !== undefined && resolveAttribute(groupType, name).attribute?.name === 'members';
}

/** Returns true if a name is the URN of the core schema without an attribute, which means the whole group. */
function isCoreUrn(name: Name | undefined): boolean {
  if (name?.urn === undefined || name.attribute !== undefined) return false;
  return resolveAttribute(groupType, name).urn === undefined;
}

/** Returns the attributes of a body, including those inside of an object whose key is the URN of the core schema. */
function flatEntries(body: JsonObject): [string, Json][] {
  return Object.entries(body).flatMap(([key, value]) =>
    isObject(value) && isCoreUrn(parseAttributeName(key))
      ? Object.entries(value)
      : [[key, value] as [string, Json]],
  );
}

/**
 * Removes the members from the value of an operation without a path and adds their changes to `steps`. Returns the rest
 * of the operation.
 */
function takeMembers(operation: PatchOperation, steps: MemberPatchStep[]): PatchOperation {
  if (!isObject(operation.value)) return operation;
  const rest: [string, Json][] = [];
  for (const [key, value] of flatEntries(operation.value)) {
    const isPath = parseAttributeName(key) !== undefined || key.includes('[');
    const path = isPath ? parsePatchPath(key) : undefined;
    if (path && isMembers(path)) steps.push(...memberSteps(path, { ...operation, value }));
    else rest.push([key, value]);
  }
  return { ...operation, value: Object.fromEntries(rest) };
}

function memberSteps({ filter, sub }: AttributePath, { op, value }: PatchOperation): MemberPatchStep[] {
  if (sub !== undefined) throw subAttributeError(sub);
  if (!filter) return unfilteredSteps(op, value);
  const values = selectedValues(filter);
  switch (op) {
    case 'remove':
      return [{ kind: 'remove', values }];
    case 'add':
      return [{ kind: 'add', members: values.map((selected) => addedMember(selected, value)) }];
    case 'replace':
      return [{ kind: 'substitute', values, members: substitutes(values, value) }];
  }
}

/**
 * Returns the error for a change of a member's sub-attribute. These are immutable (RFC 7643 §8.7.1): members are only
 * added and removed.
 */
function subAttributeError(sub: string): Error {
  const members = findAttribute(groupType.schema.attributes, 'members');
  return members && findSubAttribute(members, sub)
    ? badRequest('mutability', 'The parts of a member cannot be changed.')
    : badRequest('invalidPath', `members has no sub-attribute ${sub}.`);
}

/**
 * Returns the member that an `add` on `members[value eq "…"]` adds. The value of the operation may contain other
 * sub-attributes, but no other id.
 */
function addedMember(selected: string, value: Json | undefined): Member {
  const members = value === undefined ? [] : membersWithDefault(value, selected);
  if (members.length > 1 || members.some((member) => member.value !== selected))
    throw badRequest('mutability', 'The value of a member cannot be changed.');
  return members[0] ?? { value: selected };
}

/**
 * Returns the members that replace those which a value filter selects (RFC 7644 §3.5.2.3); none if the operation has no
 * value.
 */
function substitutes(selected: string[], value: Json | undefined): Member[] {
  const [only, ...more] = selected;
  const members = isUnassigned(value)
    ? []
    : membersWithDefault(value ?? null, more.length > 0 ? undefined : only);
  if (members.length > 1) throw badRequest('invalidValue', 'One value of members cannot become many.');
  return members;
}

/** Parses members. A member without an id gets `defaultId`. */
function membersWithDefault(value: Json, defaultId: string | undefined): Member[] {
  const elements = Array.isArray(value) ? value : [value];
  return elements.flatMap((element) => {
    if (element === null) return [];
    const lacksId = isObject(element) && isUnassigned(ownValue(element, 'value'));
    return [toMember(lacksId ? { ...element, value: defaultId ?? null } : element)];
  });
}

function unfilteredSteps(op: PatchOperation['op'], value: Json | undefined): MemberPatchStep[] {
  if (op === 'add') return [{ kind: 'add', members: parseMembers(value) }];
  if (op === 'replace' || value === undefined || value === null)
    return [{ kind: 'replace', members: parseMembers(op === 'replace' ? value : undefined) }];
  // Entra ID sends the members to remove as the value; Salesforce sends an object that contains this list.
  const listed = isObject(value) ? (ownValue(value, 'members') ?? value) : value;
  return [{ kind: 'remove', values: parseMembers(listed).map((member) => member.value) }];
}

/**
 * Returns the ids in `members[value eq "a" or value eq "b"]`. Any other filter is refused, because all members would
 * have to be read.
 */
function selectedValues(filter: Filter): string[] {
  if (filter.op === 'or') return filter.operands.flatMap(selectedValues);
  const isValue = filter.op === 'eq' && filter.path.attribute?.toLowerCase() === 'value';
  if (isValue && typeof filter.value === 'string') return [filter.value];
  throw badRequest('invalidFilter', 'Members are selected by their value only.');
}

function toMember(member: Json): Member {
  if (!isObject(member)) return toMember({ value: member });
  const [value, display, type] = ['value', 'display', 'type'].map((name) => memberText(member, name));
  if (value === undefined) throw badRequest('invalidValue', 'Every member must have a value.');
  return {
    value,
    ...(display === undefined ? {} : { display }),
    ...(type === undefined ? {} : { type }),
  };
}

/** An id that is sent as a number is read as text, as in every attribute (docs/deviations.md). */
function memberText(member: JsonObject, name: string): string | undefined {
  const value = ownValue(member, name);
  const isText = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return isText ? checkText(String(value), 'members') : undefined;
}

/**
 * A change of members by one operation of a PATCH. `substitute` replaces the members with these ids by others; at least
 * one of the ids must be a member (RFC 7644 §3.5.2.3).
 */
export type MemberPatchStep =
  | Exclude<MemberChange, { kind: 'require' }>
  | { kind: 'substitute'; values: string[]; members: Member[] };

/** The combined effect of several changes: first `removed` are removed, then `added` are added in their order. */
interface NetChange {
  /** Lists of ids. At least one id of each list must be a member before the PATCH. */
  required: string[][];
  /** True if the PATCH removes all members that the group had before. */
  removesAll: boolean;
  removed: Set<string>;
  added: Map<string, Member>;
}

/**
 * Combines the changes of one PATCH into at most three with the same effect. Some clients send one operation for each
 * member, and each change costs the store at least one statement.
 */
export function netMemberChanges(steps: MemberPatchStep[]): MemberChange[] {
  const net: NetChange = { required: [], removesAll: false, removed: new Set(), added: new Map() };
  for (const step of steps) applyStep(net, step);
  const members = [...net.added.values()];
  const requirement: MemberChange[] =
    net.required.length > 0 ? [{ kind: 'require', lists: net.required }] : [];
  if (net.removesAll) return [...requirement, { kind: 'replace', members }];
  return [
    ...requirement,
    ...(net.removed.size > 0 ? [{ kind: 'remove' as const, values: [...net.removed] }] : []),
    ...(members.length > 0 ? [{ kind: 'add' as const, members }] : []),
  ];
}

function applyStep(net: NetChange, step: MemberPatchStep): void {
  switch (step.kind) {
    case 'add':
      for (const member of step.members) {
        // A member that is added twice keeps the `display` and `type` of the first time.
        if (!net.added.has(member.value)) net.added.set(member.value, member);
      }
      return;
    case 'remove':
      for (const value of step.values) {
        net.added.delete(value);
        net.removed.add(value);
      }
      return;
    case 'replace':
      net.removesAll = true;
      net.added.clear();
      applyStep(net, { kind: 'add', members: step.members });
      return;
    case 'substitute':
      requireOneOf(net, step.values);
      applyStep(net, { kind: 'remove', values: step.values });
      applyStep(net, { kind: 'add', members: step.members });
  }
}

/**
 * Requires that one of the ids is a member after the earlier operations of the PATCH. If these operations do not decide
 * it, the store checks it.
 */
function requireOneOf(net: NetChange, values: string[]): void {
  if (values.some((value) => net.added.has(value))) return;
  const undecided = net.removesAll ? [] : values.filter((value) => !net.removed.has(value));
  if (undecided.length === 0) throw badRequest('noTarget', 'No member of the group matches the filter.');
  net.required.push(undecided);
}

import type { Member, MemberChange } from '../provisioning/group-ports.ts';
import { parseAttributeName } from '../schema/attribute-names.ts';
import { findAttribute, findSubAttribute } from '../schema/attributes.ts';
import type { AttributePath, Filter } from '../schema/filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../schema/resource.ts';
import { groupType, resolveAttribute } from '../schema/resource-types.ts';
import { checkText, isUnassigned } from '../schema/values.ts';
import { badRequest } from './errors.ts';
import { type PatchOperation, parsePatchPath } from './patch.ts';

/** Separates the `members` of a group's body, which are stored as rows, from its other attributes. */
export function splitMembers(body: JsonObject): { members: Json | undefined; rest: JsonObject } {
  const entries = flatEntries(body);
  const isMembersEntry = ([key]: [string, Json]) => {
    const name = parseAttributeName(key);
    return name?.sub === undefined && isMembers(name);
  };
  // If the body has the name in several spellings, the first one counts.
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
 * Separates the operations of a group's PATCH (RFC 7644 §3.5.2) into those on attributes and the changes of its members,
 * which are stored as rows.
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

/** Whether a name is the URN of the core schema alone, which stands for the whole group. */
function isCoreUrn(name: Name | undefined): boolean {
  if (name?.urn === undefined || name.attribute !== undefined) return false;
  return resolveAttribute(groupType, name).urn === undefined;
}

/** The attributes of a body, including those in an object under the URN of the core schema. */
function flatEntries(body: JsonObject): [string, Json][] {
  return Object.entries(body).flatMap(([key, value]) =>
    isObject(value) && isCoreUrn(parseAttributeName(key))
      ? Object.entries(value)
      : [[key, value] as [string, Json]],
  );
}

/** Moves the members in the value of an operation without a path, whose keys are paths, to `steps`; returns the rest. */
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

/** The sub-attributes of a member are immutable (RFC 7643 §8.7.1): members are only added and removed. */
function subAttributeError(sub: string): Error {
  const members = findAttribute(groupType.schema.attributes, 'members');
  return members && findSubAttribute(members, sub)
    ? badRequest('mutability', 'The parts of a member cannot be changed.')
    : badRequest('invalidPath', `members has no sub-attribute ${sub}.`);
}

/** The member that an `add` with a value filter adds. The value may describe it, but not have another id. */
function addedMember(selected: string, value: Json | undefined): Member {
  const members = value === undefined ? [] : membersWithDefault(value, selected);
  if (members.length > 1 || members.some((member) => member.value !== selected))
    throw badRequest('mutability', 'The value of a member cannot be changed.');
  return members[0] ?? { value: selected };
}

/** The members that replace those selected by a filter (RFC 7644 §3.5.2.3); none if the operation has no value. */
function substitutes(selected: string[], value: Json | undefined): Member[] {
  const [only, ...more] = selected;
  const members = isUnassigned(value)
    ? []
    : membersWithDefault(value ?? null, more.length > 0 ? undefined : only);
  if (members.length > 1) throw badRequest('invalidValue', 'One value of members cannot become many.');
  return members;
}

/** Parses members; an object without an id has the default id. */
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
  // Entra ID lists the members to remove in the value; Salesforce wraps this list into an object.
  const listed = isObject(value) ? (ownValue(value, 'members') ?? value) : value;
  return [{ kind: 'remove', values: parseMembers(listed).map((member) => member.value) }];
}

/** The ids in `members[value eq "a" or value eq "b"]`. Other filters are refused, as they would read all members. */
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

/** A number is read as a text, as in every attribute (docs/deviations.md). */
function memberText(member: JsonObject, name: string): string | undefined {
  const value = ownValue(member, name);
  const isText = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return isText ? checkText(String(value), 'members') : undefined;
}

/**
 * One change of members by an operation of a PATCH. `substitute` replaces the members with these values; at least one of
 * them must be a member (RFC 7644 §3.5.2.3).
 */
export type MemberPatchStep =
  | Exclude<MemberChange, { kind: 'require' }>
  | { kind: 'substitute'; values: string[]; members: Member[] };

/** The sum of several steps: `removed` are removed first, then `added` are added, in their order. */
interface NetChange {
  /** Lists of values; at least one value of each list must be a member before the PATCH. */
  required: string[][];
  /** Whether all members that the group has before the PATCH are removed. */
  removesAll: boolean;
  removed: Set<string>;
  added: Map<string, Member>;
}

/**
 * Combines steps on members into at most three changes with the same outcome. Some clients send an operation for every
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

/** One of the values must be a member at this point. If the steps before do not decide it, the store checks it. */
function requireOneOf(net: NetChange, values: string[]): void {
  if (values.some((value) => net.added.has(value))) return;
  const undecided = net.removesAll ? [] : values.filter((value) => !net.removed.has(value));
  if (undecided.length === 0) throw badRequest('noTarget', 'No member of the group matches the filter.');
  net.required.push(undecided);
}

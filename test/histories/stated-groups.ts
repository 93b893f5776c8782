import type { ConnectionName, CurrentUser } from './identity-providers.ts';
import { isGroupNamed, type MappingName } from './mappings.ts';

/** The time for which the members of a group that was deleted or emptied go on to count, in milliseconds. */
export const UNRESOLVED_MS = 2 * 60 * 60_000;

/** A group as its IdP has stated it. The members are SCIM ids of users. */
export interface StatedGroup {
  connection: ConnectionName;
  id: string;
  displayName: string;
  members: readonly string[];
}

/** A membership in a group that was deleted or emptied. It counts until a time between these two. */
interface FormerMembership {
  group: string;
  displayName: string;
  user: string;
  endsAfter: number;
  endsBefore: number;
}

/**
 * A member that may be an unknown id, because the IdP stated it while it deleted the user. If the DELETE was carried out first, the group keeps
 * the id as it keeps all that are unknown, and another member who is lost together with it is one of several.
 */
interface UnknownMember {
  group: string;
  user: string;
}

/** What the IdPs have stated of groups, at one moment. */
export interface StatedGroups {
  groups: readonly StatedGroup[];
  formers: readonly FormerMembership[];
  unknown: readonly UnknownMember[];
  /** Until this time it is not known which former memberships count; 0 if it is. */
  doubtUntil: number;
}

export const noGroups: StatedGroups = { groups: [], formers: [], unknown: [], doubtUntil: 0 };

/** A change of a group, which was carried out between two times. */
export interface GroupChange {
  before: StatedGroup | undefined;
  after: StatedGroup | undefined;
  begunAt: number;
  endedAt: number;
  /** The mapping in force. */
  mapping: MappingName;
  /** True if the IdP has removed members by a request each: then the group did not lose several at once. */
  isOneByOne: boolean;
  /** The SCIM ids of the users who are there, and of those whom the IdP is deleting at the same time. */
  live: ReadonlySet<string>;
  leaving: ReadonlySet<string>;
  /** The SCIM ids that the request names. */
  named: readonly string[];
}

/** Returns the names of the groups of which a user counts as a member. */
export function groupsOf({ groups, formers }: StatedGroups, { connection, id }: CurrentUser): string[] {
  const present = groups.filter((one) => one.connection === connection && one.members.includes(id));
  const former = formers.filter(({ user, group }) => user === id && !present.some((one) => one.id === group));
  return [...present, ...former].map(({ displayName }) => displayName);
}

/** Returns the groups after a change of one. */
export function withGroupChange(stated: StatedGroups, change: GroupChange): StatedGroups {
  const { before, after, begunAt, endedAt, mapping, live } = change;
  const id = before?.id ?? after?.id ?? '';
  const others = stated.groups.filter((one) => one.id !== id);
  const gained = new Set(after?.members.filter((user) => !before?.members.includes(user)));
  const isAgain = ({ group, user }: FormerMembership) => group === id && gained.has(user);
  const isNamed = (one: StatedGroup | undefined) =>
    one !== undefined && isGroupNamed(one.displayName, mapping);
  // Members who are added to a group that has no name of the mapping any more, and that they lost under one, are looked at later.
  const unseen = isNamed(before) || isNamed(after) ? [] : stated.formers.filter(isAgain);
  const next = {
    groups: after ? [...others, after] : others,
    formers: stated.formers.filter((one) => !isAgain(one)),
    unknown: unknownAfter(stated, change),
    doubtUntil: Math.max(stated.doubtUntil, ...unseen.map(({ endsBefore }) => endsBefore)),
  };
  if (!before || !isNamed(before)) return next;
  const present = membersOf(before, live);
  const unknown = stated.unknown.flatMap(({ group, user }) => (group === id ? [user] : []));
  const verdicts = [
    present.filter((user) => !change.leaving.has(user)),
    present,
    [...new Set([...present, ...unknown])],
  ].map((members) => isUnresolved(change, members));
  if (new Set(verdicts).size > 1) return { ...next, doubtUntil: endedAt + UNRESOLVED_MS };
  if (!verdicts.includes(true)) return next;
  const lost = present.map((user) => ({
    ...{ group: id, displayName: before.displayName, user },
    ...{ endsAfter: begunAt + UNRESOLVED_MS, endsBefore: endedAt + UNRESOLVED_MS },
  }));
  const isReplaced = (one: FormerMembership) =>
    lost.some(({ user }) => one.group === id && one.user === user);
  return { ...next, formers: [...next.formers.filter((one) => !isReplaced(one)), ...lost] };
}

/** True for a group that was deleted, or lost all of several members at once. */
function isUnresolved({ after, isOneByOne }: GroupChange, members: readonly string[]): boolean {
  if (!after) return true;
  if (isOneByOne) return false;
  return members.length > 1 && !members.some((user) => after.members.includes(user));
}

/** The members that may be unknown ids after a change, in all groups. */
function unknownAfter(
  { unknown }: StatedGroups,
  { before, after, named, leaving }: GroupChange,
): UnknownMember[] {
  const id = before?.id ?? after?.id ?? '';
  const added = named.filter((user) => leaving.has(user)).map((user) => ({ group: id, user }));
  return [...unknown, ...added].filter(
    ({ group, user }) => group !== id || after?.members.includes(user) === true,
  );
}

/** The members of a group; a user who was deleted is none any more. */
function membersOf({ members }: StatedGroup, live: GroupChange['live']): string[] {
  return members.filter((user) => live.has(user));
}

/** Returns the groups without the former memberships that count no more at this time. */
export function withoutEnded(stated: StatedGroups, now: number): StatedGroups {
  const formers = stated.formers.filter(({ endsBefore }) => endsBefore > now);
  return formers.length === stated.formers.length ? stated : { ...stated, formers };
}

/**
 * Returns the time at which it is known that the former memberships have ended that may end within a time; undefined if there are none and
 * there is no doubt.
 */
export function endOfMemberships(
  { formers, doubtUntil }: StatedGroups,
  now: number,
  withinMs: number,
): number | undefined {
  const ending = formers.filter(({ endsAfter }) => endsAfter <= now + withinMs);
  const ends = [...ending.map(({ endsBefore }) => endsBefore), ...(doubtUntil > now ? [doubtUntil] : [])];
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

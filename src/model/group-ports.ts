import type { ScimResource } from '../schema/resource.ts';
import type { GroupField, GroupOrder, ListPage, ListQuery, ListScan } from './list-ports.ts';
import type { UserGroup } from './translation.ts';

/** A SCIM group of one connection; `attributes` excludes id, meta and members. */
export interface Group {
  connection: string;
  id: string;
  attributes: ScimResource;
  version: number;
  createdAt: number;
  lastModified: number;
}

/** A group as read for a list. Large attributes are undefined and are read one group at a time when they are needed. */
export interface ListedGroup extends Omit<Group, 'attributes'> {
  attributes: ScimResource | undefined;
}

/** A member of a group (RFC 7643 §4.2). */
export interface Member {
  value: string;
  display?: string;
  type?: string;
}

/**
 * A member as read from the store. `names` is the type of the resource that has the member's id; undefined if there is
 * no such resource.
 */
export interface ResolvedMember extends Member {
  names: 'User' | 'Group' | undefined;
}

/**
 * One change of a group's members. `require` changes nothing: at least one id of each list must be a member, else the
 * whole change fails with `noTarget`.
 */
export type MemberChange =
  | { kind: 'require'; lists: string[][] }
  | { kind: 'add'; members: Member[] }
  | { kind: 'remove'; values: string[] }
  | { kind: 'replace'; members: Member[] };

/** The rules in force, as far as groups are concerned, at the time of a change. */
export interface RulesForGroups {
  generation: number;
  /** True for a group that the rules name; undefined if they name none. */
  test: ((group: UserGroup) => boolean) | undefined;
  /** True for the name of a group that the rules name by equality. */
  isNamed: (name: string) => boolean;
  /** True for the name of a group that the scope names by equality. */
  isInScope: (name: string) => boolean;
  /** As `Runtime.now`. */
  now: number;
}

/** The store of groups and of their members, which are rows of their own. */
export interface Groups {
  findById(connection: string, id: string): Promise<Group | undefined>;
  /** Returns one page of the groups, with an exact total. */
  list(
    connection: string,
    query: ListQuery<GroupField, GroupOrder>,
    scan: ListScan<ListedGroup>,
  ): Promise<ListPage<ListedGroup>>;
  /**
   * Reads the members of one group. Those of a large group are read in pieces during iteration, and may change meanwhile.
   */
  streamMembers(
    connection: string,
    groupId: string,
  ): Promise<ResolvedMember[] | AsyncIterable<ResolvedMember[]>>;
  /**
   * Reads the members of many groups, each with the group version that they belong to. Leaves out large groups, and
   * further groups once the total number of members reaches a limit.
   */
  membersOfSmallGroups(
    connection: string,
    groupIds: string[],
  ): Promise<Map<string, { version: number; members: ResolvedMember[] }>>;
  /**
   * Reads all members in their order, in pieces with `pause` awaited after each. A caller that needs the version that
   * they belong to reads the group before and after.
   */
  allMembers(
    connection: string,
    groupIds: string[],
    pause?: () => Promise<void>,
  ): Promise<Map<string, ResolvedMember[]>>;
  /** Returns for each of these users the groups that have the user as a direct member. */
  groupsOf(connection: string, userIds: string[]): Promise<Map<string, { value: string; display: string }[]>>;
  /**
   * With `rules`, members become dirty if these rules name the group, and soon the people whom their scope concerns if it names the group.
   * `otherRules`: others are in force, and nothing is written.
   */
  insert(
    group: Group,
    members: Member[],
    rules?: RulesForGroups,
  ): Promise<'done' | 'duplicate' | 'otherRules'>;
  /**
   * Applies the attributes and, in order, the member changes, if the group still has the expected version (else `stale`).
   * Returns `unchanged`, and leaves version and lastModified alone, if nothing differs, and `noTarget` if a required
   * member is missing. `delete` also removes the group from the groups that contain it; their lastModified becomes the
   * one of `group`. With `rules`, those whose membership in a named group changes become dirty: at once if they are few, otherwise
   * soon. A group that the rules name by equality and that is deleted or renamed goes on to have its members (`CountedMembership`). Those
   * whom the scope concerns become dirty soon if the group gets or loses a name that it names. `otherRules`: others are in force, and nothing is changed.
   */
  change(
    group: Group,
    expected: number,
    change: { attributes: ScimResource; members: MemberChange[] } | 'delete',
    rules?: RulesForGroups,
  ): Promise<'done' | 'unchanged' | 'stale' | 'duplicate' | 'noTarget' | 'otherRules'>;
}

/**
 * A direct membership of a user. `isGone`: no group has the name any more, so it is not known what the identity provider wants: what the
 * membership decides stays until a group has the name again, or the mapping no longer names it.
 */
export interface CountedMembership extends UserGroup {
  isGone?: boolean;
}

/** The store of memberships, as mappings read them. */
export interface Memberships {
  /** Returns the groups of a user, and those of named groups that are gone. */
  findOf(connection: string, userId: string): Promise<CountedMembership[]>;
  /** Returns those of the names that no group of the connection has. Names are compared without case. */
  findUnknownNames(connection: string, names: readonly string[]): Promise<string[]>;
  /** Returns the names of groups that begin with a text, without case, in their order. */
  findNames(connection: string, beginning: string, limit: number): Promise<string[]>;
  /**
   * Makes the next users dirty of groups with many members that have changed, of groups that are gone or back, and of a scope that has
   * changed with a group. Returns false if there are none left.
   */
  markSome(connection: string, now: number): Promise<boolean>;
}

import type { ScimResource } from '../../schema/resource.ts';
import type { Membership } from '../identity.ts';
import type { GroupField, GroupOrder, ListPage, ListQuery, ListScan } from '../users/list-ports.ts';

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
  /** Returns the memberships of one user, including display and type as the group has them. */
  membershipsOf(connection: string, userId: string): Promise<Membership[]>;
  insert(group: Group, members: Member[]): Promise<'done' | 'duplicate'>;
  /**
   * Applies the attributes and, in order, the member changes, if the group still has the expected version (else `stale`).
   * Returns `unchanged`, and leaves version and lastModified alone, if nothing differs, and `noTarget` if a required
   * member is missing. `delete` also removes the group from the groups that contain it; their lastModified becomes the
   * one of `group`.
   */
  change(
    group: Group,
    expected: number,
    change: { attributes: ScimResource; members: MemberChange[] } | 'delete',
  ): Promise<'done' | 'unchanged' | 'stale' | 'duplicate' | 'noTarget'>;
}

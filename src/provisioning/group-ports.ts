import type { ScimResource } from '../schema/resource.ts';
import type { Membership } from './identity.ts';
import type { GroupField, GroupOrder, ListPage, ListQuery, ListScan } from './list-ports.ts';

/** A group as kept: attributes without id, meta, members. */
export interface Group {
  connection: string;
  id: string;
  attributes: ScimResource;
  version: number;
  createdAt: number;
  lastModified: number;
}

/** A group as a list reads it: large attributes are undefined, and read by themselves when they are needed. */
export interface ListedGroup extends Omit<Group, 'attributes'> {
  attributes: ScimResource | undefined;
}

/** A member of a group (RFC 7643 §4.2). */
export interface Member {
  value: string;
  display?: string;
  type?: string;
}

/** A member as it is read; `names` is what its id names, undefined when there is no such resource. */
export interface ResolvedMember extends Member {
  names: 'User' | 'Group' | undefined;
}

/** One step on a group's members, in order. `require` changes nothing: of each list at least one must be a member. */
export type MemberChange =
  | { kind: 'require'; lists: string[][] }
  | { kind: 'add'; members: Member[] }
  | { kind: 'remove'; values: string[] }
  | { kind: 'replace'; members: Member[] };

/** The groups and their members, which are rows. */
export interface Groups {
  findById(connection: string, id: string): Promise<Group | undefined>;
  /** A part of the groups, with an exact total. */
  list(
    connection: string,
    query: ListQuery<GroupField, GroupOrder>,
    scan: ListScan<ListedGroup>,
  ): Promise<ListPage<ListedGroup>>;
  /** The members of one group; of a large one in pieces that are read while they are asked for, and may change meanwhile. */
  streamMembers(
    connection: string,
    groupId: string,
  ): Promise<ResolvedMember[] | AsyncIterable<ResolvedMember[]>>;
  /**
   * The members of many groups, each with the version that they belong to; large groups, and those that would make it
   * too many members in all, are left out.
   */
  membersOfSmallGroups(
    connection: string,
    groupIds: string[],
  ): Promise<Map<string, { version: number; members: ResolvedMember[] }>>;
  /**
   * The members in their order. Many are read in pieces, with a `pause` after each; a caller that must know the version
   * they belong to reads it before and after.
   */
  allMembers(
    connection: string,
    groupIds: string[],
    pause?: () => Promise<void>,
  ): Promise<Map<string, ResolvedMember[]>>;
  /** The groups that each of these users is a member of. */
  groupsOf(connection: string, userIds: string[]): Promise<Map<string, { value: string; display: string }[]>>;
  /** The groups that a user is a member of, with what each of them keeps of the member. */
  membershipsOf(connection: string, userId: string): Promise<Membership[]>;
  insert(group: Group, members: Member[]): Promise<'done' | 'duplicate'>;
  /**
   * At the expected version only. Applies the member changes in order, and the attributes; answers `unchanged`, leaving
   * version and lastModified alone, when neither makes a difference, and `noTarget` when a member that is required is
   * none. `delete` removes the group, also from the groups that contain it, which are modified at its `lastModified`.
   */
  change(
    group: Group,
    expected: number,
    change: { attributes: ScimResource; members: MemberChange[] } | 'delete',
  ): Promise<'done' | 'unchanged' | 'stale' | 'duplicate' | 'noTarget'>;
}

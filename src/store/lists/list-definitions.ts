import { type RawBuilder, sql } from 'kysely';
import type { Group, ListedGroup } from '../../model/group-ports.ts';
import type { Identity } from '../../model/identity.ts';
import type { GroupField, UserField } from '../../model/list-ports.ts';
import type { ListedIdentity } from '../../model/store-ports.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { equalInScope, type Scope } from '../connection-scopes.ts';
import { toIdentity } from '../identities/identity-row.ts';
import type { Database } from '../sql/database.ts';
import { parseJson } from '../sql/queries.ts';
import {
  caseFoldedKey,
  exactKey,
  hashedKeys,
  inRange,
  isCut,
  personKeys,
  type TextRange,
} from '../sql/search-keys.ts';
import type { IdentityTable } from '../sql/tables.ts';
import { type CountedRows, unclaimedOfTraveler } from './list-counters.ts';

/** A part of a statement. */
export type Sql = RawBuilder<unknown>;

/** The scope of a list: a database, and the connection whose rows are listed. */
export interface ListScope extends Scope, Pick<Database, 'db'> {}

/** A list: its table, the columns of its rows, and the columns by which it can be searched and sorted. */
export interface ListDefinition<Field extends string, Row> {
  table: 'identity' | 'scim_group';
  /** The condition that all listed rows meet. */
  live: Sql;
  columns: Sql;
  toRow(columns: object): Row;
  fields: Record<Field, SearchColumn>;
  /** The counter that tells how many rows there are. */
  counted: CountedRows;
}

/** A column that answers comparisons and by which rows are sorted. Its index also has the id. */
export interface SearchColumn {
  column: string;
  /** Rows may have no value. */
  isNullable?: true;
  /** Converts a value to the form that the column contains. */
  key(value: string | number | boolean): string | number;
  /** Set for texts in which a part can be sought: folds that part as the column is folded. */
  fold?: (text: string) => string;
  /** The condition that the text of a row is not complete in the column. */
  isTooLong?: Sql;
  /** The range of the values, if the column has others, too. */
  range?: TextRange;
  /** Too many rows have the same value to search for it. */
  isCommon?: true;
  /** The table that contains the column, if a row has several values, and its column with the id of the row. */
  owned?: { table: 'identity_email' | 'group_member'; id: string };
}

function folded(value: string | number | boolean): string {
  return caseFoldedKey(String(value));
}

function exact(value: string | number | boolean): string {
  return exactKey(String(value));
}

/** What a column of texts that are compared without case needs for a search of their parts. */
function parts(column: string): Required<Pick<SearchColumn, 'fold' | 'isTooLong'>> {
  return { fold: foldCase, isTooLong: inRange(column, hashedKeys) };
}

/**
 * Size in bytes from which the JSON of a row is not read with a list: 200 large rows could be hundreds of megabytes.
 * Neither database reads a text to compute its `octet_length`.
 */
const LARGE = 8192;

/** The column `in_groups` of an identity in a response. */
export const inGroups = sql<0 | 1>`case when exists (
    select 1 from group_member
    where ${equalInScope('group_member.value', 'identity.id')}
  ) then 1 else 0 end`;

/** The columns of an identity in a response beside `desired`. */
const viewColumns = sql`id, extensions, version, created_at, last_modified, travel_id, ${inGroups} as in_groups`;

/** The columns of an identity in a response: `ShownColumns`. */
export const shownColumns = sql`desired, ${viewColumns}`;

/** The live identities of a connection. */
export const userList: ListDefinition<UserField, ListedIdentity> = {
  table: 'identity',
  live: sql`deleted_at is null`,
  columns: sql`${viewColumns}, case when octet_length(desired) <= ${sql.lit(LARGE)} then desired end as desired`,
  toRow: (columns) => {
    const row = columns as ShownColumns<string | null>; // The row has the columns of `columns`.
    return toShownIdentity({ ...row, desired: row.desired ?? undefined });
  },
  fields: {
    id: { column: 'id', key: String },
    userName: { column: 'user_name_key', key: folded, ...parts('user_name_key') },
    email: {
      ...{ column: 'email_key', key: folded, ...parts('email_key') },
      owned: { table: 'identity_email', id: 'identity_id' },
    },
    externalId: {
      ...{ column: 'external_id', isNullable: true, key: exact },
      ...{ ...parts('external_id'), fold: String },
    },
    displayName: {
      ...{ column: 'display_name_key', isNullable: true, key: folded },
      ...parts('display_name_key'),
    },
    person: {
      ...{ column: 'email_key', key: folded, fold: foldCase, isTooLong: isCut('email_key') },
      ...{ range: personKeys, owned: { table: 'identity_email', id: 'identity_id' } },
    },
    created: { column: 'created_at', key: Number },
    lastModified: { column: 'last_modified', key: Number },
    active: { column: 'active', isCommon: true, key: Number },
  },
  counted: 'live',
};

/** Returns the list of users without the unclaimed person of a traveler. */
export function userListWithout(scope: Scope, travelId: string | undefined): typeof userList {
  if (travelId === undefined) return userList;
  return {
    ...userList,
    live: sql`deleted_at is null and id <> coalesce((
      select identity.id from identity where ${unclaimedOfTraveler(scope, travelId)}), '')`,
    counted: { liveExcept: travelId },
  };
}

/** The same list with complete identities. */
export const identityList: ListDefinition<UserField, Identity> = {
  ...userList,
  columns: sql.raw('identity.*'),
  toRow: (columns) => toIdentity(columns as IdentityTable), // The row has the columns of `columns`.
};

/** The groups of a connection. */
export const groupList: ListDefinition<GroupField, ListedGroup> = {
  table: 'scim_group',
  live: sql.raw('1 = 1'),
  columns: sql.raw(`
    connection_id, id, case when octet_length(attributes) <= ${LARGE} then attributes end as attributes,
    version, created_at, last_modified`),
  toRow: (columns) => toGroup(columns as GroupColumns<string | null>), // The row has the columns of `columns`.
  fields: {
    id: { column: 'id', key: String },
    displayName: {
      ...{ column: 'display_name_key', isNullable: true, key: folded },
      ...parts('display_name_key'),
    },
    externalId: { column: 'external_id', isNullable: true, key: exact },
    member: {
      ...{ column: 'value', key: String },
      owned: { table: 'group_member', id: 'group_id' },
    },
    created: { column: 'created_at', key: Number },
    lastModified: { column: 'last_modified', key: Number },
  },
  counted: 'group',
};

/** The columns of an identity in a response. In a list, a large `desired` is missing. */
export interface ShownColumns<Desired = string> {
  id: string;
  desired: Desired;
  extensions: string | null;
  version: number;
  created_at: number;
  last_modified: number;
  travel_id: string | null;
  in_groups: 0 | 1;
}

/** Converts the columns of an identity in a response. */
export function toShownIdentity<Desired>(row: ShownColumns<Desired>) {
  return {
    id: row.id,
    desired: row.desired,
    extensions: row.extensions,
    version: row.version,
    createdAt: row.created_at,
    lastModified: row.last_modified,
    travelUserId: row.travel_id ?? undefined,
    inGroups: row.in_groups === 1,
  };
}

/** The columns of a group. In a list, large `attributes` are null. */
interface GroupColumns<Attributes> {
  connection_id: string;
  id: string;
  attributes: Attributes;
  version: number;
  created_at: number;
  last_modified: number;
}

/** Converts the columns of a group. */
export function toGroup(row: GroupColumns<string>): Group;
export function toGroup(row: GroupColumns<string | null>): ListedGroup;
export function toGroup(row: GroupColumns<string | null>): ListedGroup {
  return {
    connection: row.connection_id,
    id: row.id,
    attributes: row.attributes === null ? undefined : parseJson<Group['attributes']>(row.attributes),
    version: row.version,
    createdAt: row.created_at,
    lastModified: row.last_modified,
  };
}

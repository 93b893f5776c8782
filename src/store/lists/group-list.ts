import { sql } from 'kysely';
import type { Group, ListedGroup } from '../../provisioning/group-ports.ts';
import type { GroupField, GroupOrder } from '../../provisioning/list-ports.ts';
import { readCounter } from '../counters.ts';
import { parseJson } from '../queries.ts';
import { exactly, folded } from './columns.ts';
import { conjunctsOf } from './condition.ts';
import type { ListDefinition } from './list-definition.ts';

/** Attributes of more bytes are not read with those of other groups. */
const LARGE = 8192;

/** The groups of a connection as a list. */
export const groupList: ListDefinition<GroupField, GroupOrder, ListedGroup> = {
  table: 'scim_group',
  live: sql.raw('1 = 1'),
  columns: sql.raw(`
    connection_id, id, case when octet_length(attributes) <= ${LARGE} then attributes end as attributes,
    version, created_at, last_modified`),
  toRow: (raw) => toListed(raw as ListedColumns), // What `columns` names.
  fields: {
    id: { column: 'id', unique: true, lead: 1, key: String },
    displayName: { column: 'display_name_key', unique: true, lead: 1, key: folded },
    externalId: { column: 'external_id', unique: false, lead: 2, key: exactly },
    member: {
      ...{ column: 'value', unique: false, lead: 3, key: String },
      owned: { table: 'group_member', owner: 'group_id' },
    },
    created: { column: 'created_at', unique: false, lead: 1000, key: Number },
    lastModified: { column: 'last_modified', unique: false, lead: 1000, key: Number },
  },
  orders: {
    position: { column: 'position', unique: true, nullable: false, field: undefined },
    id: { column: 'id', unique: true, nullable: false, field: 'id' },
    displayName: { column: 'display_name_key', unique: true, nullable: true, field: 'displayName' },
    externalId: { column: 'external_id', unique: false, nullable: true, field: 'externalId' },
    created: { column: 'created_at', unique: false, nullable: false, field: 'created' },
    lastModified: { column: 'last_modified', unique: false, nullable: false, field: 'lastModified' },
  },
  total: async ({ db, account, connection }, where) => {
    if (conjunctsOf(where)?.length !== 0) return undefined;
    return (await readCounter(db, { account, connection }, 'group')).count;
  },
  // Groups are thousands, not millions: to go along the index costs little.
  jump: async (_place, _where, offset) => ({ position: 0, skip: offset }),
};

/** What is read of a group. */
interface GroupColumns {
  connection_id: string;
  id: string;
  attributes: string;
  version: number;
  created_at: number;
  last_modified: number;
}

/** `attributes` is null where they are large. */
type ListedColumns = Omit<GroupColumns, 'attributes'> & { attributes: string | null };

/** The group that the columns show. */
export function toGroup(row: GroupColumns): Group {
  return toRow(row, parseJson<Group['attributes']>(row.attributes));
}

function toListed(row: ListedColumns): ListedGroup {
  return toRow(row, row.attributes === null ? undefined : parseJson<Group['attributes']>(row.attributes));
}

function toRow<Attributes>(row: Omit<GroupColumns, 'attributes'>, attributes: Attributes) {
  return {
    connection: row.connection_id,
    id: row.id,
    attributes,
    version: row.version,
    createdAt: row.created_at,
    lastModified: row.last_modified,
  };
}

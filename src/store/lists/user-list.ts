import { sql } from 'kysely';
import type { Identity } from '../../provisioning/identity.ts';
import type { UserField, UserOrder, Where } from '../../provisioning/list-ports.ts';
import type { IdentityView, ListedIdentity } from '../../provisioning/store-ports.ts';
import { inScope } from '../connection-scopes.ts';
import { POSITIONS_PER_BLOCK, readCounter } from '../counters.ts';
import { toIdentity } from '../identity-row.ts';
import type { IdentityTable } from '../tables.ts';
import { exactly, folded } from './columns.ts';
import { conjunctsOf } from './condition.ts';
import type { ListDefinition, ListScope, Sql } from './list-definition.ts';

/** A desired state of more bytes is not read with the others of a list: 200 of them could fill hundreds of megabytes. */
const LARGE = 8192;

/** What is read of an identity that is to be shown: `ShownColumns`. */
export const shownColumns = columnsWith('desired');

/** The same for a list, without large desired states. Neither database reads a text to tell its `octet_length`. */
const listedColumns = columnsWith(`case when octet_length(desired) <= ${LARGE} then desired end as desired`);

function columnsWith(desired: string): Sql {
  return sql.raw(`
  id, ${desired}, extensions, version, created_at, last_modified, travel_id,
  case when claimed = 1 and state not in ('refused', 'held') then 1 else 0 end as at_rest,
  case when exists (
    select 1 from group_member
    where group_member.account = identity.account and group_member.connection_id = identity.connection_id and group_member.value = identity.id
  ) then 1 else 0 end as in_groups`);
}

/** The live identities of a connection as a list. */
export const userList: ListDefinition<UserField, UserOrder, ListedIdentity> = {
  table: 'identity',
  live: sql`deleted_at is null`,
  columns: listedColumns,
  toRow: (raw) => toListed(raw as ListedColumns), // What `columns` names.
  fields: {
    id: { column: 'id', unique: true, lead: 1, key: String },
    userName: { column: 'user_name_key', unique: true, lead: 1, key: folded },
    email: {
      ...{ column: 'email_key', unique: false, lead: 2, key: folded },
      owned: { table: 'identity_email', owner: 'identity_id' },
    },
    externalId: { column: 'external_id', unique: false, lead: 2, key: exactly },
    displayName: { column: 'display_name_key', unique: false, lead: 3, key: folded },
    created: { column: 'created_at', unique: false, lead: 1000, key: Number },
    lastModified: { column: 'last_modified', unique: false, lead: 1000, key: Number },
    active: { column: 'active', unique: false, lead: undefined, key: Number },
  },
  orders: {
    position: { column: 'position', unique: true, nullable: false, field: 'active' },
    id: { column: 'id', unique: true, nullable: false, field: 'id' },
    userName: { column: 'user_name_key', unique: true, nullable: false, field: 'userName' },
    externalId: { column: 'external_id', unique: false, nullable: true, field: 'externalId' },
    displayName: { column: 'display_name_key', unique: false, nullable: true, field: 'displayName' },
    created: { column: 'created_at', unique: false, nullable: false, field: 'created' },
    lastModified: { column: 'last_modified', unique: false, nullable: false, field: 'lastModified' },
  },
  total: readUserTotal,
  jump: skipBlocks,
};

/** The same list, with all that is kept of each. */
export const identityList: ListDefinition<UserField, UserOrder, Identity> = {
  ...userList,
  columns: sql.raw('identity.*'),
  toRow: (raw) => toIdentity(raw as IdentityTable), // What `columns` names.
};

/** The columns of an identity that is to be shown. */
export interface ShownColumns {
  id: string;
  desired: string;
  extensions: string | null;
  version: number;
  created_at: number;
  last_modified: number;
  travel_id: string | null;
  at_rest: 0 | 1;
  in_groups: 0 | 1;
}

/** The columns of an identity in a list; `desired` is null where it is large. */
type ListedColumns = Omit<ShownColumns, 'desired'> & { desired: string | null };

/** The identity that the columns show. */
export function toShownIdentity(row: ShownColumns): IdentityView {
  return toRow(row, row.desired);
}

function toListed(row: ListedColumns): ListedIdentity {
  return toRow(row, row.desired ?? undefined);
}

function toRow<Desired>(row: Omit<ShownColumns, 'desired'>, desired: Desired) {
  return {
    id: row.id,
    desired,
    extensions: row.extensions,
    version: row.version,
    createdAt: row.created_at,
    lastModified: row.last_modified,
    travelUserId: row.travel_id ?? undefined,
    canAnswerNoOp: row.at_rest === 1,
    inGroups: row.in_groups === 1,
  };
}

async function readUserTotal(
  { db, account, connection }: ListScope,
  where: Where<UserField>,
): Promise<number | undefined> {
  const activity = activityOf(where);
  if (activity === undefined) return undefined;
  const { count, active } = await readCounter(db, { account, connection }, 'live');
  return { everybody: count, active, inactive: count - active }[activity];
}

/** One row for each block of positions: few enough to be summed up each time. */
async function skipBlocks(
  { db, ...scope }: ListScope,
  where: Where<UserField>,
  offset: number,
): Promise<{ position: number; skip: number }> {
  const counted = { everybody: 'live', active: 'active', inactive: 'live - active' } as const;
  const activity = activityOf(where);
  if (activity === undefined) return { position: 0, skip: offset };
  const counts = sql.raw(counted[activity]);
  const { rows } = await sql<{ block: number; ahead: number }>`
    select block, ahead from (
      select block, sum(${counts}) over (order by block rows unbounded preceding) - (${counts}) as ahead
      from identity_block where ${inScope(scope)}
    ) as counted
    where ahead <= ${offset} order by block desc limit 1`.execute(db);
  const { block, ahead } = rows[0] ?? { block: 0, ahead: 0 };
  return { position: block * POSITIONS_PER_BLOCK, skip: offset - Number(ahead) };
}

/** Whose numbers are kept; undefined: the condition is about something else, or about both. */
function activityOf(where: Where<UserField>): 'everybody' | 'active' | 'inactive' | undefined {
  const conjuncts = conjunctsOf(where);
  if (!conjuncts?.every(({ field }) => field === 'active')) return undefined;
  const wanted = new Set(conjuncts.map(({ value }) => value === true));
  if (wanted.size > 1) return undefined;
  const [active] = wanted;
  if (active === undefined) return 'everybody';
  return active ? 'active' : 'inactive';
}

import type { GroupOrder, UserOrder } from '../bridge/list-query.ts';
import { splitName } from '../schema/names.ts';
import { groupType, type ResourceType, resolve, userType } from '../schema/resource-type.ts';
import type { Query } from './context.ts';

/** The order of a list. */
interface Order<By> {
  by: By;
  descending: boolean;
}

/** What can be sorted by, by the path of the attribute in lower case. */
type Orders<By> = Partial<Record<string, By>>;

const common = {
  id: 'id',
  externalid: 'externalId',
  displayname: 'displayName',
  'meta.created': 'created',
  'meta.lastmodified': 'lastModified',
} as const;

const userOrders: Orders<UserOrder> = { ...common, username: 'userName' };
const groupOrders: Orders<GroupOrder> = common;

/** The order of users that sortBy and sortOrder ask for. */
export function userOrderOf(query: Query): Order<UserOrder> {
  return orderOf<UserOrder>(userType, userOrders, query);
}

/** The order of groups that sortBy and sortOrder ask for. */
export function groupOrderOf(query: Query): Order<GroupOrder> {
  return orderOf<GroupOrder>(groupType, groupOrders, query);
}

/**
 * Without sortBy, or with one that no index has in order, lists have their stable order (RFC 7644 §3.4.2.3: sorting is
 * optional). "If a value for "sortBy" is provided and no "sortOrder" is specified, "sortOrder" SHALL default to ascending."
 */
function orderOf<By extends string>(
  type: ResourceType,
  orders: Orders<By>,
  { sortBy, sortOrder }: Query,
): Order<By | 'position'> {
  const name = typeof sortBy === 'string' ? splitName(sortBy.trim()) : undefined;
  const { urn, name: attribute } = name ? resolve(type, name) : {};
  const path = [attribute, name?.sub].filter((part) => part !== undefined).join('.');
  const key = path.toLowerCase();
  const by = urn === undefined && Object.hasOwn(orders, key) ? orders[key] : undefined;
  if (by === undefined) return { by: 'position', descending: false };
  return { by, descending: typeof sortOrder === 'string' && sortOrder.toLowerCase() === 'descending' };
}

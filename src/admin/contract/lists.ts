import { z } from 'zod';
import { ruleOrigins } from '../../translator/translation.ts';
import type { Contract } from './operation.ts';
import { id, limit, next, optionalInteger, optionalText, optionalTime, time } from './schemas.ts';

/** The lists of the travel service whose entries mappings name. */
export const resourceLists = [
  ...(['costCenters', 'billingProfiles', 'travelPolicies'] as const),
  ...(['customFields', 'customFieldOptions'] as const),
];
export type ResourceList = (typeof resourceLists)[number];

const list = z.enum(resourceLists);
const field = id.optional().describe('The custom field of the options');

/** The parameters of a page. */
const page = {
  search: z.string().max(300).default('').describe('A part of the name, without case'),
  after: z.string().max(1_000).optional().describe('`next` of the page before'),
  limit,
};
/** The page after a number of rows, or after a position. */
const numberedPage = { ...page, after: z.coerce.number<number>().int().min(0).optional() };
const nextNumber = optionalInteger;

const resource = z
  .object({
    id,
    name: z.string(),
    isArchived: z.boolean().describe('Archived, or a custom field or option that is disabled'),
    dataType: optionalText.describe('Of a custom field'),
    options: optionalInteger.describe('The number of options of a custom field'),
    places: z.array(z.string()).describe('The first places of the mapping that name it'),
    placeCount: z.int(),
  })
  .meta({ id: 'NamedResource', description: 'What a mapping can name in the travel service' });
export type NamedResource = z.input<typeof resource>;

const rule = z
  .object({
    field: optionalText.describe('The key of the field that it sets; absent: the scope'),
    fieldName: optionalText.describe('The name of a custom field'),
    origin: z.enum(ruleOrigins),
    rule: z.string(),
    when: optionalText,
  })
  .meta({ id: 'GroupRule', description: 'A rule of the mapping in force that reads a group' });
export type GroupRule = z.input<typeof rule>;

const group = z
  .object({ id, name: z.string(), members: z.int(), lastModified: time, rules: z.array(rule) })
  .meta({ id: 'Group', description: 'A group that an identity provider has sent' });
export type Group = z.input<typeof group>;

const member = z
  .object({
    id,
    kind: z.enum(['person', 'group', 'unknown']).describe('unknown: nothing has this id'),
    name: z.string(),
    userName: optionalText,
  })
  .meta({ id: 'GroupMember' });
export type GroupMember = z.input<typeof member>;

const unread = optionalText.describe('The reason for which the rules are not known; absent if they are');

const name = z.string().max(1_000);
const tag = 'Lists';

/** The operations on resources of the travel service, and on groups, that mappings name. */
export const listsContract = {
  listNamedResources: {
    ...{ method: 'get', path: '/lists/{connection}/resources', tag, access: 'viewer' },
    summary: 'List what mappings name in the travel service, as the bridge knows it, in the order of names',
    query: z.strictObject({ list: list.default('costCenters'), field, ...numberedPage }),
    result: z.object({
      resources: z.array(resource),
      total: z.int().describe('The number of those that the search finds'),
      next: nextNumber,
      readAt: optionalTime.describe('When this replica last read the list'),
      isStale: z.boolean().describe('True if it can no longer be read: older values are used'),
    }),
  },
  createNamedResource: {
    ...{ method: 'post', path: '/travel/resources', tag, access: 'admin' },
    summary: 'Create a resource that mappings can name in the embedded travel service',
    body: z.strictObject({
      list,
      field,
      name,
      email: z.string().max(400).optional().describe('Of a billing profile, which needs one'),
      lang: z.string().max(10).optional().describe('Of a billing profile: en or fr'),
      control: z.string().max(20).optional().describe('Of a travel policy: what needs an approval'),
      dataType: z.string().max(20).optional().describe('Of a custom field: text, option or optionsList'),
    }),
    result: z.object({ id }),
    errors: ['notFound', 'conflict'],
  },
  updateNamedResource: {
    ...{ method: 'patch', path: '/travel/resources/{id}', tag, access: 'admin' },
    summary: 'Rename, archive or restore a resource of the embedded travel service',
    body: z.strictObject({ list, field, name: name.optional(), isArchived: z.boolean().optional() }),
    errors: ['conflict'],
  },
  listGroups: {
    ...{ method: 'get', path: '/lists/{connection}/groups', tag, access: 'viewer' },
    summary: 'List groups in the order of their names. A page can be short, or empty, although others follow',
    query: z.strictObject({
      ...page,
      used: z.enum(['true']).optional().describe('Only those that rules read'),
    }),
    result: z.object({
      groups: z.array(group),
      total: z.int().describe('The number of all groups of the connection'),
      next,
      unread,
    }),
  },
  readGroup: {
    ...{ method: 'get', path: '/lists/{connection}/groups/{group}', tag, access: 'viewer' },
    summary: 'Read a group with the rules that read it',
    result: z.object({ group, unread }),
  },
  listGroupMembers: {
    ...{ method: 'get', path: '/lists/{connection}/groups/{group}/members', tag, access: 'viewer' },
    summary: 'List the members of a group. A page can be short, or empty, although others follow',
    query: z.strictObject(numberedPage),
    result: z.object({ members: z.array(member), next: nextNumber }),
  },
} as const satisfies Contract;

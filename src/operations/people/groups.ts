import { z } from 'zod';
import { ruleOrigins } from '../../model/translation.ts';
import { describeTravelFailure } from '../../model/travel-ports.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import type { GroupSummary } from '../../store/lists/group-pages.ts';
import { findCustomField } from '../../translator/rules/custom-field-values.ts';
import { findNamedGroups, type GroupReader, groupReaders } from '../../translator/rules/named-groups.ts';
import { findConnection, type ServiceDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { type Operations, serviceOperation } from '../operation.ts';
import { id, limit, next, optionalInteger, optionalText, time } from '../schemas.ts';

const rule = z
  .object({
    field: optionalText.describe('The key of the field that it sets; absent: the scope or the pilot'),
    isPilot: z.literal(true).optional().describe('Set if it is the pilot of the connection'),
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

const page = {
  search: z.string().max(300).default('').describe('A part of the name, without case'),
  after: z.string().max(1_000).optional().describe('`next` of the page before'),
  limit,
};

const groupQuery = z.strictObject({
  ...page,
  used: z.enum(['true']).optional().describe('Only those that rules read'),
});

const tag = 'Groups';

/** The operations on groups of the identity providers. */
export const groupOperations = {
  listGroups: serviceOperation(
    {
      ...{ method: 'get', path: '/groups/{connection}', tag, access: 'viewer' },
      summary:
        'List groups in the order of their names. A page can be short, or empty, although others follow',
      query: groupQuery,
      result: z.object({
        groups: z.array(group),
        total: z.int().describe('The number of all groups of the connection'),
        missing: z.array(z.string()).describe('Names in the mapping in force that no group has'),
        next,
        unread,
      }),
    },
    ({ params, query }, deps) => listGroups(params, query, deps),
  ),
  readGroup: serviceOperation(
    {
      ...{ method: 'get', path: '/groups/{connection}/{group}', tag, access: 'viewer' },
      summary: 'Read a group with the rules that read it',
      result: z.object({ group, unread }),
    },
    async ({ params }, deps) => {
      const group = await findGroup(params, deps);
      const { rulesOf, unread } = await readRules(params, deps);
      return { group: { ...group, rules: rulesOf(group) }, unread };
    },
  ),
  listGroupMembers: serviceOperation(
    {
      ...{ method: 'get', path: '/groups/{connection}/{group}/members', tag, access: 'viewer' },
      summary: 'List the members of a group. A page can be short, or empty, although others follow',
      query: z.strictObject({ ...page, after: z.coerce.number<number>().int().min(0).optional() }),
      result: z.object({ members: z.array(member), next: optionalInteger }),
    },
    async ({ params, query }, deps) => {
      await findGroup(params, deps);
      return deps.groupPages.listMembers(params.connection, params.group, { after: undefined, ...query });
    },
  ),
} satisfies Operations;

async function findGroup(
  { connection, group }: { connection: string; group: string },
  deps: ServiceDeps,
): Promise<GroupSummary> {
  findConnection(deps, connection);
  const found = await deps.groupPages.findGroup(connection, group);
  if (!found)
    throw new OperationError(
      'notFound',
      'There is no such group; the identity provider may have deleted it.',
    );
  return found;
}

async function listGroups(
  params: { connection: string },
  { used, search, after, limit }: z.output<typeof groupQuery>,
  deps: ServiceDeps,
) {
  const { rulesOf, names, unread } = await readRules(params, deps);
  const isMeant = (group: GroupName) => used === undefined || rulesOf(group).length > 0;
  const page = { search, after, limit };
  const { groups, next } = await deps.groupPages.listGroups(params.connection, page, isMeant);
  return {
    groups: groups.map((group) => ({ ...group, rules: rulesOf(group) })),
    total: await deps.groupPages.count(params.connection),
    missing: await deps.store.memberships.findUnknownNames(params.connection, names),
    ...{ next, unread },
  };
}

type GroupName = Pick<GroupSummary, 'id' | 'name'>;

/** Returns the rules in force that read a group. Groups can be looked at also while the lookups cannot be read. */
async function readRules(
  { connection: id }: { connection: string },
  deps: ServiceDeps,
): Promise<{ rulesOf: (group: GroupName) => GroupRule[]; names: string[]; unread: string | undefined }> {
  const { connection } = findConnection(deps, id);
  const current = await deps.provisioning.currentRules(connection);
  if ('kind' in current)
    return {
      ...{ rulesOf: () => [], names: [] },
      unread: `The rules are not known, because the travel API cannot be read: ${describeTravelFailure(current)}.`,
    };
  const readers = groupReaders(current.rules);
  const rulesOf = (group: GroupName) =>
    readers
      .filter(({ test }) => test({ value: group.id, display: group.name }))
      .map((reader) => toGroupRule(reader, current));
  const names = findNamedGroups(current.rules.mapping).map(({ name }) => name);
  return { rulesOf, names, unread: undefined };
}

function toGroupRule({ rule }: GroupReader, { rules, lookups }: RulesSnapshot): GroupRule {
  if (rule === 'scope') return { origin: 'file', rule: rules.scope?.text ?? '' };
  if (rule === 'pilot') return { origin: 'file', rule: rules.pilot?.text ?? '', isPilot: true };
  const { target, origin, text, condition } = rule;
  const common = { origin, rule: text, when: condition?.text };
  if (target.kind === 'field') return { ...common, field: target.field };
  const found = findCustomField(target, lookups.customFields);
  if ('code' in found) return { ...common, field: `customFields.${target.value}` };
  return { ...common, field: `customFields.${found.id}`, fieldName: found.name };
}

import { z } from 'zod';
import type { AuditEntry, AuditLog, EntryFilter } from '../../store/credentials/audit-log.ts';
import type { OperationDeps } from '../deps.ts';
import { type Operations, operation } from '../operation.ts';
import { personOperations } from '../people/person.ts';
import { nameReader, userNames } from '../people/user-names.ts';
import { limit, optionalInteger, optionalText, optionalTime, time } from '../schemas.ts';

const listedEntry = z
  .object({
    position: z.int(),
    at: time,
    actor: z
      .string()
      .describe('People whom an OpenID provider identifies have the host of its issuer behind their name'),
    actorKind: z.enum(['account', 'token', 'command', 'nobody']),
    address: z.string(),
    action: z.string().describe('The name of the operation'),
    details: z.record(z.string(), z.unknown()),
    people: z
      .array(z.object({ id: z.string(), name: optionalText }))
      .describe('The changed people; without a name if there is no such person any more'),
    status: optionalInteger.describe('The status of the response; absent if there was none'),
  })
  .meta({ id: 'AuditEntry' });

export type ListedAuditEntry = z.input<typeof listedEntry>;

const filters = {
  actor: z.string().max(200).optional().describe('A part of the name, without case'),
  action: z.string().max(100).optional(),
  since: optionalTime,
  until: optionalTime,
};

const pageQuery = z.strictObject({
  before: z.coerce.number<number>().int().min(1).optional(),
  ...filters,
  limit,
});

/** The columns of the audit log in CSV. */
export const auditColumns = {
  at: ({ at }: AuditEntry) => new Date(at),
  actor: ({ actor }: AuditEntry) => actor,
  actorKind: ({ actorKind }: AuditEntry) => actorKind,
  address: ({ address }: AuditEntry) => address,
  action: ({ action }: AuditEntry) => action,
  status: ({ status }: AuditEntry) => status,
  details: ({ details }: AuditEntry) => JSON.stringify(details),
};

/** The audit log. */
export const auditOperations = {
  listAuditEntries: operation(
    {
      ...{ method: 'get', path: '/audit', tag: 'Audit', access: 'viewer' },
      summary: 'List the changes, newest first',
      query: pageQuery,
      result: z.object({ entries: z.array(listedEntry), next: optionalInteger }),
    },
    ({ query }, deps) => listAuditEntries(query, deps),
  ),
  downloadAuditEntries: operation(
    {
      ...{ method: 'get', path: '/audit.csv', tag: 'Audit', access: 'viewer' },
      summary: 'Download the changes as CSV, newest first',
      query: z.strictObject(filters),
      csv: auditColumns,
    },
    async ({ query }, deps) => auditPages(deps.audit, query),
  ),
  listAuditChoices: operation(
    {
      ...{ method: 'get', path: '/audit/choices', tag: 'Audit', access: 'viewer' },
      summary: 'List the actors and actions that the audit log has',
      result: z.object({
        actors: z.array(z.string()).describe('Names that only failed sign-ins gave are left out'),
        actions: z.array(z.string()),
      }),
    },
    (_input, deps) => deps.audit.listChoices(),
  ),
} satisfies Operations;

async function listAuditEntries({ limit, ...query }: z.output<typeof pageQuery>, deps: OperationDeps) {
  const entries = await deps.audit.list({ ...query, limit: limit + 1 });
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? shown.at(-1)?.position : undefined;
  const readName = nameReader(userNames(deps), MAX_NAMES);
  const toListed = async (entry: AuditEntry) => ({
    ...entry,
    people: await Promise.all(
      peopleOf(entry).map(async ({ connection, id }) => ({ id, name: await readName(connection, id) })),
    ),
  });
  return { entries: await Promise.all(shown.map(toListed)), next };
}

interface PersonKey {
  connection: string;
  id: string;
}

/** The changed people of an entry. The id of an operation on one person is that of the person. */
function peopleOf({ action, details }: AuditEntry): PersonKey[] {
  const { connection, people, person, id } = details;
  if (typeof connection !== 'string') return [];
  const ids = [people, person, action in personOperations ? id : undefined].flat();
  return ids.flatMap((one) => (typeof one === 'string' ? [{ connection, id: one }] : []));
}

/** The most names that are read for a page: decisions about many people would make it slow. */
const MAX_NAMES = 300;

/** The number of entries of a page of CSV. */
const PAGE = 500;

/** Yields all entries that a filter selects page by page, newest first. */
async function* auditPages(audit: Pick<AuditLog, 'list'>, filter: EntryFilter): AsyncGenerator<AuditEntry[]> {
  let before: number | undefined;
  do {
    const entries = await audit.list({ ...filter, before, limit: PAGE });
    yield entries;
    before = entries.length === PAGE ? entries.at(-1)?.position : undefined;
  } while (before !== undefined);
}

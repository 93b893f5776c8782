import { z } from 'zod';
import { auditColumns } from '../audit-entries.ts';
import type { Contract } from './operation.ts';
import { limit, optionalInteger, optionalText, optionalTime, time } from './schemas.ts';

const auditEntry = z
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
export type AuditEntry = z.input<typeof auditEntry>;

const filters = {
  actor: z.string().max(200).optional().describe('A part of the name, without case'),
  action: z.string().max(100).optional(),
  since: optionalTime,
  until: optionalTime,
};

/** The audit log. */
export const auditContract = {
  listAuditEntries: {
    ...{ method: 'get', path: '/audit', tag: 'Audit', access: 'viewer' },
    summary: 'List the changes, newest first',
    query: z.strictObject({ before: z.coerce.number<number>().int().min(1).optional(), ...filters, limit }),
    result: z.object({ entries: z.array(auditEntry), next: optionalInteger }),
  },
  downloadAuditEntries: {
    ...{ method: 'get', path: '/audit.csv', tag: 'Audit', access: 'viewer' },
    summary: 'Download the changes as CSV, newest first',
    query: z.strictObject(filters),
    csv: auditColumns,
  },
  listAuditChoices: {
    ...{ method: 'get', path: '/audit/choices', tag: 'Audit', access: 'viewer' },
    summary: 'List the actors and actions that the audit log has',
    result: z.object({
      actors: z.array(z.string()).describe('Names that only failed sign-ins gave are left out'),
      actions: z.array(z.string()),
    }),
  },
} as const satisfies Contract;

import { z } from 'zod';
import { flag, label, text } from '../fields.ts';
import { defineResource } from '../resource.ts';

/** A project that a trip can be assigned to. */
export const projectCode = defineResource({
  type: 'projectCode',
  path: 'project-codes',
  idForm: 'A',
  schema: z
    .strictObject({
      approverId: text.optional(),
      archived: flag,
      billingProfileId: text.optional(),
      code: label,
      confidential: flag,
      name: text.optional(),
    })
    .meta({ description: 'A project that a trip can be assigned to' }),
  operations: ['list', 'create', 'retrieve', 'patch', 'replace', 'delete'],
  events: ['created', 'updated', 'deleted'],
  sortBy: ['code'],
  filters: ['archived'],
  unique: [{ field: 'code', fold: false }],
  references: [
    { field: 'approverId', to: 'user' },
    { field: 'billingProfileId', to: 'billingProfile' },
  ],
  example: { code: 'APOLLO', confidential: true, name: 'Project Apollo' },
});

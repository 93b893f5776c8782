import { z } from 'zod';
import { flag, label, text } from '../fields.ts';
import { defineResource } from '../resource.ts';

/** What travel is booked on. */
export const costCenter = defineResource({
  type: 'costCenter',
  path: 'cost-centers',
  idForm: 'A',
  schema: z
    .strictObject({
      archived: flag,
      name: label,
      travelPolicyId: text.optional(),
    })
    .meta({ description: 'What travel is booked on' }),
  operations: ['list', 'create', 'retrieve', 'patch', 'replace', 'delete'],
  events: ['created', 'updated', 'deleted'],
  sortBy: ['name'],
  filters: ['archived'],
  references: [{ field: 'travelPolicyId', to: 'travelPolicy' }],
  example: { name: 'Research' },
});

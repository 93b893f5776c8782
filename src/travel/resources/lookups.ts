import { z } from 'zod';
import { country, email, flag, label, lang, text } from '../declaration/fields.ts';
import { defineResource } from '../declaration/resource.ts';

/** A cost center. */
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
    .meta({ description: 'A cost center, to which travel is charged' }),
  events: ['created', 'updated', 'deleted'],
  sortBy: ['name'],
  filters: ['archived'],
  references: [{ field: 'travelPolicyId', to: 'travelPolicy' }],
  example: { name: 'Research' },
});

/** A billing profile: the customer that is billed and its address. */
export const billingProfile = defineResource({
  type: 'billingProfile',
  path: 'billing-profiles',
  idForm: 'A',
  schema: z
    .strictObject({
      address: z
        .strictObject({
          city: text.optional(),
          country: country.optional(),
          line1: text.optional(),
          line2: text.optional(),
          postalCode: text.optional(),
          state: text.optional(),
        })
        .optional(),
      archived: flag,
      companyName: text.optional(),
      email,
      lang,
      name: label,
      taxId: text.optional(),
      travelPolicyId: text.optional(),
    })
    .meta({ description: 'The legal entity and the address for invoices' }),
  readOnly: z.strictObject({ paymentMethodSummary: text.optional() }),
  events: ['created', 'updated', 'deleted'],
  sortBy: ['name'],
  filters: ['archived'],
  references: [{ field: 'travelPolicyId', to: 'travelPolicy' }],
  example: {
    address: { line1: '1 rue de la Paix', postalCode: '75002', city: 'Paris', country: 'FR' },
    companyName: 'Example SAS',
    email: 'billing@example.com',
    lang: 'fr',
    name: 'Headquarters',
    taxId: 'FR40303265045',
  },
});

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

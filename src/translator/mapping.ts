import { z } from 'zod';
import { plainFields } from './fields.ts';
import { faultsOf, type MappingFault, told } from './mapping-faults.ts';
import { readablePath } from './readable-path.ts';
import { countrySchema, transformSchema } from './transform-schema.ts';
import { travelRoles } from './travel-roles.ts';

const name = z.string().trim().min(1).max(1000);

const scimPath = z.string().superRefine((text, context) => {
  const path = readablePath(text);
  if ('problem' in path) context.addIssue({ code: 'custom', message: told(path.problem, path.remedy) });
});

const targets = ['customFieldId', 'customField', 'userAttribute'] as const;

const rule = z
  .strictObject({
    scimAttribute: scimPath.describe('The SCIM path that is read; extensions by their URN.'),
    customFieldId: z.string().min(1).optional().describe('The custom field that is set, by its id.'),
    customField: name.optional().describe('The custom field that is set, by its name.'),
    userAttribute: z.enum(plainFields).optional().describe('The field of the traveler that is set.'),
    transforms: z.array(transformSchema).max(20).optional().describe('Applied in order.'),
  })
  .superRefine((written, context) => {
    const count = targets.filter((target) => written[target] !== undefined).length;
    if (count === 1) return;
    const problem = count === 0 ? 'has no target' : 'has more than one target';
    const message = told(problem, 'Give exactly one of customFieldId, customField and userAttribute.');
    context.addIssue({ code: 'custom', message });
  });

const rules = z.array(rule).superRefine((written, context) => {
  const seen = new Map<string, number>();
  for (const [index, one] of written.entries()) {
    for (const target of targets) {
      const value = one[target];
      if (value === undefined) continue;
      const first = seen.get(`${target} ${value}`);
      if (first === undefined) seen.set(`${target} ${value}`, index);
      else context.addIssue({ code: 'custom', path: [index, target], message: secondRule(first, value) });
    }
  }
});

function secondRule(first: number, value: string): string {
  return told(`is set by the rule scimUserMapping[${first}] already`, `Keep one rule for ${value}.`);
}

/** Something of the travel service, by id or by its exact name. */
const named = z.union([z.strictObject({ id: z.string().min(1) }), z.strictObject({ name })], {
  error: told('names nothing', 'Write { "id": … } or { "name": … }.'),
});

/**
 * A mapping file: what becomes of SCIM attributes, and what everyone gets (docs/architecture.md, The rules of the
 * plan).
 */
export const mappingSchema = z.strictObject({
  $schema: z.string().optional(),
  scimUserMapping: rules
    .default([])
    .describe('Rules; each replaces the default rule of the field that it sets.'),
  defaults: z
    .strictObject({
      billingProfile: named.optional(),
      travelPolicy: named.optional(),
      costCenter: named.optional(),
    })
    .optional()
    .describe('What travelers get whom the identity provider gives nothing.'),
  roles: z
    .strictObject({
      allow: z.array(z.enum(travelRoles)).optional().describe('Default: all but admin and authAdmin.'),
      map: z
        .record(z.string(), z.enum(travelRoles))
        .optional()
        .describe('Roles of the identity provider by their value or name.'),
    })
    .optional(),
  phone: z.strictObject({ defaultCountry: countrySchema.optional() }).optional(),
  language: z.strictObject({ default: z.enum(['en', 'fr']).optional() }).optional(),
});

/** What a mapping file says. */
export type Mapping = z.output<typeof mappingSchema>;

/** Reads the JSON of a mapping file: the mapping, or every fault with its place. */
export function parseMapping(json: unknown): { mapping: Mapping } | { faults: MappingFault[] } {
  const result = mappingSchema.safeParse(json);
  return result.success ? { mapping: result.data } : { faults: faultsOf(result.error, mappingSchema) };
}

import { z } from 'zod';
import { findAttribute } from '../schema/attributes.ts';
import { type AttributePath, parsePath } from '../schema/filter-parser.ts';
import { resolveAttribute, userType } from '../schema/resource-types.ts';
import { type DefaultName, type Field, fields } from './fields.ts';
import { faultText, type MappingFault, toMappingFaults } from './mapping-faults.ts';
import { isDateFormat, isPhoneCountry } from './readers.ts';
import {
  compilePattern,
  missingGroup,
  type OptionTransforms,
  type PlainTransform,
  plainTransforms,
} from './transforms.ts';
import { travelRoles } from './translation.ts';

/** The schema of a country code for phone numbers. */
export const countrySchema = z.string().refine(isPhoneCountry, {
  message: faultText('is not the code of a country', 'Write two capital letters (ISO 3166-1), e.g. FR.'),
});

const replacement = z
  .strictObject({
    pattern: z.string().max(1000).describe('A regular expression (RE2 syntax).'),
    with: z
      .string()
      .max(200)
      .describe('The text in place of every match; $1 is the first group, $& the whole match.'),
  })
  .superRefine((option, context) => {
    const pattern = compilePattern(option.pattern);
    if (typeof pattern === 'string') {
      const message = faultText(
        pattern,
        'Write a regular expression in RE2 syntax: no look-around, no back references.',
      );
      context.addIssue({ code: 'custom', path: ['pattern'], message });
      return;
    }
    const group = missingGroup(pattern, option.with);
    if (group === undefined) return;
    const problem = `names the group $${group}, which the pattern does not have`;
    const message = faultText(
      problem,
      `Name a group of the pattern, which has ${pattern.groupCount()}, or write $& for the whole match.`,
    );
    context.addIssue({ code: 'custom', path: ['with'], message });
  });

const options = {
  date: z
    .string()
    .refine(isDateFormat, {
      message: faultText('is not a date format', 'Name YYYY, MM and DD once each, e.g. DD/MM/YYYY.'),
    })
    .describe('The format of the date, e.g. DD/MM/YYYY.'),
  phone: countrySchema.describe('The country of national phone numbers, e.g. FR.'),
  prefix: z.string().min(1).max(1000).describe('A text to put in front.'),
  replace: replacement,
  map: z.record(z.string(), z.string()).describe('Results by value; any other value is left out.'),
  default: z
    .string()
    .min(1)
    .max(1000)
    .describe('The value if there is none, or if an earlier transform left it out.'),
} satisfies { [Name in keyof OptionTransforms]: z.ZodType<OptionTransforms[Name]> };

const known = [...Object.keys(plainTransforms), ...Object.keys(options).map((name) => `{ "${name}": … }`)];

/** The schema of a transform: its name, or an object whose only member is the transform with its option. */
export const transformSchema = z.union(
  [
    z.literal(Object.keys(plainTransforms).filter(isPlainTransform)),
    z
      .strictObject(options)
      .partial()
      .refine((transform) => Object.keys(transform).length === 1, {
        message: faultText('is not one transform', 'Write each transform as an element of its own.'),
        when: ({ issues }) => issues.length === 0,
      }),
  ],
  { error: faultText('is not a transform', `Write one of ${known.join(', ')}.`) },
);

function isPlainTransform(name: string): name is PlainTransform {
  return Object.hasOwn(plainTransforms, name);
}

const name = z.string().trim().min(1).max(1000);

const scimPath = z.string().superRefine((text, context) => {
  const path = parseRulePath(text);
  if ('problem' in path) context.addIssue({ code: 'custom', message: faultText(path.problem, path.remedy) });
});

const targets = ['customFieldId', 'customField', 'userAttribute'] as const;

function ruleSchema(table: readonly Field[]) {
  return z
    .strictObject({
      scimAttribute: scimPath.describe('The SCIM path that is read; extensions by their URN.'),
      customFieldId: z.string().min(1).optional().describe('The custom field that is set, by its id.'),
      customField: name.optional().describe('The custom field that is set, by its name.'),
      userAttribute: z
        .enum(table.map(({ key }) => key))
        .optional()
        .describe('The field of the traveler that is set.'),
      transforms: z.array(transformSchema).max(20).optional().describe('Applied in order.'),
    })
    .superRefine((written, context) => {
      const count = targets.filter((target) => written[target] !== undefined).length;
      if (count === 1) return;
      const problem = count === 0 ? 'has no target' : 'has more than one target';
      const message = faultText(problem, 'Give exactly one of customFieldId, customField and userAttribute.');
      context.addIssue({ code: 'custom', message });
    });
}

function rulesSchema(table: readonly Field[]) {
  return z.array(ruleSchema(table)).superRefine((rules, context) => {
    const seen = new Map<string, number>();
    for (const [index, written] of rules.entries()) {
      for (const target of targets) {
        const value = written[target];
        if (value === undefined) continue;
        const first = seen.get(`${target} ${value}`);
        if (first === undefined) seen.set(`${target} ${value}`, index);
        else context.addIssue({ code: 'custom', path: [index, target], message: secondRule(first, value) });
      }
    }
  });
}

function secondRule(first: number, value: string): string {
  return faultText(`is set by the rule scimUserMapping[${first}] already`, `Keep one rule for ${value}.`);
}

/** The schema of a reference to a resource of the travel service, by id or by exact name. */
const namedResource = z.union([z.strictObject({ id: z.string().min(1) }), z.strictObject({ name })], {
  error: faultText('names nothing', 'Write { "id": … } or { "name": … }.'),
});

/** The schema of mapping files for a table of fields (docs/mappings.md). */
export function mappingSchemaFor(table: readonly Field[]) {
  return z.strictObject({
    $schema: z.string().optional(),
    scimUserMapping: rulesSchema(table)
      .default([])
      .describe('Rules; each replaces the default rule of the field that it sets.'),
    defaults: z
      .strictObject({
        billingProfile: namedResource.optional(),
        travelPolicy: namedResource.optional(),
        costCenter: namedResource.optional(),
      } satisfies Record<DefaultName, z.ZodType>)
      .optional()
      .describe('Values for users for whom the identity provider sends none.'),
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
}

/** The schema of mapping files for the fields of `fields.ts`. */
export const mappingSchema = mappingSchemaFor(fields);

/** The content of a valid mapping file. */
export type Mapping = z.output<typeof mappingSchema>;

/** Validates the JSON of a mapping file; returns the mapping, or every fault with its JSON path. */
export function parseMapping(
  json: unknown,
  schema: typeof mappingSchema = mappingSchema,
): { mapping: Mapping } | { faults: MappingFault[] } {
  const result = schema.safeParse(json);
  return result.success ? { mapping: result.data } : { faults: toMappingFaults(result.error, schema) };
}

/** Why a rule cannot read a path, and how to correct it. */
interface PathProblem {
  problem: string;
  remedy: string;
}

/** Parses the path of a rule. Core attributes must exist and be writable; extensions may have any attributes. */
export function parseRulePath(text: string): AttributePath | PathProblem {
  const parsed = parsePath(text);
  const path = 'fault' in parsed ? parsed : withAttributesOnly(parsed);
  if ('fault' in path) {
    const remedy = 'Write a SCIM path, e.g. title, name.middleName or emails[type eq "work"].value.';
    return { problem: `is not a SCIM path: ${path.fault} (at ${path.position})`, remedy };
  }
  const { urn, attribute, name } = resolveAttribute(userType, path);
  if (name === undefined)
    return { problem: 'names a schema and no attribute', remedy: `Write ${text}:attribute.` };
  if (!attribute) return urn === undefined ? unknownAttribute(name) : path;
  if (attribute.mutability !== 'readWrite') {
    return { problem: `${name} is not kept`, remedy: 'Read an attribute that the identity provider writes.' };
  }
  const isKnown = path.sub === undefined || findAttribute(attribute.subAttributes, path.sub) !== undefined;
  return isKnown ? path : unknownAttribute(`${name}.${path.sub}`);
}

/**
 * Removes the interpretations in which the whole path is an extension URN: a rule reads an attribute and never a whole
 * extension.
 */
function withAttributesOnly(path: AttributePath): AttributePath {
  const { readings, ...rest } = path;
  if (!readings) return path;
  return { ...rest, readings: readings.filter(({ attribute }) => attribute !== undefined) };
}

function unknownAttribute(name: string): PathProblem {
  return {
    problem: `a user has no attribute ${name}`,
    remedy: 'Correct the name, or put the URN of its extension in front.',
  };
}

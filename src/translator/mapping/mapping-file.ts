import { z } from 'zod';
import { rolesTarget, travelRoles } from '../../model/translation.ts';
import {
  type DefaultName,
  type Field,
  fields,
  preferenceKey,
  seatPreference,
  targetNames,
  toFieldKey,
} from '../fields/fields.ts';
import { isDateFormat } from '../values/dates.ts';
import { isPhoneCountry } from '../values/readers.ts';
import {
  compilePattern,
  joinOf,
  missingGroup,
  type OptionTransforms,
  type PlainTransform,
  plainTransforms,
  type Transform,
} from '../values/transforms.ts';
import { faultText, type MappingFault, toMappingFaults } from './mapping-faults.ts';
import { findLimitFaults, mappingLimits, maxPatternLength } from './mapping-limits.ts';
import { findRoleFaults } from './role-faults.ts';
import {
  isSyntaxProblem,
  parseCondition,
  parseInputPath,
  parseSourcePath,
  parseTemplate,
} from './rule-syntax.ts';

/** The schema of a country code for phone numbers. */
export const countrySchema = z.string().refine(isPhoneCountry, {
  message: faultText('is not the code of a country', 'Write two capital letters (ISO 3166-1), e.g. FR.'),
});

const replacement = z
  .strictObject({
    pattern: z.string().max(maxPatternLength).describe('A regular expression (RE2 syntax).'),
    with: z
      .string()
      .max(200)
      .describe('The text in place of every match; $1 is the first group, $& the whole match.'),
  })
  .superRefine((option, context) => {
    // A longer one has its fault already, and its size was not limited.
    if (option.pattern.length > maxPatternLength) return;
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

/** The schemas of the transforms with an option. */
const options = {
  date: z
    .string()
    .refine(isDateFormat, {
      message: faultText(
        'is not a date format',
        'Name YYYY, MM and DD once each, without times of day, e.g. DD/MM/YYYY; D and M also read one digit, and MMMM the name of a month, also a short one.',
      ),
    })
    .describe('The format of the date, e.g. DD/MM/YYYY or D MMMM YYYY.'),
  phone: countrySchema.describe('The country of national phone numbers, e.g. FR.'),
  prefix: z.string().min(1).max(1000).describe('A text to put in front.'),
  replace: replacement,
  map: z.record(z.string(), z.string()).describe('Results by value; any other value is left out.'),
  join: z
    .string()
    .min(1)
    .max(100)
    .describe('The separator between the values of all sources, which become one text.'),
  split: z.string().min(1).max(100).describe('The separator at which a text is divided into several values.'),
  default: z
    .string()
    .min(1)
    .max(1000)
    .describe('The value if there is none, or if an earlier transform left it out.'),
} satisfies { [Name in keyof OptionTransforms]: z.ZodType<OptionTransforms[Name]> };

const known = [...Object.keys(plainTransforms), ...Object.keys(options).map((name) => `{ "${name}": … }`)];

/** The schema of a transform: its name, or an object whose only member is the transform with its option. */
const transformSchema = z.union(
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

/** Makes the schema of a text that `parse` must accept. */
function parsedText(parse: (text: string) => object) {
  return z.string().superRefine((text, context) => {
    const parsed = parse(text);
    if (isSyntaxProblem(parsed))
      context.addIssue({ code: 'custom', message: faultText(parsed.problem, parsed.remedy) });
  });
}

/** The schema of a SCIM filter of people, as `scope`, `when` and the pilot of a connection are written. */
export const peopleFilter = parsedText(parseCondition).max(2000);

/** The members of a rule that name what it reads, and those that name what it sets. A rule has one of each. */
const inputs = ['scimAttribute', 'sources', 'template'] as const;
const targets = ['customFieldId', 'customField', 'userAttribute'] as const;

const requireOne = (names: readonly string[]) => ({ oneOf: names.map((one) => ({ required: [one] })) });

/** The members of a rule for its input and its condition. */
const inputShape = {
  scimAttribute: parsedText((text) => parseInputPath(text))
    .optional()
    .describe('The SCIM path that is read; extensions by their URN.'),
  sources: z
    .array(parsedText((text) => parseInputPath(text, parseSourcePath)))
    .min(1, faultText('is empty', 'Name at least one SCIM path.'))
    .max(20)
    .optional()
    .describe('SCIM paths; the first that has a value is read.')
    .meta({ examples: [['phoneNumbers[type eq "mobile"].value', 'phoneNumbers[type eq "work"].value']] }),
  fallback: z
    .enum(['absent', 'unusable'])
    .optional()
    .describe(
      'When the next of the sources is read: if the one before has no value (absent, the default), or also if its value cannot be used (unusable).',
    ),
  template: parsedText(parseTemplate)
    .max(1000)
    .optional()
    .describe(
      'Text with SCIM paths in braces; {{ and }} are literal braces. If a path has no value, the rule has none.',
    )
    .meta({ examples: ['{name.givenName} {name.familyName}'] }),
  when: peopleFilter
    .optional()
    .describe('A SCIM filter: the rule is used only for users that match it.')
    .meta({ examples: ['userType eq "Contractor"'] }),
};

/** The schema of a target: a field by its name, or a preference, of which no list exists. */
function userAttributeSchema(names: string[]) {
  const listed = [...names, seatPreference].map((one) => JSON.stringify(one)).join(', ');
  const error = faultText('is not one of the known values', `Write one of ${listed}, or another preference.`);
  return z.union([z.enum(names), z.enum([seatPreference]), z.string().regex(preferenceKey, error)], {
    error,
  });
}

function ruleSchema(table: readonly Field[]) {
  return z
    .strictObject({
      ...inputShape,
      customFieldId: z.string().min(1).optional().describe('The custom field that is set, by its id.'),
      customField: name.optional().describe('The custom field that is set, by its name.'),
      userAttribute: userAttributeSchema([...targetNames(table), rolesTarget])
        .optional()
        .describe(
          'The field of the traveler that is set; roles: the roles that are given, beside those of other rules; travelerPrefs.<name>: one preference.',
        ),
      transforms: z.array(transformSchema).max(20).optional().describe('Applied in order.'),
    })
    .superRefine((written, context) => {
      const [first, second] = inputs.filter((input) => written[input] !== undefined);
      if (first !== undefined && second === undefined) return;
      const problem = first === undefined ? 'is missing' : `stands beside ${first}`;
      const message = faultText(problem, 'Give exactly one of scimAttribute, sources and template.');
      context.addIssue({ code: 'custom', path: [second ?? 'scimAttribute'], message });
    })
    .superRefine(checkFallback)
    .superRefine(checkJoin)
    .superRefine((written, context) => {
      const count = targets.filter((target) => written[target] !== undefined).length;
      if (count === 1) return;
      const problem = count === 0 ? 'has no target' : 'has more than one target';
      const message = faultText(problem, 'Give exactly one of customFieldId, customField and userAttribute.');
      context.addIssue({ code: 'custom', message });
    })
    .meta({ allOf: [requireOne(inputs), requireOne(targets)], examples: ruleExamples });
}

interface WrittenInput {
  sources?: string[] | undefined;
  fallback?: string | undefined;
  template?: string | undefined;
  transforms?: Transform[] | undefined;
}

function checkFallback({ sources, fallback }: WrittenInput, context: z.RefinementCtx): void {
  if (fallback === undefined || sources) return;
  const message = faultText('stands without sources', 'Remove it, or name several paths in sources.');
  context.addIssue({ code: 'custom', path: ['fallback'], message });
}

/** `join` reads all sources, so it cannot follow another transform, and has no meaning where there is one text or one source at a time. */
function checkJoin(written: WrittenInput, context: z.RefinementCtx): void {
  const index = (written.transforms ?? []).findLastIndex((transform) => joinOf([transform]));
  if (index < 0) return;
  const message = joinFault(written, index);
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['transforms', index], message });
}

function joinFault({ template, fallback }: WrittenInput, index: number): string | undefined {
  if (index > 0) return faultText('joins after another transform', 'Write it first.');
  if (template !== undefined)
    return faultText('joins the one text of a template', 'Name several paths in sources.');
  if (fallback === undefined) return undefined;
  return faultText('joins all sources beside a fallback', 'Remove one of the two.');
}

const ruleExamples = [
  { scimAttribute: 'nickName', userAttribute: 'firstName' },
  { template: 'CC-40', userAttribute: 'costCenterId', when: 'userType eq "Contractor"' },
];

function rulesSchema(table: readonly Field[]) {
  return z.array(ruleSchema(table)).superRefine((rules, context) => {
    // The first rule that leaves nothing to later rules with the same target, and with the same condition.
    const seen = new Map<string, number>();
    for (const [index, written] of rules.entries()) {
      for (const target of targets) {
        const value = target === 'userAttribute' ? fieldOf(written, table) : written[target];
        if (value === undefined || value === rolesTarget) continue;
        const always = JSON.stringify([target, value]);
        const own = JSON.stringify([target, value, written.when]);
        const first = seen.get(always) ?? seen.get(own);
        if (first === undefined) seen.set(written.when === undefined ? always : own, index);
        else {
          const message = unreachableRule({ first, value, isSameCondition: !seen.has(always) });
          context.addIssue({ code: 'custom', path: [index, target], message });
        }
      }
    }
  });
}

function fieldOf({ userAttribute }: { userAttribute?: string | undefined }, table: readonly Field[]) {
  return userAttribute === undefined ? undefined : toFieldKey(userAttribute, table);
}

/** Describes a rule that is never used, because the rule with the index `first` applies in its place. */
function unreachableRule(given: { first: number; value: string; isSameCondition: boolean }): string {
  const earlier = `scimUserMapping[${given.first}]`;
  return given.isSameCondition
    ? faultText(
        `is set by the rule ${earlier} already, which has the same condition`,
        `Change one of the two conditions ("when"), or keep one rule for ${given.value}.`,
      )
    : faultText(
        `is set by the rule ${earlier} already, which has no condition`,
        `Give ${earlier} a condition ("when"), or keep one rule for ${given.value}.`,
      );
}

/** The schema of a reference to a resource of the travel service, by id or by exact name. */
const namedResource = z.union([z.strictObject({ id: z.string().min(1) }), z.strictObject({ name })], {
  error: faultText('names nothing', 'Write { "id": … } or { "name": … }.'),
});

/** The members of a mapping for its scope. */
const scopeShape = {
  scope: peopleFilter
    .optional()
    .describe('A SCIM filter: people who do not match it get no traveler.')
    .meta({ examples: ['not (userType eq "Service")'] }),
  outOfScope: z
    .enum(['keep', 'archive'])
    .optional()
    .describe(
      'What happens to the traveler of a person who leaves the scope: it stays as it is (the default), or it is archived until the person is back.',
    ),
};

/** The schema of mapping files for a table of fields (docs/mappings.md). */
export function mappingSchemaFor(table: readonly Field[]) {
  return z
    .strictObject({
      $schema: z.string().optional(),
      scimUserMapping: rulesSchema(table)
        .default([])
        .describe(
          'Rules; each replaces the default rule of the field that it sets. Of several rules for one field, the first whose condition holds is used.',
        )
        // `findLimitFaults` checks it before the schema.
        .meta({ maxItems: mappingLimits.rules }),
      ...scopeShape,
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
      manager: z
        .strictObject({
          by: z
            .enum(['id', 'userName', 'externalId', 'employeeNumber'])
            .describe(
              'The attribute of managers that names them; "userName" is the userName or an email address. By default any but the employee number, and the travel user id.',
            ),
        })
        .optional(),
      phone: z.strictObject({ defaultCountry: countrySchema.optional() }).optional(),
      language: z.strictObject({ default: z.enum(['en', 'fr']).optional() }).optional(),
    })
    .refine(({ scope, outOfScope }) => scope !== undefined || outOfScope === undefined, {
      path: ['outOfScope'],
      message: faultText('has no scope beside it', 'Name the people in "scope", or remove it.'),
    });
}

/** The schema of mapping files for the fields of `fields.ts`. */
export const mappingSchema = mappingSchemaFor(fields);

/** The content of a valid mapping file. */
export type Mapping = z.output<typeof mappingSchema>;

/** A mapping, or every fault with its JSON path. */
export type ParsedMapping = { mapping: Mapping } | { faults: MappingFault[] };

/** Validates the JSON of a mapping. One that is too large is not looked at further. */
export function parseMapping(json: unknown, schema: typeof mappingSchema = mappingSchema): ParsedMapping {
  const excess = findLimitFaults(json);
  if (excess.length > 0) return { faults: excess };
  const result = schema.safeParse(json);
  if (!result.success) return { faults: toMappingFaults(result.error, schema) };
  const faults = findRoleFaults(result.data);
  return faults.length > 0 ? { faults } : { mapping: result.data };
}

/**
 * The sources of a mapping in force. `page`: an admin on the admin page, or a script with an admin's token; `command`: a command;
 * `default`: the default rules, because no mapping file was named when the connection was used first.
 */
export const mappingSources = ['file', 'page', 'command', 'default'] as const;

export type MappingSource = (typeof mappingSources)[number];

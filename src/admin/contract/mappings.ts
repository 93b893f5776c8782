import { z } from 'zod';
import { ruleUses } from '../../translator/mapping/default-rules.ts';
import { mappingSources } from '../../translator/mapping/mapping-file.ts';
import { scopeVerdicts } from '../../translator/translation.ts';
import type { ErrorCode } from '../errors.ts';
import type { Contract } from './operation.ts';
import { findingMembers, id, limit, optionalInteger, optionalText, ruleMembers, time } from './schemas.ts';

const number = z.int().min(1).describe('The place of a version in the history: 1 for the first mapping');
const generation = z
  .int()
  .min(0)
  .describe(
    'The state of the rules with which a version came into force; 0 if no mapping was ever in force. A change names the one that it was compared with',
  );

/** A mapping file can be longer than what is accepted here. */
const storedText = z.string().describe('The mapping as JSON text, as in a mapping file');
const text = storedText.max(500_000, 'has at most 500,000 characters');

const value = z.unknown().optional();

const fault = z
  .object({
    path: z.string().describe('The JSON path in the mapping; $ is all of it'),
    problem: z.string(),
    remedy: z.string(),
  })
  .meta({ id: 'MappingFault', description: 'A faulty place of a mapping, and what to do' });
export type MappingFault = z.input<typeof fault>;

const names = z
  .record(z.string(), z.string())
  .describe('The names of custom fields by key, and of the resources that the values contain by id');

const version = z
  .object({
    number,
    generation,
    appliedAt: time,
    source: z
      .enum(mappingSources)
      .describe(
        'page: it was put in force here, or by a script; command: on the command line; file: a mapping file was read; default: the default rules',
      ),
    author: optionalText.describe(
      'The account or token, the user of the operating system, or the path of the mapping file',
    ),
    rules: z.int().describe('The number of its own rules'),
  })
  .meta({ id: 'MappingVersion', description: 'A mapping that is or was in force' });
export type MappingVersion = z.input<typeof version>;

const difference = z
  .object({
    addedRules: z.array(z.unknown()),
    removedRules: z.array(z.unknown()),
    members: z.array(z.object({ name: z.string(), before: value, after: value })),
  })
  .meta({ id: 'MappingDifference' });
export type MappingDifference = z.input<typeof difference>;

const otherRule = z
  .object({
    origin: z.enum(['collection', 'default']),
    field: z.string().describe('The key of the field; roles for all roles'),
    use: z
      .enum(ruleUses)
      .describe(
        'otherwise: for people for whom no condition of an earlier rule holds; replaced: an earlier rule sets the field',
      ),
    written: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The rule as a mapping could have it; absent if no rule can set the field'),
    others: z.array(z.string()).describe('What the rule reads after that, and no SCIM path can say'),
    setting: optionalText.describe('The setting of the mapping with the value of people without one'),
  })
  .meta({ id: 'OtherRule', description: 'A rule that is in force without being in the mapping' });
export type OtherRule = z.input<typeof otherRule>;

const finding = z
  .object(findingMembers)
  .meta({ id: 'PreviewedFinding', description: 'A value that would not be set on the traveler, and why' });
export type PreviewedFinding = z.input<typeof finding>;

const traceEntry = z
  .object({ field: z.string(), ...ruleMembers })
  .meta({ id: 'PreviewedRule', description: 'The effect of one rule on one field' });
export type PreviewedRule = z.input<typeof traceEntry>;

const previewedField = z
  .object({
    field: z.string(),
    outcome: z.enum(['value', 'absent', 'unresolved', 'kept', 'once']),
    value,
    isChanged: z.boolean().describe('True if the mapping in force has another result'),
    inForce: value.describe('The value that the mapping in force gives; absent if it gives none'),
  })
  .meta({ id: 'PreviewedField' });
export type PreviewedField = z.input<typeof previewedField>;

const fieldChange = z.object({ field: z.string(), before: value, after: value, isAgain: z.boolean() });

const preview = z
  .object({
    people: z.int().describe('The number of people looked at'),
    isCut: z.boolean().describe('True if there was no time to look at everybody'),
    changed: z.int().describe('People for whose traveler a call would be sent'),
    created: z.int().describe('People who would get a traveler at last'),
    pending: z.int().describe('People who would get no traveler any more'),
    outOfScope: z
      .int()
      .describe('People whom the scope would leave out, without a call: they have no traveler, or keep it'),
    needsApproval: z.boolean().describe('True if the change would be held for approval'),
    fields: z.array(
      z.object({ field: z.string(), set: z.int(), cleared: z.int(), again: z.int(), released: z.int() }),
    ),
    findings: z.array(z.object({ field: z.string(), code: z.string(), comes: z.int(), goes: z.int() })),
    examples: z.array(
      z.object({
        id: z.string(),
        userName: z.string(),
        outcome: z.enum(['changed', 'created', 'pending', 'outOfScope']),
        changes: z.array(fieldChange),
        comes: z.array(finding),
        goes: z.array(finding),
      }),
    ),
    names,
  })
  .meta({ id: 'MappingPreview', description: 'The changes that a mapping would make for all people' });
export type MappingPreview = z.input<typeof preview>;

const change = z.object({ outcome: z.enum(['applied', 'unchanged']), version: number, generation });

/** The errors of operations that compute with a mapping. */
const computing = ['busy', 'tooCostly'] satisfies ErrorCode[];

const named = z.array(z.string());

/** The mapping of each connection: what is in force, what another one would change, and its history. */
export const mappingsContract = {
  listMappings: {
    ...{ method: 'get', path: '/mappings', tag: 'Mappings', access: 'viewer' },
    summary: 'List the connections with their mappings in force',
    result: z.object({
      mappings: z.array(
        z.object({
          connection: z.string(),
          version: version.optional(),
          file: optionalText.describe(
            'The mapping file of the settings, which replaces the mapping when its content changes',
          ),
        }),
      ),
    }),
  },
  readMapping: {
    ...{ method: 'get', path: '/mappings/{connection}', tag: 'Mappings', access: 'viewer' },
    summary: 'Read the mapping in force',
    result: z.object({ version: version.optional(), text: storedText }),
  },
  listOtherRules: {
    ...{ method: 'get', path: '/mappings/{connection}/other-rules', tag: 'Mappings', access: 'viewer' },
    summary:
      'List the rules that are in force besides those of the mapping: of the travel service, and the default rules',
    result: z.object({ rules: z.array(otherRule) }),
  },
  listMappingNames: {
    ...{ method: 'get', path: '/mappings/{connection}/names', tag: 'Mappings', access: 'viewer' },
    summary:
      'List the SCIM paths, and the names of the travel service, that a mapping can contain; at most 1,000 of each kind',
    result: z.object({
      scimAttributes: z
        .array(z.object({ path: z.string(), description: z.string() }))
        .describe('The SCIM paths of users that a rule can read'),
      customFields: z.array(
        z.object({ id: z.string(), name: z.string(), dataType: z.string(), options: named }),
      ),
      ...{ costCenters: named, billingProfiles: named, travelPolicies: named },
    }),
  },
  findGroupNames: {
    ...{ method: 'get', path: '/mappings/{connection}/group-names', tag: 'Mappings', access: 'viewer' },
    summary: 'Find the names of groups that the identity provider has sent; at most 100',
    query: z.strictObject({
      beginning: z.string().max(300).default('').describe('The beginning of the names, without case'),
    }),
    result: z.object({ names: named }),
  },
  findExamplePerson: {
    ...{ method: 'get', path: '/mappings/{connection}/example-person', tag: 'Mappings', access: 'viewer' },
    summary: 'Find a person to show what the mapping does: one whom an identity provider has sent',
    result: z.object({ id: optionalText.describe('Absent if no identity provider has sent a person') }),
  },
  checkMapping: {
    ...{ method: 'post', path: '/mappings/{connection}/check', tag: 'Mappings', access: 'viewer' },
    summary: 'Find every fault of a mapping, and every name that the travel service does not have',
    changesNothing: true,
    body: z.strictObject({ text }),
    result: z.object({
      faults: z.array(fault),
      warnings: z.array(fault).describe('Names that are allowed but probably misspelled'),
      unchecked: optionalText.describe(
        'The reason for which names could not be looked up; absent if they were',
      ),
    }),
    errors: computing,
  },
  previewPerson: {
    ...{ method: 'post', path: '/mappings/{connection}/preview-person', tag: 'Mappings', access: 'viewer' },
    summary: 'Translate one person with a mapping: a stored one by id, or a SCIM user',
    changesNothing: true,
    body: z.strictObject({ text, person: id.optional(), user: z.record(z.string(), z.json()).optional() }),
    result: z.object({
      userName: z.string(),
      fields: z.array(previewedField),
      trace: z.array(traceEntry),
      findings: z.array(finding),
      fallbackEmail: optionalText,
      scope: z.enum(scopeVerdicts).describe('Whether the person is in the scope of the mapping'),
      names,
    }),
    errors: computing,
  },
  previewMapping: {
    ...{ method: 'post', path: '/mappings/{connection}/preview', tag: 'Mappings', access: 'viewer' },
    summary: 'Compute what a mapping would change for everybody',
    changesNothing: true,
    body: z.strictObject({
      text,
      examples: z.int().min(0).max(100).default(10),
      valuesSince: number
        .optional()
        .describe(
          'A version of the history: the values that the versions after it have replaced are put back where the mapping does not set their fields',
        ),
    }),
    result: preview,
    errors: computing,
  },
  applyMapping: {
    ...{ method: 'put', path: '/mappings/{connection}', tag: 'Mappings', access: 'admin' },
    summary: 'Put a mapping in force, unless another one than the expected is in force',
    body: z.strictObject({ text, generation }),
    result: change,
    errors: ['conflict', ...computing],
  },
  readMappingProgress: {
    ...{ method: 'get', path: '/mappings/{connection}/progress', tag: 'Mappings', access: 'viewer' },
    summary: 'Read how far people follow the mapping in force',
    result: z.object({
      state: z
        .enum(['done', 'running', 'held', 'discarded'])
        .describe(
          'done: everybody is translated with it; running: the rest is; held: the change waits for an approval; discarded: an admin has decided against it',
        ),
      left: z.int().describe('People who were last translated with earlier rules; at most 10,000'),
      affected: optionalInteger.describe(
        'Of a change that waits: the people whom it changes, at least 101 until all are counted',
      ),
    }),
  },
  listMappingVersions: {
    ...{ method: 'get', path: '/mappings/{connection}/versions', tag: 'Mappings', access: 'viewer' },
    summary: 'List the mappings that are and were in force, the newest first',
    query: z.strictObject({ limit }),
    result: z.object({ versions: z.array(version) }),
  },
  readMappingVersion: {
    ...{
      method: 'get',
      path: '/mappings/{connection}/versions/{version}',
      tag: 'Mappings',
      access: 'viewer',
    },
    summary: 'Read a mapping of the history, and what it changed',
    result: z.object({ version, text: storedText, difference }),
  },
  restoreMappingVersion: {
    ...{ method: 'post', path: '/mappings/{connection}/restore', tag: 'Mappings', access: 'admin' },
    summary: 'Put a mapping of the history in force again, unless another one than the expected is in force',
    body: z.strictObject({
      version: number,
      generation,
      values: z
        .boolean()
        .default(false)
        .describe(
          'True: the values that later versions have replaced are put back where the restored one does not set their fields',
        ),
    }),
    result: change,
    errors: ['conflict', ...computing],
  },
} as const satisfies Contract;

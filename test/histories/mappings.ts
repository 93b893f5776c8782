import type { JsonObject } from '../../src/schema/resource.ts';
import {
  type Catalog,
  DEPARTMENT,
  defaultRules,
  type Field,
  type MappedAttribute,
  type Rule,
  type StatedUser,
} from './traveler-fields.ts';

/** The rules of a mapping for one field: as the mapping file has them, and what the field becomes by them. */
interface OwnRule {
  rows: { scimAttribute?: string; template?: string; when?: string; transforms?: JsonObject['transforms'] }[];
  read: Rule;
}

/** Whether a person is in the scope of a mapping. It is unresolved while no group has a name that decides it. */
export type ScopeVerdict = 'in' | 'out' | 'unresolved';

/** The scope of a mapping: as the mapping file has it, and who is in it. */
interface OwnScope {
  scope: string;
  outOfScope: 'keep' | 'archive';
  judge(user: StatedUser, isKnown: (group: string) => boolean): ScopeVerdict;
}

interface OwnMapping {
  fields: Partial<Record<Field, OwnRule>>;
  scope?: OwnScope;
  /** The groups that its rules and its scope name. */
  groups?: readonly string[];
}

const member = (group: string) => `groups[display eq "${group}"]`;

/** Group names are compared without case. */
const isMember = ({ groups }: StatedUser, group: string) =>
  groups.some((one) => one.toLowerCase() === group.toLowerCase());

const titleOfManagers: OwnRule = {
  rows: [{ template: 'Manager', when: member('Managers') }, { scimAttribute: 'title' }],
  read: (user) => (isMember(user, 'Managers') ? 'Manager' : user.title),
};

const premiumOfVips: OwnRule = {
  rows: [{ template: 'premium', when: member('VIP') }],
  read: (user) => (isMember(user, 'VIP') ? 'true' : undefined),
};

/** Of several groups, the first of the map decides. */
const costCenterOfSite: OwnRule = {
  rows: [
    {
      scimAttribute: 'groups.display',
      transforms: [{ map: { 'Site Paris': 'CC-1', 'Site Lyon': 'CC-2' } }],
    },
  ],
  read: (user) => (isMember(user, 'Site Paris') ? 'CC-1' : isMember(user, 'Site Lyon') ? 'CC-2' : undefined),
};

const cityOfSite: OwnRule = {
  rows: [{ template: '{groups[display sw "Site "].display}' }],
  read: ({ groups }) => groups.filter((one) => one.startsWith('Site ')).toSorted()[0],
};

/** The mappings that admins put in force. Each adds, changes or empties the rules of some fields, compared with the others. */
export const mappings = {
  defaults: { fields: {} },
  titleAsTeam: {
    fields: { team: { rows: [{ scimAttribute: 'title' }], read: ({ title }) => title } },
  },
  departmentAsTitle: {
    fields: { title: { rows: [{ scimAttribute: DEPARTMENT }], read: ({ department }) => department } },
  },
  capitals: {
    fields: {
      firstName: {
        rows: [{ scimAttribute: 'name.givenName', transforms: ['uppercase'] }],
        read: ({ givenName }) => givenName.toUpperCase(),
      },
    },
  },
  /** No user has a nickName, so that nobody has a language any more. */
  noLanguage: { fields: { lang: { rows: [{ scimAttribute: 'nickName' }], read: () => undefined } } },
  managersAndVips: {
    fields: { title: titleOfManagers, 'roles.premium': premiumOfVips },
    groups: ['Managers', 'VIP'],
  },
  sites: {
    fields: { costCenterId: costCenterOfSite, 'address.city': cityOfSite },
    groups: ['Site Paris', 'Site Lyon'],
  },
  keepDirectors: {
    fields: {},
    scope: {
      ...{ scope: 'not (title eq "Director")', outOfScope: 'keep' },
      judge: ({ title }) => (title === 'Director' ? 'out' : 'in'),
    },
  },
  archiveDirectors: {
    fields: { title: titleOfManagers },
    scope: {
      ...{ scope: 'not (title eq "Director")', outOfScope: 'archive' },
      judge: ({ title }) => (title === 'Director' ? 'out' : 'in'),
    },
    groups: ['Managers'],
  },
  keepStrangersToStaff: {
    fields: { 'roles.premium': premiumOfVips },
    scope: {
      ...{ scope: `title eq "Engineer" or ${member('Staff')}`, outOfScope: 'keep' },
      judge: (user, isKnown) => {
        if (user.title === 'Engineer' || isMember(user, 'Staff')) return 'in';
        return isKnown('Staff') ? 'out' : 'unresolved';
      },
    },
    groups: ['Staff', 'VIP'],
  },
  archiveContractors: {
    fields: { title: titleOfManagers, costCenterId: costCenterOfSite },
    scope: {
      ...{ scope: `not (${member('Contractors')})`, outOfScope: 'archive' },
      judge: (user, isKnown) => {
        if (isMember(user, 'Contractors')) return 'out';
        return isKnown('Contractors') ? 'in' : 'unresolved';
      },
    },
    groups: ['Contractors', 'Managers', 'Site Paris', 'Site Lyon'],
  },
} as const satisfies Record<string, OwnMapping>;

export type MappingName = keyof typeof mappings;

/** The rules in force: the mapping, and the attributes for which the collection of the travel service has a rule. */
export interface FieldRules {
  mapping: MappingName;
  collection: ReadonlySet<MappedAttribute>;
}

/** Returns a mapping in the form of a mapping file. */
export function toMappingFile(name: MappingName, { custom }: Catalog): JsonObject {
  const { fields, scope }: OwnMapping = mappings[name];
  const scimUserMapping = Object.entries(fields).flatMap(
    ([field, { rows }]) => rows.map((row) => ({ ...targetOf(field as Field, custom), ...row })), // The keys are fields.
  );
  return {
    scimUserMapping,
    ...(scope ? { scope: scope.scope, outOfScope: scope.outOfScope } : {}),
  } as JsonObject; // Rows have no undefined members.
}

function targetOf(field: Field, custom: Catalog['custom']): JsonObject {
  if (field in custom) return { customFieldId: custom[field as 'team'] }; // One of the custom fields.
  return { userAttribute: field.startsWith('roles.') ? 'roles' : field };
}

/** Returns the rule that fills a field; undefined if none does. The same rule is the same function. */
export function ruleOf(field: Field, { mapping, collection }: FieldRules): Rule | undefined {
  const { fields }: OwnMapping = mappings[mapping];
  const rule = fields[field];
  if (rule) return rule.read;
  if (field === 'team' && !collection.has('department')) return undefined;
  if (field === 'title' && !collection.has('title')) return undefined;
  return (defaultRules as Partial<Record<Field, Rule>>)[field]; // A foreign field has no rule.
}

/** Returns the scope of a mapping; undefined if everybody gets a traveler. */
export function scopeOf(mapping: MappingName): OwnScope | undefined {
  const { scope }: OwnMapping = mappings[mapping];
  return scope;
}

/** True if the rules or the scope of a mapping name a group. */
export function isGroupNamed(group: string, mapping: MappingName): boolean {
  const { groups = [] }: OwnMapping = mappings[mapping];
  return groups.some((one) => one.toLowerCase() === group.toLowerCase());
}

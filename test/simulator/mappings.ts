import type { JsonObject } from '../../src/schema/resource.ts';
import { type Catalog, type RuledField, ruledFields, type Value } from './travelers.ts';
import type { WantedUser } from './wanted-user.ts';

/** A user as the rules see it: with the names of its groups, in lower case. */
export interface StatedUser extends WantedUser {
  groups: readonly string[];
  /** True if the connection has a group with this name. */
  hasGroup(name: string): boolean;
}

/** The six sentences say nothing of the value: a rule names a group, or a value a resource, that does not exist. */
export const open: unique symbol = Symbol('open');
export type Expected = Value | typeof open;

/** What a field becomes of a user. This is the simulator's own translation, which shares no code with that of the bridge. */
type Rule = (user: StatedUser) => Expected;

const defaultRules: Record<RuledField, Rule> = {
  firstName: ({ givenName }) => givenName,
  lastName: ({ familyName }) => familyName,
  email: ({ email }) => email,
  phoneNumber: ({ phone }) => phone?.replaceAll(' ', ''),
  lang: ({ lang }) => lang,
  'address.streetAddress': ({ street }) => street,
  'address.city': ({ city }) => city,
  'roles.organizer': ({ roles }) => (roles.includes('organizer') ? 'true' : undefined),
  'roles.premium': ({ roles }) => (roles.includes('premium') ? 'true' : undefined),
  team: ({ department }) => department,
  title: ({ title }) => title,
  costCenterId: ({ costCenter }) => costCenter,
};

export type ScopeVerdict = 'in' | 'out' | typeof open;

interface SimulatedMapping {
  /** The rows of the mapping file for one field, and what the field becomes by them. */
  rules?: Partial<Record<RuledField, { rows: JsonObject[]; read: Rule }>>;
  scope?: { scope: string; outOfScope: 'keep' | 'archive'; judge(user: StatedUser): ScopeVerdict };
}

/** The groups that rules name, in lower case. */
export const ruledGroups = ['managers', 'vip', 'site paris', 'site lyon', 'staff', 'contractors'];

const member = (group: string) => `groups[display eq "${group}"]`;

/** Group names are compared without case. */
const isMember = ({ groups, hasGroup }: StatedUser, group: string): boolean | typeof open =>
  hasGroup(group) ? groups.includes(group.toLowerCase()) : open;

const choose = <T>(is: boolean | typeof open, yes: T, no: T): T | typeof open =>
  is === open ? open : is ? yes : no;

const DEPARTMENT = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';

const titleOfManagers = {
  rows: [{ template: 'Manager', when: member('Managers') }, { scimAttribute: 'title' }],
  read: (user: StatedUser) => choose<Value>(isMember(user, 'Managers'), 'Manager', user.title),
};

const premiumOfVips = {
  rows: [{ template: 'premium', when: member('VIP') }],
  read: (user: StatedUser) => choose<Value>(isMember(user, 'VIP'), 'true', undefined),
};

const teamOfStaff = {
  rows: [{ template: 'Staff', when: member('Staff') }, { scimAttribute: DEPARTMENT }],
  read: (user: StatedUser) => choose<Value>(isMember(user, 'Staff'), 'Staff', user.department),
};

const cityOfSite = {
  rows: [{ template: '{groups[display sw "Site "].display}' }],
  read: (user: StatedUser) => {
    if (!user.hasGroup('Site Paris') || !user.hasGroup('Site Lyon')) return open;
    return ['Site Lyon', 'Site Paris'].find((site) => user.groups.includes(site.toLowerCase()));
  },
};

const costCenterOfSite = {
  rows: [
    { scimAttribute: 'groups.display', transforms: [{ map: { 'Site Paris': 'CC-1', 'Site Lyon': 'CC-2' } }] },
  ],
  read: (user: StatedUser) => {
    const paris = isMember(user, 'Site Paris');
    const lyon = isMember(user, 'Site Lyon');
    return paris === true ? 'CC-1' : paris === open ? open : choose<Value>(lyon, 'CC-2', undefined);
  },
};

/** The mappings that admins put in force. */
const mappings = {
  defaults: {},
  titleAsTeam: { rules: { team: { rows: [{ scimAttribute: 'title' }], read: ({ title }) => title } } },
  departmentAsTitle: {
    rules: { title: { rows: [{ scimAttribute: DEPARTMENT }], read: ({ department }) => department } },
  },
  capitals: {
    rules: {
      firstName: {
        rows: [{ scimAttribute: 'name.givenName', transforms: ['uppercase'] }],
        read: ({ givenName }) => givenName.toUpperCase(),
      },
    },
  },
  managersAndVips: { rules: { title: titleOfManagers, 'roles.premium': premiumOfVips } },
  sites: { rules: { costCenterId: costCenterOfSite, 'address.city': cityOfSite } },
  staff: { rules: { team: teamOfStaff, title: titleOfManagers } },
  keepDirectors: {
    scope: {
      ...{ scope: 'not (title eq "Director")', outOfScope: 'keep' },
      judge: ({ title }) => (title === 'Director' ? 'out' : 'in'),
    },
  },
  archiveDirectors: {
    rules: { title: titleOfManagers },
    scope: {
      ...{ scope: 'not (title eq "Director")', outOfScope: 'archive' },
      judge: ({ title }) => (title === 'Director' ? 'out' : 'in'),
    },
  },
  keepStrangersToStaff: {
    rules: { 'roles.premium': premiumOfVips },
    scope: {
      ...{ scope: `title eq "Engineer" or ${member('Staff')}`, outOfScope: 'keep' },
      judge: (user) => (user.title === 'Engineer' ? 'in' : choose(isMember(user, 'Staff'), 'in', 'out')),
    },
  },
  archiveContractors: {
    rules: { title: titleOfManagers, costCenterId: costCenterOfSite },
    scope: {
      ...{ scope: `not (${member('Contractors')})`, outOfScope: 'archive' },
      judge: (user) => choose(isMember(user, 'Contractors'), 'out', 'in'),
    },
  },
} as const satisfies Record<string, SimulatedMapping>;

export type MappingName = keyof typeof mappings;
export const mappingNames = Object.keys(mappings) as MappingName[]; // The keys are the names.

/** Returns what the rules of a mapping make of a user, in every field. */
export function expectedFields(name: MappingName, user: StatedUser): Map<RuledField, Expected> {
  const { rules = {} }: SimulatedMapping = mappings[name];
  return new Map(ruledFields.map((field) => [field, (rules[field]?.read ?? defaultRules[field])(user)]));
}

/** Returns whether a mapping has a user provisioned, and what becomes of the traveler of one whom it leaves out. */
export function scopeOf(
  name: MappingName,
  user: StatedUser,
): { verdict: ScopeVerdict; outOfScope: 'keep' | 'archive' } {
  const { scope }: SimulatedMapping = mappings[name];
  return { verdict: scope?.judge(user) ?? 'in', outOfScope: scope?.outOfScope ?? 'keep' };
}

/** Returns a mapping in the form of a mapping file. */
export function toMappingFile(name: MappingName, { custom }: Catalog): JsonObject {
  const { rules = {}, scope }: SimulatedMapping = mappings[name];
  const scimUserMapping = Object.entries(rules).flatMap(([field, { rows }]) =>
    rows.map((row) => ({ ...targetOf(field, custom), ...row })),
  );
  return { scimUserMapping, ...(scope ? { scope: scope.scope, outOfScope: scope.outOfScope } : {}) };
}

function targetOf(field: string, custom: Catalog['custom']): JsonObject {
  if (field in custom) return { customFieldId: custom[field as 'team'] }; // One of the custom fields.
  return { userAttribute: field.startsWith('roles.') ? 'roles' : field };
}

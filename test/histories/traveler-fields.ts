import type { JsonObject } from '../../src/schema/resource.ts';
import type { CustomFieldValue, TravelUser } from '../../src/translator/traveler.ts';
import type { WantedUser } from './wanted-user.ts';

/** A user as the rules see it: with the names of the groups of which it counts as a member. */
export interface StatedUser extends WantedUser {
  groups: readonly string[];
}

/** A value of a field as text; undefined when there is none. */
export type Value = string | undefined;

/** What a field becomes of a user. */
export type Rule = (user: StatedUser) => Value;

/** The custom fields of the travel service, by the names that histories give them. */
export type CustomFields = Record<'team' | 'title' | 'floor', string>;

/** The resources of the travel service that a traveler can refer to: ids by name. */
export interface Catalog {
  custom: CustomFields;
  costCenters: Map<string, string>;
}

/** The fields that the default rules fill, and what they become. Email and manager have checks of their own. */
export const defaultRules = {
  firstName: ({ givenName }) => givenName,
  lastName: ({ familyName }) => familyName,
  phoneNumber: ({ phone }) => phone,
  lang: ({ lang }) => lang,
  'address.streetAddress': ({ street }) => street,
  'address.city': ({ city }) => city,
  archived: ({ active }) => String(!active),
  'roles.organizer': ({ roles }) => (roles.includes('organizer') ? 'true' : undefined),
  'roles.premium': ({ roles }) => (roles.includes('premium') ? 'true' : undefined),
  team: ({ department }) => department,
  title: ({ title }) => title,
  costCenterId: ({ costCenter }) => costCenter,
} satisfies Record<string, Rule>;

const foreign = [
  'gender',
  'currency',
  'address.region',
  'address.postalCode',
  'floor',
  'roles.guest',
  'roles.accountant',
] as const;

export type Field = keyof typeof defaultRules | (typeof foreign)[number];

/** All fields that are compared one by one. */
export const fields: readonly Field[] = [
  ...(Object.keys(defaultRules) as (keyof typeof defaultRules)[]), // The keys are fields.
  ...foreign,
];

/** True for a field that no IdP writes. */
export function isForeignField(field: Field): boolean {
  return !(field in defaultRules);
}

/** The SCIM attribute of the department, as rules name it. */
export const DEPARTMENT = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';

/** The attributes that have a rule in the travel service at times. */
export type MappedAttribute = 'department' | 'title';

/** The value of a traveler in a field. */
export function fieldValue(traveler: TravelUser, field: Field, { custom, costCenters }: Catalog): Value {
  const [head = '', part = ''] = field.split('.');
  switch (head) {
    case 'address':
      return traveler.address?.[part as 'city']; // One of the parts of an address.
    case 'roles':
      return traveler.roles?.includes(part) ? 'true' : undefined;
    case 'team':
    case 'title':
    case 'floor':
      return customFieldOf(traveler, custom[head])?.values[0]?.data;
    case 'costCenterId':
      return nameOf(traveler.costCenterId, costCenters);
    case 'archived':
      return String(traveler.archived);
    default:
      return traveler[head as 'firstName']; // One of the fields that hold a text.
  }
}

/** The merge patch that sets one field of a traveler by hand and leaves everything else as it is. */
export function editOf(
  traveler: TravelUser,
  field: Field | 'email',
  value: Value,
  { custom }: Catalog,
): JsonObject {
  const [head = '', part = ''] = field.split('.');
  switch (head) {
    case 'address':
      return { address: { [part]: value ?? null } };
    case 'roles': {
      const others = (traveler.roles ?? []).filter((role) => role !== part);
      return { roles: value === undefined ? others : [...others, part] };
    }
    case 'team':
    case 'title':
    case 'floor': {
      const id = custom[head];
      const others = (traveler.customFields ?? [])
        .filter(({ customFieldId }) => customFieldId !== id)
        .map(({ customFieldId, values }) => ({
          customFieldId,
          values: values.map(({ data = '' }) => ({ data })),
        }));
      const own = value === undefined ? [] : [{ customFieldId: id, values: [{ data: value }] }];
      return { customFields: [...others, ...own] };
    }
    case 'archived':
      return { archived: value === 'true' };
    default:
      return { [head]: value ?? null };
  }
}

/** The name of what has this id, or the id where it is gone. */
function nameOf(id: string | undefined, ids: Map<string, string>): Value {
  return [...ids].find(([, one]) => one === id)?.[0] ?? id;
}

function customFieldOf({ customFields = [] }: TravelUser, id: string): CustomFieldValue | undefined {
  return customFields.find(({ customFieldId }) => customFieldId === id);
}

import type { CustomFieldValue, TravelUser } from '../../src/model/traveler.ts';
import type { JsonObject } from '../../src/schema/resource.ts';

/** A value of a field as text; undefined when there is none. */
export type Value = string | undefined;

/** The resources of the travel service that a traveler can refer to. */
export interface Catalog {
  custom: Record<'team' | 'title' | 'floor', string>;
  /** Ids by name, of those that exist, and names by id, of all that ever did. */
  costCenters: Map<string, string>;
  costCenterNames: Map<string, string>;
}

/** The fields that mappings give. The manager and `archived` have rules of their own in the checks. */
export const ruledFields = [
  'firstName',
  'lastName',
  'email',
  'phoneNumber',
  'lang',
  'address.streetAddress',
  'address.city',
  'roles.organizer',
  'roles.premium',
  'team',
  'title',
  'costCenterId',
] as const;

/** The fields that no IdP writes. */
const foreignFields = [
  'gender',
  'currency',
  'address.region',
  'address.postalCode',
  'floor',
  'roles.guest',
  'roles.accountant',
] as const;

export type RuledField = (typeof ruledFields)[number];
export type Field = RuledField | 'archived' | 'managerId' | (typeof foreignFields)[number];

/** All fields that are compared one by one. */
export const fields: readonly Field[] = [...ruledFields, 'archived', 'managerId', ...foreignFields];

/** The fields that admins of the travel service edit. */
export const editedFields = [
  ...(['firstName', 'phoneNumber', 'team', 'address.city', 'archived', 'email'] as const),
  ...foreignFields,
];
export type EditedField = (typeof editedFields)[number];

export function isForeignField(field: Field): boolean {
  return foreignFields.some((one) => one === field);
}

/** A value as it was set: a cost center may be gone since. */
export function asSet(value: Value): Value {
  return value?.replace(/^former /, '');
}

/** The value of a traveler in a field: addresses in lower case, phone numbers without spaces, cost centers by name. */
export function fieldValue(
  traveler: TravelUser,
  field: Field,
  { custom, costCenters, costCenterNames }: Catalog,
): Value {
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
    case 'costCenterId': {
      const { costCenterId: id = '' } = traveler;
      const name = costCenterNames.get(id);
      return name !== undefined && costCenters.get(name) !== id ? `former ${name}` : name;
    }
    case 'archived':
      return String(traveler.archived);
    case 'email':
      return traveler.email.toLowerCase();
    case 'phoneNumber':
      return traveler.phoneNumber?.replaceAll(' ', '');
    default:
      return traveler[head as 'firstName']; // One of the fields that hold a text.
  }
}

/** The name of a field in findings. */
export function findingField(field: Field, { custom }: Catalog): string {
  return field in custom ? `customFields.${custom[field as 'team']}` : field;
}

/** The merge patch that sets one field of a traveler by hand and leaves everything else as it is. */
export function editOf(
  traveler: TravelUser,
  field: EditedField,
  value: Value,
  { custom }: Catalog,
): JsonObject {
  const [head = '', part = ''] = field.split('.');
  switch (head) {
    case 'address':
      return { address: { ...traveler.address, [part]: value ?? null } as JsonObject };
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

/** A valid value for a field, different each time where possible. */
export function editedValue(field: EditedField, before: Value, edits: number): Value {
  if (field === 'archived') return before === 'true' ? 'false' : 'true';
  if (field.startsWith('roles.')) return before === undefined ? 'true' : undefined;
  if (field === 'email') return `hand${edits}@hand.example`;
  if (field === 'gender') return before === 'female' ? 'male' : 'female';
  if (field === 'currency') return before === 'EUR' ? 'USD' : 'EUR';
  if (field === 'phoneNumber') return `+331426${String(10_000 + (edits % 90_000))}`;
  if (field === 'address.postalCode') return String(10_000 + (edits % 90_000));
  return `Hand ${edits}`;
}

function customFieldOf({ customFields = [] }: TravelUser, id: string): CustomFieldValue | undefined {
  return customFields.find(({ customFieldId }) => customFieldId === id);
}

import type { NamedCollection } from '../../model/translation.ts';
import type { FieldTypes } from '../../model/traveler.ts';
import { type Attribute, attribute, complexAttribute } from '../../schema/attributes.ts';
import { urns } from '../../schema/resource.ts';
import { readCountry } from '../values/countries.ts';
import {
  namedResourceReader,
  readBoolean,
  readCurrency,
  readDateOfBirth,
  readEmail,
  readGender,
  readLanguage,
  readLine,
  readManager,
  readPhone,
  readStreet,
} from '../values/readers.ts';
import type { Reader } from '../values/values.ts';
import {
  addressAttribute,
  coreAttribute,
  enterpriseAttribute,
  firstNames,
  lastNames,
  managerUri,
  multiValuedAttribute,
  pickAddress,
  type Source,
  type SourceUser,
  travelAttribute,
} from './sources.ts';

/**
 * One field of a traveler. Its row determines everything that the bridge does with the field: default rule, mapping
 * target, travel request and response, drift, SCIM response and /Schemas.
 */
export interface Field {
  /** The name in the travel API; `address.<part>` for a part of the postal address. */
  key: string;
  /** The JSON type in the travel API; a value of another type in a travel response is ignored. */
  type: 'string' | 'boolean';
  /** The default rule: the sources of the value if no mapping rule sets the field, the preferred one first. */
  sources: readonly Source[];
  /** Set if only one of the sources may be used: returns its index. */
  pickSource?: (user: SourceUser) => number;
  /** The setting of the mapping file that gives a value to users without a usable one. */
  setting?: MappingSetting;
  /** Converts one SCIM value to a travel value, or returns why it cannot be used. */
  read: Reader;
  /**
   * The path of the SCIM attribute that shows the traveler's value; empty if none does. In a multi-valued attribute, the
   * value is in the work element.
   */
  path: readonly string[];
  /** `exact` compares JSON values. `normalized` first converts the traveler's value by `read`, so that `fr` equals `FR`. */
  comparison: 'exact' | 'normalized';
  /**
   * How a traveler that is read later confirms the value (`confirmation.ts`): as it is, without case, or by the day of a date. A field
   * without it has texts that the travel API may rewrite, so another value says nothing.
   */
  confirmation?: Confirmation;
  /** The attributes of the travel extension that set the field. */
  extension: readonly Attribute[];
  /** If the field contains the id of a resource: the collection of the travel API with these resources. */
  refersTo?: NamedCollection;
  /** The name of the field in messages; by default its key. */
  noun?: string;
  /** True if an unusable candidate causes no finding when a later one is used, e.g. the language German before English. */
  skipsSilently?: boolean;
}

/** How a traveler confirms the value of a field that was sent. */
export type Confirmation = 'exact' | 'caseless' | 'date';

/** A setting of the mapping file that gives the same value to every user. */
export interface MappingSetting {
  /** The name of the setting, as the trace shows it. */
  path: string;
  valueIn: (mapping: MappingDefaults) => string | { id: string } | { name: string } | undefined;
}

/** The settings of a mapping file that give a value to every user. */
interface MappingDefaults {
  defaults?: { [name in DefaultName]?: { id: string } | { name: string } | undefined } | undefined;
  language?: { default?: string | undefined } | undefined;
}

/** The resources for which a mapping file can set a default. */
export type DefaultName = 'billingProfile' | 'costCenter' | 'travelPolicy';

const rows = [
  {
    key: 'email',
    type: 'string',
    sources: [...multiValuedAttribute('emails', { types: ['work'] }), coreAttribute('userName')],
    read: readEmail,
    path: ['emails', 'value'],
    comparison: 'exact',
    confirmation: 'caseless',
    extension: [],
  },
  {
    key: 'firstName',
    type: 'string',
    sources: firstNames,
    read: readLine,
    path: ['name', 'givenName'],
    comparison: 'normalized',
    extension: [],
  },
  {
    key: 'lastName',
    type: 'string',
    sources: lastNames,
    read: readLine,
    path: ['name', 'familyName'],
    comparison: 'normalized',
    extension: [],
  },
  {
    key: 'phoneNumber',
    type: 'string',
    noun: 'phone number',
    sources: multiValuedAttribute('phoneNumbers', { types: ['mobile', 'work'], never: ['fax', 'pager'] }),
    read: readPhone,
    path: ['phoneNumbers', 'value'],
    comparison: 'normalized',
    extension: [],
  },
  {
    key: 'lang',
    type: 'string',
    noun: 'language',
    sources: [coreAttribute('preferredLanguage'), coreAttribute('locale')],
    setting: { path: 'language.default', valueIn: ({ language }) => language?.default },
    read: readLanguage,
    path: ['preferredLanguage'],
    comparison: 'exact',
    confirmation: 'caseless',
    extension: [],
    skipsSilently: true,
  },
  addressField('streetAddress', 'streetAddress', readStreet),
  addressField('city', 'locality', readLine),
  addressField('region', 'region', readLine),
  addressField('postalCode', 'postalCode', readLine),
  { ...addressField('countryCode', 'country', readCountry), confirmation: 'caseless' },
  {
    key: 'managerId',
    type: 'string',
    noun: 'manager',
    sources: [
      travelAttribute('manager', 'id'),
      travelAttribute('manager', 'email'),
      enterpriseAttribute('manager', 'value'),
      managerUri,
    ],
    read: readManager,
    path: [urns.travel, 'manager', 'id'],
    comparison: 'exact',
    confirmation: 'exact',
    extension: [
      complexAttribute('manager', 'The manager, by travel user id or by email.', {
        subAttributes: [
          attribute('id', 'The travel user id of the manager.', { caseExact: true }),
          attribute('email', 'The email address of the manager.'),
        ],
      }),
    ],
  },
  namedResourceField('costCenter', {
    noun: 'cost center',
    refersTo: 'costCenters',
    sources: [enterpriseAttribute('costCenter')],
  }),
  namedResourceField('billingProfile', { noun: 'billing profile', refersTo: 'billingProfiles' }),
  namedResourceField('travelPolicy', { noun: 'travel policy', refersTo: 'travelPolicies' }),
  extensionField('dateOfBirth', {
    description: 'The date of birth, as YYYY-MM-DD.',
    read: readDateOfBirth,
    comparison: 'exact',
    confirmation: 'date',
  }),
  extensionField('gender', {
    description: 'The gender, as in travel documents.',
    read: readGender,
    comparison: 'normalized',
    confirmation: 'caseless',
  }),
  extensionField('currency', {
    description: 'The currency, by its ISO 4217 code.',
    read: readCurrency,
    comparison: 'normalized',
    confirmation: 'caseless',
  }),
  extensionField('separateIcsEmails', {
    description: 'Whether calendar files come in emails of their own.',
    type: 'boolean',
    read: readBoolean,
    comparison: 'exact',
    confirmation: 'exact',
  }),
] as const satisfies readonly Field[];

type RowTypes = {
  [Row in (typeof rows)[number] as Row['key']]: Row['type'] extends 'boolean' ? boolean : string;
};

/** The compiler refuses a row without its type in `FieldTypes`, and a type without its row. */
type CheckedRows = [RowTypes, FieldTypes] extends [FieldTypes, RowTypes] ? typeof rows : never;

/** The fields of a traveler with one value each, in the order of findings and traces. `archived`, roles and custom fields have rules of their own and no row. */
export const fields: CheckedRows = rows;

/** Makes the row of a field that has the same name in the travel extension. */
export function extensionField<const Key extends string, const Type extends Field['type'] = 'string'>(
  key: Key,
  {
    description,
    type,
    read,
    comparison,
    confirmation,
  }: { description: string; type?: Type; read: Reader } & Pick<Field, 'comparison' | 'confirmation'>,
): Field & { key: Key; type: Type } {
  const attributeType = type ?? 'string';
  return {
    key,
    type: attributeType as Type,
    sources: [travelAttribute(key)],
    read,
    path: [urns.travel, key],
    comparison,
    ...(confirmation === undefined ? {} : { confirmation }),
    extension: [attribute(key, description, { type: attributeType })],
  };
}

/** Makes the row of a part of the postal address. `scimName` is the part's name in SCIM. */
function addressField<const Part extends string>(
  part: Part,
  scimName: string,
  read: Reader,
): Field & { key: `address.${Part}`; type: 'string' } {
  return {
    key: `address.${part}`,
    type: 'string',
    sources: addressAttribute(scimName),
    pickSource: pickAddress,
    read,
    path: ['addresses', scimName],
    comparison: 'normalized',
    extension: [],
  };
}

/**
 * Makes the row of a field that contains the id of a travel resource. In SCIM the resource is named by id or by name.
 */
function namedResourceField<const Name extends DefaultName>(
  name: Name,
  { noun, refersTo, sources = [] }: NamedResource,
): Field & { key: `${Name}Id`; type: 'string' } {
  const key = `${name}Id` as const;
  return {
    key,
    type: 'string',
    noun,
    refersTo,
    sources: [travelAttribute(name), travelAttribute(key), ...sources],
    setting: { path: `defaults.${name}`, valueIn: ({ defaults }) => defaults?.[name] },
    read: namedResourceReader({ field: key, noun, among: (lookups) => lookups[refersTo] }),
    path: [urns.travel, name, 'id'],
    comparison: 'exact',
    confirmation: 'exact',
    extension: [
      complexAttribute(name, `The ${noun}, by its id or exact name.`, {
        subAttributes: [
          attribute('id', 'Its id; wins over the name.', { caseExact: true }),
          attribute('name', 'Its exact name.'),
        ],
      }),
      attribute(key, `The id of the ${noun}.`, { caseExact: true }),
    ],
  };
}

interface NamedResource {
  noun: string;
  refersTo: NamedCollection;
  /** Further sources, which are used if the travel extension has no value. */
  sources?: readonly Source[];
}

/** The beginning of the keys of preferences, e.g. `travelerPrefs.flightSeatPosition`. */
export const preferencePrefix = 'travelerPrefs.';

/** The one preference that the travel API names. */
export const seatPreference = `${preferencePrefix}flightSeatPosition`;

/** Matches the key of any preference. */
export const preferenceKey = /^travelerPrefs\.[A-Za-z]\w{0,99}$/;

/** Makes the row of a preference, which only a mapping rule can set. */
export function preferenceField(key: string): Field {
  return {
    key,
    type: 'string',
    noun: 'preference',
    sources: [],
    read: readLine,
    path: [],
    comparison: 'normalized',
    extension: [],
  };
}

/** Finds the row of a field. */
export function findField(key: string, table: readonly Field[] = fields): Field | undefined {
  return table.find((field) => field.key === key);
}

/** The names of fields in mapping rules: their keys, and those of resources also without `Id`, because values may be names. */
export function targetNames(table: readonly Field[] = fields): string[] {
  return table.flatMap(({ key }) => (key.endsWith('Id') ? [key, key.slice(0, -'Id'.length)] : [key]));
}

/** Returns the key of the field that a mapping rule names, e.g. `costCenterId` for `costCenter`. */
export function toFieldKey(name: string, table: readonly Field[] = fields): string {
  return findField(name, table) ? name : (findField(`${name}Id`, table)?.key ?? name);
}

/**
 * Returns the attributes of the travel extension in the order of /Schemas: named resources, their ids (for IdPs that
 * cannot send complex values), the other fields, then attributes that belong to no field.
 */
export function travelExtensionAttributes(table: readonly Field[] = fields): Attribute[] {
  const named = inSchemaOrder(table).filter(({ refersTo }) => refersTo !== undefined);
  const others = table.filter(({ refersTo }) => refersTo === undefined);
  return [
    ...named.flatMap(({ extension }) => extension.filter(({ type }) => type === 'complex')),
    ...named.flatMap(({ extension }) => extension.filter(({ type }) => type !== 'complex')),
    ...others.flatMap(({ extension }) => extension),
    complexAttribute('roles', 'Roles in the travel service.', {
      multiValued: true,
      subAttributes: [attribute('value', 'The role.'), attribute('display', 'A name for people to read.')],
    }),
    attribute('travelUserId', 'The id of the traveler.', { mutability: 'readOnly', caseExact: true }),
  ];
}

/** Sorts fields for SCIM responses and /Schemas: named resources by name, then the others. */
export function inSchemaOrder(table: readonly Field[]): Field[] {
  const named = table.filter(({ refersTo }) => refersTo !== undefined);
  const others = table.filter(({ refersTo }) => refersTo === undefined);
  return [...named.toSorted((one, other) => (one.key < other.key ? -1 : 1)), ...others];
}

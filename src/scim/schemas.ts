import SCIMMY from 'scimmy';
import { type Attribute, attribute, type Schema } from '../schema/attributes.ts';
import { urns } from '../schema/resource.ts';
import { travelExtensionAttributes } from '../translator/fields.ts';

type ScimmyAttribute = InstanceType<typeof SCIMMY.Types.Attribute>;
type ScimmySchema = typeof SCIMMY.Types.Schema;
type SchemaDefinition = InstanceType<typeof SCIMMY.Types.SchemaDefinition>;
type Config = NonNullable<ScimmyAttribute['config']>;

/** The schemas of /Users and /Groups as SCIMMY classes, each with its extensions. */
interface ScimmySchemas {
  user: ScimmySchema;
  group: ScimmySchema;
}

/**
 * Makes the schemas that SCIMMY serves: its own definitions with the overrides below, and the travel extension. Each
 * call makes copies, because SCIMMY's definitions are shared by the whole process.
 */
export function scimmySchemas(travelAttributes = travelExtensionAttributes()): ScimmySchemas {
  const { User, Group, EnterpriseUser } = SCIMMY.Schemas;
  const enterprise = withOverrides(EnterpriseUser.definition, enterpriseOverrides);
  const user = withOverrides(User.definition, userOverrides)
    // Clients map what a schema lists, and would send passwords. `resolveAttribute` knows it, so that it is dropped.
    .truncate('password')
    .extend(enterprise, false)
    .extend(travelDefinition(travelAttributes), false);
  // SCIMMY gives every definition a hidden `externalId`, which /Schemas does not list. The override lists it, so remove
  // the hidden one.
  const group = withOverrides(Group.definition, groupOverrides).truncate('externalId');
  return { user: schemaClass(user), group: schemaClass(group) };
}

/**
 * Converts SCIMMY's definitions to attribute tables. `npm run schemas` writes them to src/schema/generated-schemas.ts,
 * because other folders must not import SCIMMY.
 */
export function attributeTables(travelAttributes = travelExtensionAttributes()): {
  userSchema: Schema;
  groupSchema: Schema;
  extensions: Schema[];
} {
  const { user, group } = scimmySchemas(travelAttributes);
  // A definition contains its extensions among its attributes, but SCIMMY's types do not show that.
  const entries: readonly unknown[] = user.definition.attributes;
  const extensions = entries.filter((entry) => entry instanceof SCIMMY.Types.SchemaDefinition);
  return {
    userSchema: toSchema(user.definition),
    groupSchema: toSchema(group.definition),
    extensions: extensions.map(toSchema),
  };
}

/** The differences between a schema of this service and SCIMMY's definition. */
interface Overrides {
  description: string;
  /**
   * Changed characteristics by attribute path. Every attribute needs a description here or in `commonDescriptions`,
   * because SCIMMY's descriptions are written for directories.
   */
  attributes: Record<string, Config>;
  /** Attributes that SCIMMY does not have. The key is the path of the attribute before which they are inserted. */
  insertedBefore?: Record<string, ScimmyAttribute>;
  /** Paths of sub-attributes that are moved to the end. */
  last?: readonly string[];
}

/** The descriptions of the sub-attributes of multi-valued attributes (RFC 7643 §2.4). */
const commonDescriptions: Readonly<Record<string, string>> = {
  value: 'The value itself.',
  display: 'A name for people to read.',
  type: 'What it is for.',
  primary: 'Whether it is the preferred one; true at most once.',
};

const userOverrides: Overrides = {
  description: 'A person who travels.',
  attributes: {
    userName: { description: 'The name to sign in with.' },
    // Provisioning tools map required attributes by default. A user without a name or an email is accepted all the same
    // (docs/architecture.md, SCIM requests).
    name: { description: 'The parts of the name.', required: true },
    'name.formatted': { description: 'The whole name, as it is shown.' },
    'name.familyName': { description: 'The last name.' },
    'name.givenName': { description: 'The first name.' },
    'name.middleName': { description: 'The middle names.' },
    'name.honorificPrefix': { description: 'A title before the name.' },
    'name.honorificSuffix': { description: 'A suffix after the name.' },
    displayName: { description: 'The name as it is shown.' },
    nickName: { description: 'The casual name.' },
    profileUrl: { description: 'A page about the user.' },
    title: { description: 'The job title.' },
    userType: { description: 'The relation to the organization.' },
    preferredLanguage: { description: 'The preferred language, as in Accept-Language.' },
    locale: { description: 'The place that settles formats.' },
    timezone: { description: 'The time zone, by its Olson name.' },
    active: { description: 'Whether the user may travel.' },
    password: { description: 'Not listed.' },
    // Required so that provisioning tools map emails by default, like `name`.
    emails: { description: 'Email addresses.', required: true },
    phoneNumbers: { description: 'Phone numbers.' },
    // The types that the travel service reads come first.
    'phoneNumbers.type': { canonicalValues: ['work', 'mobile', 'fax', 'home', 'other', 'pager'] },
    ims: { description: 'Instant messaging addresses.' },
    // The service stores messaging addresses and pictures of any type but does not use them, so it suggests no types.
    'ims.type': { canonicalValues: false },
    photos: { description: 'Pictures.' },
    'photos.type': { canonicalValues: false },
    addresses: { description: 'Postal addresses.' },
    'addresses.formatted': { description: 'The whole address, as it is shown.' },
    'addresses.streetAddress': { description: 'Street, number and what else stands above the city.' },
    'addresses.locality': { description: 'The city.' },
    'addresses.region': { description: 'The state or region.' },
    'addresses.postalCode': { description: 'The postal code.' },
    'addresses.country': { description: 'The country.' },
    groups: { description: 'The groups that the user is a member of.' },
    // Ids and URIs are compared with case.
    'groups.value': { description: 'The id of the group.', caseExact: true },
    // RFC 7643 §8.7.1 lists User as well, but only groups have members.
    'groups.$ref': { description: 'The URI of the group.', caseExact: true, referenceTypes: ['Group'] },
    'groups.display': { description: 'The name of the group.' },
    'groups.type': { description: 'Whether the user is in the group itself, or in a group that is in it.' },
    entitlements: { description: 'What the user may have.' },
    roles: { description: 'What the user may do.' },
    // No canonical types, so that Entra ID derives the path `roles[primary eq "True"]`. SCIMMY's own list is empty,
    // which would refuse every type.
    'roles.type': { canonicalValues: false },
    x509Certificates: { description: 'Certificates.' },
    'x509Certificates.type': { canonicalValues: false },
  },
  // RFC 7643 §2.4 defines `display` for every multi-valued attribute; SCIMMY's addresses have none.
  insertedBefore: { 'addresses.type': text('display', 'A name for people to read.') },
};

const groupOverrides: Overrides = {
  description: 'A group of users.',
  attributes: {
    // Two groups of a connection cannot have the same name.
    displayName: { description: 'The name of the group.', uniqueness: 'server' },
    members: { description: 'The members of the group.' },
    // Ids and URIs are compared with case.
    'members.value': { description: 'The id of the member.', caseExact: true },
    'members.$ref': { description: 'The URI of the member.', caseExact: true },
    'members.type': { description: 'What kind of resource the member is.' },
    'members.display': { description: 'The name of the member.' },
  },
  // Every resource has `externalId` without a schema (RFC 7643 §3.1); Entra ID maps only what a schema lists.
  insertedBefore: {
    members: text('externalId', 'The id that the client knows the group by.', { caseExact: true }),
  },
  // RFC 7643 §8.7.1 does not list `display` among the sub-attributes of members, so it comes last.
  last: ['members.display'],
};

const enterpriseOverrides: Overrides = {
  description: 'The place of a user in the organization.',
  attributes: {
    employeeNumber: { description: 'The number given by the employer.' },
    costCenter: { description: 'The cost center, by its name or id.' },
    organization: { description: 'The organization.' },
    division: { description: 'The division.' },
    department: { description: 'The department.' },
    manager: { description: "The user's manager." },
    // Ids and URIs are compared with case.
    'manager.value': { description: 'The id of the manager.', caseExact: true },
    'manager.$ref': { description: 'The URI of the manager.', caseExact: true },
    // The client's value is stored unchanged, so the attribute is not read-only as in RFC 7643 §4.3.
    'manager.displayName': { description: 'The name of the manager.', mutable: true },
  },
};

/** The travel extension: attributes of a user that only a travel service needs. The table of traveler fields defines them. */
function travelDefinition(attributes: readonly Attribute[]): SchemaDefinition {
  const description = 'What the travel service needs to know of a user.';
  return new SCIMMY.Types.SchemaDefinition(
    'TravelUser',
    urns.travel,
    description,
    attributes.map(toScimmyAttribute),
  );
}

/**
 * Converts an attribute of the travel extension to SCIMMY's form. Only characteristics that differ from SCIMMY's
 * defaults are set.
 */
function toScimmyAttribute({
  type,
  name,
  description,
  multiValued,
  caseExact,
  mutability,
  subAttributes = [],
}: Attribute): ScimmyAttribute {
  const config = { description, multiValued, caseExact, mutable: mutability !== 'readOnly' };
  // The cast is safe: only the type `any` is unknown to SCIMMY, and no schema contains it.
  const declared = type as ScimmyAttribute['type'];
  return new SCIMMY.Types.Attribute(declared, name, config, subAttributes.map(toScimmyAttribute));
}

function text(name: string, description: string, config: Config = {}): ScimmyAttribute {
  return new SCIMMY.Types.Attribute('string', name, { description, ...config });
}

function withOverrides({ name, id, attributes }: SchemaDefinition, overrides: Overrides): SchemaDefinition {
  // SCIMMY adds the common attributes (RFC 7643 §3.1) to each new definition, as `shadow`. Leave them out of the copy.
  const listed = attributes.filter(({ config }) => !config.shadow);
  const copies = copyAttributes(listed, overrides, '');
  const definition = new SCIMMY.Types.SchemaDefinition(name, id, overrides.description, copies);
  // Throws if an update of SCIMMY has renamed or removed the attribute.
  for (const path of Object.keys(overrides.attributes)) definition.attribute(path);
  return definition;
}

/**
 * Copies attributes with their overrides. Throws for an attribute without a description, which means that an update of
 * SCIMMY has added it.
 */
function copyAttributes(
  attributes: ScimmyAttribute[],
  overrides: Overrides,
  prefix: string,
): ScimmyAttribute[] {
  const isLast = ({ name }: ScimmyAttribute) => overrides.last?.includes(`${prefix}${name}`) ?? false;
  const ordered = attributes.toSorted((first, second) => Number(isLast(first)) - Number(isLast(second)));
  return ordered.flatMap((original) => {
    const { type, name, config, subAttributes = [] } = original;
    const path = `${prefix}${name}`;
    const override = overrides.attributes[path] ?? {};
    const description = override.description ?? commonDescriptions[name];
    if (description === undefined) throw new Error(`The attribute ${path} has no description.`);
    const inserted = overrides.insertedBefore?.[path];
    const copy = new SCIMMY.Types.Attribute(
      type,
      name,
      { ...config, ...override, description },
      copyAttributes(subAttributes, overrides, `${path}.`),
    );
    return inserted ? [inserted, copy] : [copy];
  });
}

/** Wraps a definition in the class by which SCIMMY declares a resource. The class is never instantiated. */
function schemaClass(definition: SchemaDefinition): ScimmySchema {
  return class extends SCIMMY.Types.Schema {
    static override readonly id = definition.id;
    static override readonly definition = definition;
  };
}

function toSchema({ id, name, description, attributes }: SchemaDefinition): Schema {
  const listed = attributes.filter(
    (entry) => entry instanceof SCIMMY.Types.Attribute && !entry.config.shadow,
  );
  return { id, name, description, attributes: listed.map(toAttribute) };
}

function toAttribute(original: ScimmyAttribute): Attribute {
  const { subAttributes, name, description, ...characteristics } = original.toJSON();
  return {
    // SCIMMY omits characteristics that have no meaning for the type; they then have the defaults of RFC 7643 §2.2. The
    // cast is safe, because SCIMMY accepts only the values of RFC 7643 §7.
    ...attribute(name, description, characteristics as Partial<Attribute>),
    ...(subAttributes ? { subAttributes: (original.subAttributes ?? []).map(toAttribute) } : {}),
  };
}

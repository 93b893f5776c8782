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
 * Makes the schemas that the resource classes declare: the definitions of SCIMMY with the overrides below, and the travel
 * extension. Each call makes new definitions; those of SCIMMY belong to the whole process and stay as they are.
 */
export function scimmySchemas(travelAttributes = travelExtensionAttributes()): ScimmySchemas {
  const { User, Group, EnterpriseUser } = SCIMMY.Schemas;
  const enterprise = withOverrides(EnterpriseUser.definition, enterpriseOverrides);
  const user = withOverrides(User.definition, userOverrides)
    .extend(enterprise, false)
    .extend(travelDefinition(travelAttributes), false);
  // SCIMMY gives every definition an `externalId` that /Schemas does not list; the listed one takes its place.
  const group = withOverrides(Group.definition, groupOverrides).truncate('externalId');
  return { user: schemaClass(user), group: schemaClass(group) };
}

/**
 * Reads the attribute tables from the definitions: the schema and the extensions of users, and the schema of groups.
 * `npm run schemas` writes them to src/schema/generated-schemas.ts, for the folders that must not import SCIMMY.
 */
export function attributeTables(travelAttributes = travelExtensionAttributes()): {
  userSchema: Schema;
  groupSchema: Schema;
  extensions: Schema[];
} {
  const { user, group } = scimmySchemas(travelAttributes);
  // SCIMMY's types hide that a definition keeps its extensions among its attributes.
  const entries: readonly unknown[] = user.definition.attributes;
  const extensions = entries.filter((entry) => entry instanceof SCIMMY.Types.SchemaDefinition);
  return {
    userSchema: toSchema(user.definition),
    groupSchema: toSchema(group.definition),
    extensions: extensions.map(toSchema),
  };
}

/** How a schema of this service differs from the definition of SCIMMY. */
interface Overrides {
  description: string;
  /**
   * The changed characteristics by attribute path. Each attribute needs a description here or in `commonDescriptions`, since
   * those of SCIMMY describe directories in general.
   */
  attributes: Record<string, Config>;
  /** Attributes that SCIMMY lacks, by the path of the attribute that they precede. */
  insertedBefore?: Record<string, ScimmyAttribute>;
  /** Sub-attributes that follow all others, by path. */
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
    password: { description: 'Accepted and thrown away.' },
    // Required so that provisioning tools map emails by default, like `name`.
    emails: { description: 'Email addresses.', required: true },
    phoneNumbers: { description: 'Phone numbers.' },
    // The types that the travel service reads come first.
    'phoneNumbers.type': { canonicalValues: ['work', 'mobile', 'fax', 'home', 'other', 'pager'] },
    ims: { description: 'Instant messaging addresses.' },
    // The service uses no messaging addresses and pictures, and keeps any type, so it suggests none.
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
    // Without canonical types Entra ID derives `roles[primary eq "True"]`. SCIMMY lists none, and would refuse every type.
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
  // `display` is not among the members of RFC 7643 §8.7.1, so it follows the others.
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
    // The name is kept as the client sent it, so it is not read-only as in RFC 7643 §4.3.
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

/** Converts the characteristics in which the attributes of the travel extension differ from the defaults of SCIMMY. */
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
  // A schema has no attribute of type `any`, which SCIMMY does not know.
  const declared = type as ScimmyAttribute['type'];
  return new SCIMMY.Types.Attribute(declared, name, config, subAttributes.map(toScimmyAttribute));
}

function text(name: string, description: string, config: Config = {}): ScimmyAttribute {
  return new SCIMMY.Types.Attribute('string', name, { description, ...config });
}

function withOverrides({ name, id, attributes }: SchemaDefinition, overrides: Overrides): SchemaDefinition {
  // SCIMMY marks the attributes that every definition has (RFC 7643 §3.1) as shadows, and adds them to each new one.
  const listed = attributes.filter(({ config }) => !config.shadow);
  const copies = copyAttributes(listed, overrides, '');
  const definition = new SCIMMY.Types.SchemaDefinition(name, id, overrides.description, copies);
  // Throws for an attribute that an update of SCIMMY renamed or removed.
  for (const path of Object.keys(overrides.attributes)) definition.attribute(path);
  return definition;
}

/** Copies attributes with their overrides. An attribute without a description is a fault: an update of SCIMMY brought it. */
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

/** SCIMMY declares a resource by a class that knows its definition. No instance is ever made of it. */
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
    // SCIMMY leaves out the characteristics that have no meaning for a type; they have the defaults of RFC 7643 §2.2.
    // Its types are wider than the values that it takes, which are those of RFC 7643 §7.
    ...attribute(name, description, characteristics as Partial<Attribute>),
    ...(subAttributes ? { subAttributes: (original.subAttributes ?? []).map(toAttribute) } : {}),
  };
}

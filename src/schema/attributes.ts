/** The characteristics of an attribute (RFC 7643 §2.2, §7). */
export interface Attribute {
  name: string;
  /** `any` is that of an attribute no schema declares; /Schemas never shows it. */
  type: 'string' | 'boolean' | 'integer' | 'dateTime' | 'reference' | 'binary' | 'complex' | 'any';
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
  returned: 'always' | 'never' | 'default' | 'request';
  uniqueness: 'none' | 'server' | 'global';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
}

/** A schema as /Schemas shows it (RFC 7643 §7). */
export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

type Characteristics = Partial<Omit<Attribute, 'name' | 'description' | 'subAttributes'>>;

/** An attribute with the defaults of RFC 7643 §2.2: a string, optional, read and write, compared without case. */
export function attribute(name: string, description: string, traits: Characteristics = {}): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...traits,
  };
}

/** A complex attribute. */
export function complexAttribute(
  name: string,
  description: string,
  { subAttributes, ...traits }: Characteristics & { subAttributes: readonly Attribute[] },
): Attribute {
  return { ...attribute(name, description, { ...traits, type: 'complex' }), subAttributes };
}

/** An attribute of an extension that no schema declares: any value, compared without case. */
export function undeclaredAttribute(name: string): Attribute {
  return attribute(name, '', { type: 'any' });
}

/** The sub-attribute of that name, if the attribute can have it. */
export function findSubAttribute(parent: Attribute, name: string): Attribute | undefined {
  return parent.type === 'any' ? undeclaredAttribute(name) : findAttribute(parent.subAttributes, name);
}

/** The tables never change, so each is indexed once. */
const indexes = new WeakMap<readonly Attribute[], Map<string, Attribute>>();

/** The definition of that name, compared without case (RFC 7643 §2.1). */
export function findAttribute(
  attributes: readonly Attribute[] | undefined,
  name: string,
): Attribute | undefined {
  if (!attributes) return undefined;
  const index = indexes.get(attributes) ?? buildIndex(attributes);
  return index.get(name) ?? index.get(name.toLowerCase());
}

function buildIndex(attributes: readonly Attribute[]): Map<string, Attribute> {
  const entries = attributes.flatMap((one) => [
    [one.name, one] as const,
    [one.name.toLowerCase(), one] as const,
  ]);
  const index = new Map(entries);
  indexes.set(attributes, index);
  return index;
}

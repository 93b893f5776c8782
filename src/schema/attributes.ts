/** The characteristics of an attribute (RFC 7643 §2.2, §7). */
export interface Attribute {
  name: string;
  /** `any` is the type of attributes that no schema defines; /Schemas never lists it. */
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

/** The characteristics of an attribute that may differ from the defaults. */
export type Characteristics = Partial<Omit<Attribute, 'name' | 'description' | 'subAttributes'>>;

/** Makes an attribute with the defaults of RFC 7643 §2.2: an optional string that clients may write, compared without case. */
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

/** Makes a complex attribute with the defaults of RFC 7643 §2.2. */
export function complexAttribute(
  name: string,
  description: string,
  { subAttributes, ...traits }: Characteristics & { subAttributes: readonly Attribute[] },
): Attribute {
  return { ...attribute(name, description, { ...traits, type: 'complex' }), subAttributes };
}

/** Makes an attribute that no schema defines: it takes any value, and text is compared without case. */
export function undeclaredAttribute(name: string): Attribute {
  return attribute(name, '', { type: 'any' });
}

/** Finds a sub-attribute by name, compared without case. An undeclared attribute has every sub-attribute. */
export function findSubAttribute(parent: Attribute, name: string): Attribute | undefined {
  return parent.type === 'any' ? undeclaredAttribute(name) : findAttribute(parent.subAttributes, name);
}

/** Caches the index of each attribute table, which never changes. */
const indexes = new WeakMap<readonly Attribute[], Map<string, Attribute>>();

/** Finds an attribute by name, compared without case (RFC 7643 §2.1). */
export function findAttribute(
  attributes: readonly Attribute[] | undefined,
  name: string,
): Attribute | undefined {
  if (!attributes) return undefined;
  const index = indexes.get(attributes) ?? buildIndex(attributes);
  return index.get(name) ?? index.get(name.toLowerCase());
}

function buildIndex(attributes: readonly Attribute[]): Map<string, Attribute> {
  const entries = attributes.flatMap((entry) => [
    [entry.name, entry] as const,
    [entry.name.toLowerCase(), entry] as const,
  ]);
  const index = new Map(entries);
  indexes.set(attributes, index);
  return index;
}

import type { Attribute, Schema } from '../../schema/attributes.ts';
import { type ResourceType, resourceTypes } from '../../schema/resource-types.ts';

/**
 * The types of RFC 7643 §4.1.2 for attributes that the travel service does not read. Those without a vocabulary there (`entitlements`, `roles`
 * and `x509Certificates`) have no `type`.
 */
const furtherTypes: Partial<Record<string, readonly string[]>> = {
  ims: ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo'],
  photos: ['photo', 'thumbnail'],
};

/**
 * The resource types as a strict connection declares them: exactly what it enforces. Every `type` has its canonical values, and only
 * `userName` of a user is required.
 */
export const strictTypes: readonly ResourceType[] = resourceTypes.map((type) => ({
  ...type,
  schema: strictSchema(type.schema),
  extensions: type.extensions.map(strictSchema),
}));

function strictSchema(schema: Schema): Schema {
  return { ...schema, attributes: schema.attributes.map(strictAttribute) };
}

function strictAttribute(attribute: Attribute): Attribute {
  const { name, type, multiValued, required, subAttributes } = attribute;
  if (type !== 'complex' || !subAttributes) return attribute;
  return {
    ...attribute,
    // A user without a name or an email is accepted, also by a strict connection.
    required: required && !['name', 'emails'].includes(name),
    subAttributes: multiValued ? subAttributes.flatMap((sub) => strictLabel(sub, name)) : subAttributes,
  };
}

function strictLabel(sub: Attribute, parent: string): Attribute[] {
  if (sub.name !== 'type' || sub.canonicalValues) return [sub];
  const canonicalValues = furtherTypes[parent];
  return canonicalValues ? [{ ...sub, canonicalValues }] : [];
}

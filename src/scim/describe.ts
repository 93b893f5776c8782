import type { Attribute, Schema } from '../schema/attribute.ts';
import type { JsonObject } from '../schema/resource.ts';
import type { ResourceType } from '../schema/resource-type.ts';

/** What discovery tells, and where it does. */
export interface Described extends JsonObject {
  meta: { resourceType: string; location: string };
}

/** A schema as /Schemas shows it (RFC 7643 §7). */
export function describeSchema({ id, name, description, attributes }: Schema, base: string): Described {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(describeAttribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  };
}

/** A resource type as /ResourceTypes shows it (RFC 7643 §6). */
export function describeResourceType(type: ResourceType, base: string): Described {
  const { name, endpoint, description, schema, extensions } = type;
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint,
    description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  };
}

function describeAttribute(attribute: Attribute): JsonObject {
  const { canonicalValues, referenceTypes, subAttributes, ...characteristics } = attribute;
  return {
    ...characteristics,
    ...(canonicalValues ? { canonicalValues: [...canonicalValues] } : {}),
    ...(referenceTypes ? { referenceTypes: [...referenceTypes] } : {}),
    ...(subAttributes ? { subAttributes: subAttributes.map(describeAttribute) } : {}),
  };
}

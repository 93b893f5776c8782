import SCIMMY from 'scimmy';
import type { Attribute, Schema } from '../../schema/attributes.ts';
import { groupType, type ResourceType, userType } from '../../schema/resource-types.ts';

type ScimmyAttribute = InstanceType<typeof SCIMMY.Types.Attribute>;
type ScimmySchema = typeof SCIMMY.Types.Schema;
type SchemaDefinition = InstanceType<typeof SCIMMY.Types.SchemaDefinition>;

/** Makes the schema classes by which SCIMMY declares /Users and /Groups, each with its extensions. They are never instantiated. */
export function scimmySchemas(): { user: ScimmySchema; group: ScimmySchema } {
  return { user: schemaClass(userType), group: schemaClass(groupType) };
}

function schemaClass({ schema, extensions }: ResourceType): ScimmySchema {
  const definition = toDefinition(schema);
  for (const extension of extensions) definition.extend(toDefinition(extension), false);
  return class extends SCIMMY.Types.Schema {
    static override readonly id = definition.id;
    static override readonly definition = definition;
  };
}

function toDefinition({ name, id, description, attributes }: Schema): SchemaDefinition {
  const definition = new SCIMMY.Types.SchemaDefinition(
    name,
    id,
    description,
    attributes.map(toScimmyAttribute),
  );
  // SCIMMY gives every definition a hidden `externalId`, which a listed one replaces.
  const isListed = attributes.some((attribute) => attribute.name === 'externalId');
  return isListed ? definition.truncate('externalId') : definition;
}

function toScimmyAttribute({
  name,
  type,
  subAttributes = [],
  ...characteristics
}: Attribute): ScimmyAttribute {
  const { mutability, canonicalValues = false, referenceTypes, ...config } = characteristics;
  return new SCIMMY.Types.Attribute(
    // The cast is safe: only the type `any` is unknown to SCIMMY, and no schema contains it.
    type as ScimmyAttribute['type'],
    name,
    {
      ...config,
      mutable: mutability === 'readWrite' || mutability,
      canonicalValues: canonicalValues && [...canonicalValues],
      ...(referenceTypes && { referenceTypes: [...referenceTypes] }),
    },
    subAttributes.map(toScimmyAttribute),
  );
}

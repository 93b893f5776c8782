import type { Json, JsonObject } from '../../src/schema/resource.ts';
import type { ScimClient } from './scim-client.ts';

/** An attribute as /Schemas publishes it (RFC 7643 §7). */
export interface Definition {
  name: string;
  type: string;
  multiValued: boolean;
  required: boolean;
  caseExact: boolean;
  mutability: string;
  returned: string;
  uniqueness: string;
  canonicalValues?: string[];
  subAttributes?: Definition[];
}

/** A published attribute, and where it is. */
export interface Published {
  /** As a filter or a PATCH names it. */
  path: string;
  /** Of the extension that has it; undefined: of the core schema. */
  urn: string | undefined;
  definition: Definition;
  /** The attribute that this one is a part of. */
  parent: Definition | undefined;
}

/** A resource type as /ResourceTypes and /Schemas publish it. */
export interface PublishedType {
  endpoint: string;
  urn: string;
  extensions: string[];
  /** All, sub-attributes after their attribute. */
  attributes: Published[];
}

/** Reads what a service publishes of one type. */
export async function publishedType(scim: ScimClient, name: 'User' | 'Group'): Promise<PublishedType> {
  const { endpoint, schema, schemaExtensions } = (await scim.send('GET', `/ResourceTypes/${name}`)).body;
  const extensions = schemaExtensions.map((one: { schema: string }) => one.schema);
  const attributes: Published[] = [];
  for (const id of [schema, ...extensions]) {
    const { body } = await scim.send('GET', `/Schemas/${id}`);
    attributes.push(
      ...body.attributes.flatMap((one: Definition) => withParts(id === schema ? undefined : id, one)),
    );
  }
  return { endpoint, urn: schema, extensions, attributes };
}

function withParts(urn: string | undefined, definition: Definition): Published[] {
  const path = urn === undefined ? definition.name : `${urn}:${definition.name}`;
  const parts = (definition.subAttributes ?? []).map((part) => ({
    path: `${path}.${part.name}`,
    urn,
    definition: part,
    parent: definition,
  }));
  return [{ path, urn, definition, parent: undefined }, ...parts];
}

/** A value of the published type, different for each seed, its letters in both cases. */
export function sample(definition: Definition, seed: string): Json {
  const { name, type, multiValued, canonicalValues, subAttributes = [] } = definition;
  if (multiValued) return [sample({ ...definition, multiValued: false }, seed)];
  if (type === 'complex')
    return Object.fromEntries(subAttributes.map((part) => [part.name, sample(part, seed)]));
  if (type === 'boolean') return true;
  if (type === 'binary') return Buffer.from(`${name} ${seed}`).toString('base64');
  // An address, so that one who has it as a userName or an email gets a traveler.
  return canonicalValues?.[0] ?? `${name}-${seed}-Aa@corp.example`;
}

/** A resource with one value at that place; what surrounds it has nothing else. */
export function holding({ urn, definition, parent }: Published, value: Json): JsonObject {
  const own = { [definition.name]: value };
  const attribute = parent ? { [parent.name]: parent.multiValued ? [own] : own } : own;
  return urn === undefined ? attribute : { [urn]: attribute };
}

/** The value at that place; of a multi-valued attribute that in its first value. */
export function valueAt({ urn, definition, parent }: Published, resource: JsonObject): Json | undefined {
  const container = urn === undefined ? resource : resource[urn];
  const attribute = own(container, (parent ?? definition).name);
  if (!parent) return attribute;
  return own(Array.isArray(attribute) ? attribute[0] : attribute, definition.name);
}

function own(container: Json | undefined, name: string): Json | undefined {
  const isObject = typeof container === 'object' && container !== null && !Array.isArray(container);
  return isObject ? container[name] : undefined;
}

import type { Attribute } from './attributes.ts';
import { isWritable } from './normalize.ts';
import type { ResourceType } from './resource-types.ts';

/** The path of an attribute, as in filters and PATCH requests (RFC 7644 §3.10), and what it is. */
export interface AttributePathText {
  path: string;
  description: string;
}

/**
 * Lists the paths of all values that a client may write: attributes, sub-attributes, and for attributes with several values those
 * of each canonical type, e.g. `emails[type eq "work"].value`.
 */
export function attributePaths({ schema, extensions }: ResourceType): AttributePathText[] {
  return [
    ...schema.attributes.flatMap((one) => pathsOf(one, '')),
    ...extensions.flatMap(({ id, attributes }) => attributes.flatMap((one) => pathsOf(one, `${id}:`))),
  ];
}

function pathsOf(attribute: Attribute, prefix: string): AttributePathText[] {
  const { multiValued, subAttributes } = attribute;
  if (!isWritable(attribute)) return [];
  const path = `${prefix}${attribute.name}`;
  const description = attribute.description;
  if (!subAttributes) return [{ path, description }];
  const parts = subAttributes.filter(isWritable);
  if (!multiValued)
    return parts.map((part) => ({ path: `${path}.${part.name}`, description: part.description }));
  const types = parts.find(({ name }) => name === 'type')?.canonicalValues ?? [];
  const values = parts.filter(({ name }) => !['type', 'primary', 'display'].includes(name));
  return values.flatMap(({ name }) => [
    ...types.map((type) => ({ path: `${path}[type eq "${type}"].${name}`, description })),
    { path: `${path}.${name}`, description },
  ]);
}

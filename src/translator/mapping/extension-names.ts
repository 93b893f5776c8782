import { findAttribute } from '../../schema/attributes.ts';
import type { AttributePath } from '../../schema/filter-parser.ts';
import { jsonPath } from '../../schema/json-path.ts';
import { urns } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { nearest } from '../../schema/similar-words.ts';
import type { MappingFault } from './mapping-faults.ts';
import type { Mapping } from './mapping-file.ts';
import { conditionExpressions, inputPaths, undeclaredName } from './rule-syntax.ts';

/**
 * Finds the attributes in the scope and the rules of a mapping that no schema defines: in the enterprise or the travel extension, such as
 * `…:enterprise:2.0:User:departement`, and those without a URN. An identity provider may send them nevertheless, so they are no faults.
 */
export function findUndeclaredNames({ scimUserMapping, scope }: Mapping): MappingFault[] {
  return [
    // Names in brackets are those of the core schema.
    ...conditionExpressions(scope).flatMap(({ path }) => warningsAt(['scope'], path)),
    ...scimUserMapping.flatMap((row, index) => [
      ...inputPaths(row).flatMap(({ member, path }) =>
        warningsAt(['scimUserMapping', index, ...member], path),
      ),
      ...conditionExpressions(row.when).flatMap(({ path }) =>
        warningsAt(['scimUserMapping', index, 'when'], path),
      ),
    ]),
  ];
}

function warningsAt(place: PropertyKey[], path: AttributePath): MappingFault[] {
  const warning = extensionWarning(path) ?? customWarning(path);
  return warning ? [{ path: jsonPath(place), ...warning }] : [];
}

function extensionWarning({ urn = '', attribute }: AttributePath): Omit<MappingFault, 'path'> | undefined {
  const extension = userType.extensions.find(({ id }) => id.toLowerCase() === urn.toLowerCase());
  if (!extension || attribute === undefined || findAttribute(extension.attributes, attribute))
    return undefined;
  const known = extension.attributes.map(({ name }) => name);
  const meant = nearest(attribute, known);
  const remedy = meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${meant}?`;
  return { problem: `the extension ${extension.id} has no attribute ${attribute}`, remedy };
}

function customWarning(path: AttributePath): Omit<MappingFault, 'path'> | undefined {
  const name = undeclaredName(path);
  if (name === undefined) return undefined;
  const remedy = `Write ${urns.user}:${name} if the identity provider sends this attribute, or correct the name.`;
  return { problem: `no schema has an attribute ${name}`, remedy };
}

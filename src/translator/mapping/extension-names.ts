import { findAttribute } from '../../schema/attributes.ts';
import { type AttributePath, attributeExpressionsIn } from '../../schema/filter-parser.ts';
import { urns } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { isSearchedAttribute } from './manager-settings.ts';
import { jsonPath, type MappingFault, nearest } from './mapping-faults.ts';
import type { Mapping } from './mapping-file.ts';
import {
  isSyntaxProblem,
  parseCondition,
  parseInputPath,
  parseTemplate,
  pathsOfTemplate,
  undeclaredName,
} from './rule-syntax.ts';

/**
 * Finds the attributes in the scope and the rules of a mapping that no schema defines: in the enterprise or the travel extension, such as
 * `…:enterprise:2.0:User:departement`, and those without a URN. An identity provider may send them nevertheless, so they are no faults.
 */
export function findUndeclaredNames({ scimUserMapping, scope, manager }: Mapping): MappingFault[] {
  const ofRules = scimUserMapping.flatMap((row, index) =>
    rowPaths(row).map(({ member, path }) => ({ member: ['scimUserMapping', index, ...member], path })),
  );
  const ofScope = conditionPaths(scope).map((path): PlacedPath => ({ member: ['scope'], path }));
  const { by } = manager ?? {};
  const ofManager =
    by === undefined || isSearchedAttribute(by) ? [] : pathsAt({ member: ['manager', 'by'], text: by });
  return [...ofScope, ...ofManager, ...ofRules].flatMap(({ member, path }) => {
    const warning = extensionWarning(path) ?? customWarning(path);
    return warning ? [{ path: jsonPath(member), ...warning }] : [];
  });
}

interface PlacedPath {
  /** The place of the path in its rule, or in the mapping. */
  member: PropertyKey[];
  path: AttributePath;
}

function rowPaths({
  scimAttribute,
  sources,
  template,
  when,
}: Mapping['scimUserMapping'][number]): PlacedPath[] {
  const named = [
    ...(scimAttribute === undefined ? [] : [{ member: ['scimAttribute'], text: scimAttribute }]),
    ...(sources ?? []).map((text, index) => ({ member: ['sources', index], text })),
  ];
  return [
    ...named.flatMap(pathsAt),
    ...templatePaths(template ?? '').map((path) => ({ member: ['template'], path })),
    ...conditionPaths(when).map((path) => ({ member: ['when'], path })),
  ];
}

function pathsAt({ member, text }: { member: PropertyKey[]; text: string }): PlacedPath[] {
  const parsed = parseInputPath(text);
  return isSyntaxProblem(parsed) ? [] : [{ member, path: parsed.path }];
}

function templatePaths(template: string): AttributePath[] {
  const parsed = parseTemplate(template);
  if (isSyntaxProblem(parsed)) return [];
  return pathsOfTemplate(parsed.parts).map(({ path }) => path);
}

function conditionPaths(when: string | undefined): AttributePath[] {
  const filter = when === undefined ? undefined : parseCondition(when);
  // Names in brackets are those of the core schema.
  return filter && !isSyntaxProblem(filter) ? attributeExpressionsIn(filter).map(({ path }) => path) : [];
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

import { findAttribute } from '../../schema/attributes.ts';
import { type AttributePath, attributeExpressionsIn } from '../../schema/filter-parser.ts';
import { userType } from '../../schema/resource-types.ts';
import { jsonPath, type MappingFault, nearest } from './mapping-faults.ts';
import type { Mapping } from './mapping-file.ts';
import {
  isSyntaxProblem,
  parseCondition,
  parseRulePath,
  parseTemplate,
  pathsOfTemplate,
} from './rule-syntax.ts';

/**
 * Finds the attributes in the rules of a mapping that the enterprise or the travel extension does not define, such as
 * `…:enterprise:2.0:User:departement`. An identity provider may send them nevertheless, so they are no faults.
 */
export function findUnknownExtensionNames({ scimUserMapping }: Mapping): MappingFault[] {
  return scimUserMapping.flatMap((row, index) =>
    rowPaths(row).flatMap(({ member, path }) => {
      const warning = extensionWarning(path);
      return warning ? [{ path: jsonPath(['scimUserMapping', index, ...member]), ...warning }] : [];
    }),
  );
}

interface PlacedPath {
  /** The place of the path in its rule. */
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
    ...named.flatMap(({ member, text }) => {
      const path = parseRulePath(text);
      return isSyntaxProblem(path) ? [] : [{ member, path }];
    }),
    ...templatePaths(template ?? '').map((path) => ({ member: ['template'], path })),
    ...conditionPaths(when).map((path) => ({ member: ['when'], path })),
  ];
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

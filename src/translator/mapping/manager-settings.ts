import { toFieldKey } from '../fields.ts';
import { jsonPath, type MappingFault } from './mapping-faults.ts';
import {
  inputPaths,
  isGroupPath,
  isSyntaxProblem,
  parseRulePath,
  type RulePath,
  type SyntaxProblem,
} from './rule-syntax.ts';

/** The attributes by which managers can be named, and that every connection can search. */
export const searchedAttributes = ['id', 'email', 'externalId', 'userName', 'employeeNumber'] as const;

export type SearchedAttribute = (typeof searchedAttributes)[number];

/** True for an attribute by which users are always found. */
export function isSearchedAttribute(name: string): name is SearchedAttribute {
  return searchedAttributes.some((one) => one === name);
}

/** Parses any other attribute that names managers: a SCIM path of users. */
export function parseNamingAttribute(text: string): RulePath | SyntaxProblem {
  const path = parseRulePath(text);
  if (isSyntaxProblem(path)) return path;
  if (!path.filter && !isGroupPath(path)) return { text, path };
  const remedy = `Write ${searchedAttributes.join(', ')} or a SCIM path without brackets.`;
  return { problem: 'is no single attribute', remedy };
}

/** Finds the rules for the manager that read the manager: who it is must be known before it can be read. */
export function findManagerFaults({ scimUserMapping }: { scimUserMapping: WrittenRule[] }): MappingFault[] {
  return scimUserMapping.flatMap(({ userAttribute = '', ...input }, index) => {
    if (toFieldKey(userAttribute) !== 'managerId') return [];
    const reads = inputPaths(input).filter(({ ofManager }) => ofManager);
    const places = new Set(reads.map(({ member }) => jsonPath(['scimUserMapping', index, ...member])));
    return [...places].map((path) => ({
      ...{ path, problem: 'reads the manager to find the manager' },
      remedy: 'Read an attribute of the user, e.g. manager.value.',
    }));
  });
}

type WrittenRule = Parameters<typeof inputPaths>[0] & { userAttribute?: string | undefined };

import { toFieldKey } from '../fields.ts';
import { jsonPath, type MappingFault } from './mapping-faults.ts';
import {
  isGroupPath,
  isSyntaxProblem,
  parseInputPath,
  parseRulePath,
  parseTemplate,
  pathsOfTemplate,
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

/** The part of a rule that decides whether it reads the manager to set the manager. */
interface WrittenRule {
  userAttribute?: string | undefined;
  scimAttribute?: string | undefined;
  sources?: string[] | undefined;
  template?: string | undefined;
}

/** Finds the rules for the manager that read the manager: who it is must be known before it can be read. */
export function findManagerFaults({ scimUserMapping }: { scimUserMapping: WrittenRule[] }): MappingFault[] {
  return scimUserMapping.flatMap(({ userAttribute = '', ...rule }, index) =>
    toFieldKey(userAttribute) === 'managerId'
      ? managerReadsOf(rule).map((member) => ({
          path: jsonPath(['scimUserMapping', index, ...member]),
          problem: 'reads the manager to find the manager',
          remedy: 'Read an attribute of the user, e.g. manager.value.',
        }))
      : [],
  );
}

/** Returns the places in a rule that read the manager. */
function managerReadsOf({ scimAttribute = '', sources = [], template = '' }: WrittenRule): PropertyKey[][] {
  const parsed = parseTemplate(template);
  const isInTemplate = !isSyntaxProblem(parsed) && pathsOfTemplate(parsed.parts).some(isOfManager);
  return [
    ...(isOfManager(parseInputPath(scimAttribute)) ? [['scimAttribute']] : []),
    ...sources.flatMap((text, index) => (isOfManager(parseInputPath(text)) ? [['sources', index]] : [])),
    ...(isInTemplate ? [['template']] : []),
  ];
}

function isOfManager(parsed: RulePath | SyntaxProblem): boolean {
  return !isSyntaxProblem(parsed) && parsed.ofManager === true;
}

import { pathReader } from '../schema/filter-match.ts';
import type { Json, ScimResource } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import { findReferencesOf } from './compiled-fields.ts';
import { isSearchedAttribute, parseNamingAttribute } from './mapping/manager-settings.ts';
import { valuesReader } from './mapping/rule-sources.ts';
import { isSyntaxProblem, type RulePath } from './mapping/rule-syntax.ts';
import { digest, oncePerRules, pathsOfInput, type Rules } from './rules.ts';
import { type SourceManager, type SourceUser, toSourceUser } from './sources.ts';
import type { Reference } from './translation.ts';
import { canonicalJson, type Fault, toText, unresolved } from './values/values.ts';

/** What the rules read of users as managers. */
interface ManagerReads {
  /** The paths that they read after `manager.`. */
  paths: RulePath[];
  /** The attribute that names managers, if the mapping names one that is not searched anyhow. */
  by: RulePath | undefined;
}

const managerReads = oncePerRules(
  ({ rules, mapping }): ManagerReads => ({
    paths: rules.flatMap(({ input }) => pathsOfInput(input).filter(({ ofManager }) => ofManager)),
    by: namingPath(mapping.manager?.by),
  }),
);

function namingPath(text: string | undefined): RulePath | undefined {
  if (text === undefined || isSearchedAttribute(text)) return undefined;
  const parsed = parseNamingAttribute(text);
  return isSyntaxProblem(parsed) ? undefined : parsed;
}

/**
 * Returns the manager of a user as rules read it: the first of the managers that the user names whose user is known. Undefined if there is
 * none, or if no rule reads the manager.
 */
export function managerOfUser(
  rules: Rules,
  user: SourceUser,
  references: ReadonlyMap<string, Reference>,
): SourceManager | undefined {
  if (managerReads(rules).paths.length === 0) return undefined;
  const raws = findReferencesOf(rules, user);
  const found = raws.map((raw) => references.get(raw)?.user).find((one) => one !== undefined);
  if (found) return { resource: toSourceUser(found).resource };
  const awaited = raws.find((raw) => {
    const reference = references.get(raw);
    if (!reference) return true;
    return 'unresolved' in reference && ['unknown', 'ambiguous'].includes(reference.unresolved);
  });
  return awaited === undefined ? undefined : { raw: awaited, fault: managerAwaited };
}

const { fault } = unresolved(
  'managerAwaited',
  'No user of this connection, or more than one, matches the manager, whose attribute the rule reads.',
  'Provision the manager too, or correct the value; the field is set by itself once it names one user.',
);

const managerAwaited: Fault = { ...fault, keepsApplied: true };

/** Returns the values by which others name the user as their manager, if the mapping names an attribute that is not searched anyhow. */
export function namingValues(rules: Rules, user: ScimResource): string[] {
  const { by } = managerReads(rules);
  if (!by) return [];
  return valuesReader(by)(toSourceUser(user)).flatMap((value) => toText(value) ?? []);
}

/**
 * Returns a digest of what the rules read of a user as a manager. It changes when the people who report to the user must be translated
 * again, and is another one for another user; undefined if the rules read nothing.
 */
export function managerValuesDigest(
  rules: Rules,
  { id, desired }: { id: string; desired: ScimResource },
): string | undefined {
  const { paths, by } = managerReads(rules);
  if (paths.length === 0 && !by) return undefined;
  const { resource } = toSourceUser(desired);
  const read = paths.map(({ text, path }): Json => [text, pathReader(userType, path)(resource)]);
  return digest(canonicalJson([id, ...read, by?.text ?? null, namingValues(rules, desired)]));
}

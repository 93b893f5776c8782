import { pathReader } from '../schema/filter-match.ts';
import type { ScimResource } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import { findReferencesOf } from './compiled-fields.ts';
import type { RulePath } from './rule-syntax.ts';
import { digest, pathsOfInput, type Rules } from './rules.ts';
import { type SourceManager, type SourceUser, toSourceUser } from './sources.ts';
import type { Reference } from './translation.ts';
import { canonicalJson, type Fault, unresolved } from './values.ts';

/** Caches the paths of each version of the rules. Rules never change. */
const cache = new WeakMap<Rules, RulePath[]>();

/** Returns the paths at which the rules read the managers of users. */
function managerPaths(rules: Rules): RulePath[] {
  const paths =
    cache.get(rules) ?? rules.rules.flatMap(({ input }) => pathsOfInput(input).filter(isOfManager));
  cache.set(rules, paths);
  return paths;
}

function isOfManager({ ofManager }: RulePath): boolean {
  return ofManager === true;
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
  if (managerPaths(rules).length === 0) return undefined;
  const raws = findReferencesOf(rules, user);
  const found = raws.map((raw) => references.get(raw)?.user).find((one) => one !== undefined);
  if (found) return { resource: toSourceUser(found).resource };
  const awaited = raws.find((raw) => {
    const reference = references.get(raw);
    return !reference || ('unresolved' in reference && reference.unresolved === 'unknown');
  });
  return awaited === undefined ? undefined : { raw: awaited, fault: managerAwaited };
}

const { fault } = unresolved(
  'managerAwaited',
  'No user of this connection matches the manager, whose attribute the rule reads.',
  'Provision the manager too, or correct the value; the field is set by itself once that user is there.',
);

const managerAwaited: Fault = { ...fault, keepsApplied: true };

/**
 * Returns a digest of what the rules read of a user as a manager. It changes when the people who report to the user must be translated
 * again; undefined if no rule reads managers.
 */
export function managerValuesDigest(rules: Rules, user: ScimResource): string | undefined {
  const paths = managerPaths(rules);
  if (paths.length === 0) return undefined;
  const { resource } = toSourceUser(user);
  return digest(canonicalJson(paths.map(({ text, path }) => [text, pathReader(userType, path)(resource)])));
}

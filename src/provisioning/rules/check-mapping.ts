import type { Log } from '../../model/runtime-ports.ts';
import { type Lookups, noLookups } from '../../model/translation.ts';
import type { MappingFault } from '../../translator/mapping/mapping-faults.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import { checkNames, type NameFault } from '../../translator/rules/check-names.ts';
import { findNamedGroups } from '../../translator/rules/named-groups.ts';
import { compileRules } from '../../translator/rules/rules.ts';

/** The faulty names of a mapping. `unchecked`: why names could not be looked up; undefined if all were checked. */
export interface NamesCheck<Reason> {
  faults: NameFault[];
  unchecked: Reason | undefined;
}

/**
 * Finds the names in a mapping that the travel service does not know or does not accept. `readLookups` is called only if the
 * mapping names something in the travel service; it returns the lookups, or why they cannot be read.
 */
export async function findNameFaults<Reason>(
  mapping: Mapping,
  readLookups: () => Promise<{ lookups: Lookups } | { unchecked: Reason }>,
): Promise<NamesCheck<Reason>> {
  const withoutLookups = checkNames(compileRules(mapping, []), noLookups);
  if (!withoutLookups.some(({ isUnknown }) => isUnknown))
    return { faults: withoutLookups, unchecked: undefined };
  const read = await readLookups();
  if ('unchecked' in read)
    return { faults: withoutLookups.filter(({ isUnknown }) => !isUnknown), unchecked: read.unchecked };
  const rules = compileRules(mapping, read.lookups.scimUserMappings);
  return { faults: checkNames(rules, read.lookups), unchecked: undefined };
}

/**
 * Finds the groups that a mapping names and that the identity provider has not sent. It may send them later, so they are no faults.
 * `findUnknownNames` returns those of the names that no group has.
 */
export async function findUnknownGroups(
  mapping: Mapping,
  findUnknownNames: (names: string[]) => Promise<string[]>,
): Promise<MappingFault[]> {
  const named = findNamedGroups(mapping);
  if (named.length === 0) return [];
  const unknown = new Set(await findUnknownNames([...new Set(named.map(({ name }) => name))]));
  return named
    .filter(({ name }) => unknown.has(name))
    .map(({ path, name }) => ({
      path,
      problem: `no group with the name ${JSON.stringify(name)} has been received`,
      remedy: 'Correct the name, or let the identity provider send the group.',
    }));
}

/** Logs each fault of the mapping in force that has come or gone. */
export function logFaultChanges(
  connection: string,
  { before, now }: Record<'before' | 'now', NameFault[]>,
  log: Pick<Log, 'info' | 'warn'>,
): void {
  const textOf = ({ path, problem }: NameFault) => JSON.stringify([path, problem]);
  const without = (faults: NameFault[], others: NameFault[]) => {
    const known = new Set(others.map(textOf));
    return faults.filter((fault) => !known.has(textOf(fault)));
  };
  for (const fault of without(now, before)) {
    const { path, problem, remedy } = fault;
    log.warn(
      { connection, path, problem, remedy },
      'the mapping has a fault; affected fields keep their last value',
    );
  }
  for (const { path, problem } of without(before, now))
    log.info({ connection, path, problem }, 'a fault of the mapping is fixed');
}

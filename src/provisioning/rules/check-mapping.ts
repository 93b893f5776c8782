import { checkNames, type NameFault } from '../../translator/check-names.ts';
import type { Mapping } from '../../translator/mapping-file.ts';
import { compileRules } from '../../translator/rules.ts';
import { type Lookups, noLookups } from '../../translator/translation.ts';

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

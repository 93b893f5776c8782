import type { Memberships } from '../../model/group-ports.ts';
import type { ConnectionState } from '../../store/connection-modes.ts';
import type { RulesStore } from '../../store/queues/rules-in-force.ts';
import { findNamedGroups } from '../../translator/rules/named-groups.ts';
import { mappingOf } from './mapping-versions.ts';

interface MissingGroupsDeps {
  rules: Pick<RulesStore, 'find'>;
  memberships: Pick<Memberships, 'findUnknownNames'>;
}

type RulesOfConnection = Pick<ConnectionState, 'connection' | 'generation'>;

/** The number of groups that the mapping in force of a connection names, and that do not exist. */
export interface MissingGroups {
  connection: string;
  count: number;
}

/**
 * Returns a function that counts the groups which mappings in force name in vain, for the connections that have such. The names are read once
 * for each version of the rules.
 */
export function missingGroupReader({ rules, memberships }: MissingGroupsDeps) {
  const known = new Map<string, { generation: number; names: string[] }>();
  const namesOf = async ({ connection, generation }: RulesOfConnection): Promise<string[]> => {
    const before = known.get(connection);
    if (before?.generation === generation) return before.names;
    const inForce = await rules.find(connection);
    const mapping = inForce && mappingOf(inForce);
    const names = mapping ? findNamedGroups(mapping).map(({ name }) => name) : [];
    known.set(connection, { generation, names });
    return names;
  };
  return async (connections: readonly RulesOfConnection[]): Promise<MissingGroups[]> => {
    const found: MissingGroups[] = [];
    for (const { connection, generation } of connections) {
      const names = await namesOf({ connection, generation });
      const missing = names.length === 0 ? [] : await memberships.findUnknownNames(connection, names);
      if (missing.length > 0) found.push({ connection, count: missing.length });
    }
    return found;
  };
}

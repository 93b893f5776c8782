import type { Generated } from 'kysely';
import type { ExchangeDirection } from '../../model/exchange.ts';
import type { RowsOf } from '../migrations/columns.ts';
import type { tables } from '../migrations/index.ts';

type Declared = RowsOf<typeof tables>;

/** Tables with columns whose values are a closed list. */
interface Refined {
  connection: Omit<Declared['connection'], 'mode'> & { mode: Generated<'live' | 'shadow'> };
  list_counter: Omit<Declared['list_counter'], 'kind'> & { kind: CounterKind };
  rules_in_force: Omit<Declared['rules_in_force'], 'source'> & { source: MappingSource };
  mapping_version: Omit<Declared['mapping_version'], 'source'> & { source: MappingSource };
  exchange: Omit<Declared['exchange'], 'direction'> & { direction: ExchangeDirection };
}

/**
 * All tables. Times are epoch milliseconds, booleans are 0 or 1, JSON is text. Tables of the bridge and of the travel service do not refer
 * to each other. Keys of the bridge's tables begin with the travel account and the connection, see `Scope`.
 */
export interface Tables extends Omit<Declared, keyof Refined>, Refined {}

export type IdentityTable = Tables['identity'];

/**
 * The rows that are counted. `live`: live identities; `unclaimed`: those of them that no IdP has written; `dead`: tombstones;
 * `group`: groups.
 */
type CounterKind = 'live' | 'unclaimed' | 'dead' | 'group';

type MappingSource = 'file' | 'page' | 'command' | 'default';

export type ExchangeTable = Tables['exchange'];

import type { Generated } from 'kysely';
import type { ExchangeDirection } from '../../log/exchange.ts';
import type { connectionModeColumns, databaseRecordTables } from '../migrations/0003-connection-modes.ts';
import type { signInFailureTables } from '../migrations/0004-sign-in-failures.ts';
import type { openidAttemptTables } from '../migrations/0005-admin-access.ts';
import type { namedGroupTables } from '../migrations/0007-named-groups.ts';
import type { putBackColumns } from '../migrations/0009-put-back.ts';
import type { deletedMemberTables } from '../migrations/0010-deleted-members.ts';
import type {
  decisionColumns,
  followedColumns,
  rulesDecisionColumns,
} from '../migrations/0011-held-changes.ts';
import type { connectionSettingsColumns } from '../migrations/0012-stored-connections.ts';
import type { reportedConditionTables } from '../migrations/0013-reported-conditions.ts';
import type { changedScopeTables } from '../migrations/0015-changed-scope.ts';
import type { exchangeTables } from '../migrations/0017-log-in-clear.ts';
import type { adminTables } from '../migrations/admin-tables.ts';
import type { RowOf, RowsOf } from '../migrations/columns.ts';
import type { connectionTables } from '../migrations/connection-tables.ts';
import type { credentialTables } from '../migrations/credential-tables.ts';
import type { groupTables } from '../migrations/group-tables.ts';
import type { holdTables } from '../migrations/hold-tables.ts';
import type { identityTables } from '../migrations/identity-tables.ts';
import type { replicaTables } from '../migrations/replica-tables.ts';
import type { travelTables } from '../migrations/travel-tables.ts';
import type { webhookTables } from '../migrations/webhook-tables.ts';

/** The columns that the migrations declare. */
type Declared = RowsOf<
  typeof connectionTables &
    typeof identityTables &
    typeof groupTables &
    typeof holdTables &
    typeof replicaTables &
    typeof travelTables &
    typeof webhookTables &
    typeof credentialTables &
    typeof adminTables &
    typeof databaseRecordTables &
    typeof signInFailureTables &
    typeof openidAttemptTables &
    typeof exchangeTables &
    typeof namedGroupTables &
    typeof deletedMemberTables &
    typeof reportedConditionTables &
    typeof changedScopeTables
>;

/** Tables with columns that a later migration has added, or whose values are a closed list. */
interface Refined {
  connection: Declared['connection'] &
    RowOf<typeof connectionSettingsColumns> &
    Omit<RowOf<typeof connectionModeColumns>, 'mode'> & { mode: Generated<'live' | 'paused' | 'shadow'> };
  list_counter: Omit<Declared['list_counter'], 'kind'> & { kind: CounterKind };
  rules_in_force: Omit<Declared['rules_in_force'], 'source'> & { source: MappingSource } & RowOf<
      typeof putBackColumns & typeof followedColumns
    >;
  identity: Declared['identity'] & RowOf<typeof decisionColumns>;
  rules_change: Declared['rules_change'] & RowOf<typeof rulesDecisionColumns>;
  mapping_version: Omit<Declared['mapping_version'], 'source'> & { source: MappingSource };
  exchange: Omit<Declared['exchange'], 'direction'> & { direction: ExchangeDirection };
}

/**
 * All tables. Times are epoch milliseconds, booleans are 0 or 1, JSON is text. Tables of the bridge and of the travel service do not refer
 * to each other. Keys of the bridge's tables begin with the travel account and the connection, see `Scope`.
 */
export interface Tables extends Omit<Declared, keyof Refined>, Refined {}

/** The columns that writes, imports and outcomes set. Those about decisions are apart. */
export type IdentityTable = Declared['identity'];

/**
 * The rows that are counted. `live`: live identities; `unclaimed`: those of them that no IdP has written; `dead`: tombstones;
 * `group`: groups.
 */
type CounterKind = 'live' | 'unclaimed' | 'dead' | 'group';

type MappingSource = 'file' | 'page' | 'command' | 'default';

export type ExchangeTable = Tables['exchange'];

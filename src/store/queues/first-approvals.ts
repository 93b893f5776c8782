import type { Kysely } from 'kysely';
import type { Approval, ApprovalCount, VersionOfPerson } from '../../provisioning/holds/holds.ts';
import type { HoldCause } from '../../provisioning/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { batches, parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { type DecisionColumns, groupAlike, isDecided, selectHeld } from './hold-decisions.ts';

/** An approval as it is stored, and the version and cause that it is about: a later write of the IdP makes it void. */
interface StoredApproval extends Approval {
  version: number;
  cause: HoldCause;
}

/** An approval by an admin where each needs a second one. */
interface ApprovalRequest {
  scope: Scope;
  by: string;
  now: number;
}

interface ApprovedSelection {
  cause: HoldCause | undefined;
  people: readonly VersionOfPerson[];
}

/** What an approval means where each needs a second one. */
interface ApprovedTwice {
  /** The people whom another admin has approved before. */
  ready: VersionOfPerson[];
  /** The number of people who need a second approval now. */
  requested: number;
  /** The number of people whom the same admin has approved before. */
  repeated: number;
}

interface ApprovalColumns extends DecisionColumns {
  first_approval: string | null;
}

/** Returns the store of approvals where each needs a second one. */
export function firstApprovals(database: Database) {
  const { db, scopeOf } = database;
  return {
    /** Saves the approval of these people by an admin, where each needs a second one: of those who are held for the cause, if there is one. */
    approvePeople: (connection: string, selection: ApprovedSelection, by: string, now: number) =>
      approvePeople(database, { scope: scopeOf(connection), by, now }, selection),
    /** Saves the approval of a held change of rules by an admin, where it needs a second one. */
    approveRulesChange: (connection: string, generation: number, by: string, now: number) =>
      approveRulesChange(database, { scope: scopeOf(connection), by, now }, generation),
    /** Returns the approval of a person that needs a second one; undefined if there is none. */
    findApproval: async (connection: string, id: string): Promise<Approval | undefined> => {
      const held = selectHeld(db, { scope: scopeOf(connection) }).where('id', '=', id);
      const row = await held.select(['version', 'hold_cause', 'first_approval']).executeTakeFirst();
      return row && approvalOf(row);
    },
    /** Counts the approvals of people that need a second one. */
    countApprovals: () => countApprovals(db),
  };
}

/** Returns the valid approval of a row; undefined if there is none. */
export function approvalOf({ first_approval, version, hold_cause }: Omit<ApprovalColumns, 'decision'>) {
  if (first_approval === null) return undefined;
  const { by, at, ...about } = parseJson<StoredApproval>(first_approval);
  return about.version === version && about.cause === hold_cause ? { by, at } : undefined;
}

/** Saves the approval of people who have none, and finds those whom another admin has approved. */
async function approvePeople(
  { transaction }: Database,
  request: ApprovalRequest,
  { cause, people }: ApprovedSelection,
): Promise<ApprovedTwice> {
  const versions = new Map(people.map(({ id, version }) => [id, version]));
  const result: ApprovedTwice = { ready: [], requested: 0, repeated: 0 };
  for (const batch of batches([...versions.keys()]))
    await transaction(async (tx) => {
      const rows = await selectHeld(tx, { scope: request.scope, cause })
        .select(['id', 'version', 'decision', 'hold_cause', 'first_approval'])
        .where('id', 'in', batch)
        .execute();
      const held = rows.filter((row) => versions.get(row.id) === row.version && !isApproved(row));
      const first = held.filter((row) => approvalOf(row) === undefined);
      const others = held.filter((row) => (approvalOf(row)?.by ?? request.by) !== request.by);
      result.ready.push(...others.map(({ id, version }) => ({ id, version })));
      result.requested += first.length;
      result.repeated += held.length - first.length - others.length;
      await saveApprovals(tx, request, first);
    });
  return result;
}

function isApproved(row: DecisionColumns): boolean {
  return isDecided(row) && parseJson<{ answer: string }>(row.decision).answer === 'approved';
}

async function saveApprovals(
  tx: Kysely<Tables>,
  { scope, by, now: at }: ApprovalRequest,
  rows: (DecisionColumns & { id: string })[],
): Promise<void> {
  for (const alike of groupAlike(rows)) {
    const [{ version, hold_cause: cause } = { version: 0, hold_cause: null }] = alike;
    const ids = alike.map(({ id }) => id);
    await tx
      .updateTable('identity')
      .set({ first_approval: toJson({ version, cause, by, at }) })
      .where(inScope(scope))
      .where('id', 'in', ids)
      .execute();
  }
}

/**
 * Saves the approval of a change of rules that has none. `ready`: another admin has approved it before; `gone`: it needs no decision any
 * more.
 */
function approveRulesChange(
  { transaction }: Database,
  { scope, by, now: at }: ApprovalRequest,
  generation: number,
): Promise<'ready' | 'requested' | 'repeated' | 'gone'> {
  return transaction(async (tx) => {
    const selected = tx.selectFrom('rules_change').selectAll().where(inScope(scope));
    const row = await selected.where('generation', '=', generation).executeTakeFirst();
    if (!row || row.answer === 'approved') return 'gone';
    const first = approvalOfRules(row);
    if (first) return first.by === by ? 'repeated' : 'ready';
    const approval: StoredApproval = { version: generation, cause: 'rules', by, at };
    await tx
      .updateTable('rules_change')
      .set({ first_approval: toJson(approval) })
      .where(inScope(scope))
      .where('generation', '=', generation)
      .execute();
    return 'requested';
  });
}

/** Returns the valid approval of a change of rules; undefined if there is none. */
export function approvalOfRules({ first_approval, generation }: Tables['rules_change']) {
  return approvalOf({ first_approval, version: generation, hold_cause: 'rules' });
}

/** Counts the approvals of people that need a second one, by connection, cause and admin, each with the time of the first. */
async function countApprovals(db: Kysely<Tables>): Promise<ApprovalCount[]> {
  const rows = await selectHeld(db, {})
    .select(['connection_id', 'version', 'decision', 'hold_cause', 'first_approval'])
    .where('first_approval', 'is not', null)
    .execute();
  const counts = new Map<string, ApprovalCount>();
  for (const row of rows) {
    const approval = isDecided(row) ? undefined : approvalOf(row);
    if (!approval) continue;
    const about = { connection: row.connection_id, cause: row.hold_cause as HoldCause }; // The column contains only hold causes.
    const key = toJson([about, approval.by]);
    const { people, at } = counts.get(key) ?? { people: 0, at: approval.at };
    counts.set(key, { ...about, by: approval.by, at: Math.min(at, approval.at), people: people + 1 });
  }
  return [...counts.values()];
}

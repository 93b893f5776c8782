import { z } from 'zod';
import { holdAnswers, holdCauses } from '../../model/identity.ts';
import type { AuditLog } from '../../store/credentials/audit-log.ts';
import type { DecisionProgress } from '../../store/queues/hold-decisions.ts';
import type { Holds } from '../../store/queues/holds.ts';

/** A decision is looked for during this time, in milliseconds. */
const SINCE_MS = 24 * 60 * 60_000;
const MAX_ENTRIES = 50;

/** The action of decisions about held changes in the audit log. */
export const DECIDED = 'decideHolds';

/** The details of a decision in the audit log. */
const details = z.object({
  connection: z.string(),
  cause: z.enum(holdCauses),
  answer: z.enum(holdAnswers),
  decision: z.int(),
});

/** A decision that is being carried out. */
export type OpenDecision = z.output<typeof details> & DecisionProgress & { by: string };

interface OpenDecisionDeps {
  audit: Pick<AuditLog, 'list'>;
  holds: Pick<Holds, 'readProgress'>;
  now: number;
}

/** Lists the decisions of the last day about these connections that are not carried out for everybody yet, the newest first. */
export async function listOpenDecisions(
  { audit, holds, now }: OpenDecisionDeps,
  connections: string[],
): Promise<OpenDecision[]> {
  const entries = await audit.list({ action: DECIDED, since: now - SINCE_MS, limit: MAX_ENTRIES });
  const open: OpenDecision[] = [];
  for (const entry of entries) {
    const { data } = details.safeParse(entry.details);
    if (!data || !connections.includes(data.connection)) continue;
    const progress = await holds.readProgress(data.connection, data.decision);
    if (progress.left > 0) open.push({ ...data, ...progress, by: entry.actor });
  }
  return open;
}

import { managerValuesDigest } from '../../translator/manager-attributes.ts';
import { type ReconcileContext, type ReconcileResult, withProgress } from './context.ts';
import { type Program, perform } from './effects.ts';
import { referenceValuesOf } from './notify-dependents.ts';

/**
 * Makes the people who report to the user dirty, if what the rules read of the user as a manager has changed since they were last made
 * dirty for it. The result remembers that, so that no change is forgotten when a process ends.
 */
export function* tellReports(
  { identity, rulesSnapshot }: Pick<ReconcileContext, 'identity' | 'rulesSnapshot'>,
  result: ReconcileResult,
): Program<ReconcileResult> {
  const managerValues = managerValuesDigest(rulesSnapshot.rules, identity.desired);
  if (managerValues === identity.progress.managerValues) return result;
  if (managerValues !== undefined) {
    const referrers = yield* perform('findReferrers', referenceValuesOf(identity));
    const reports = referrers.filter((id) => id !== identity.id);
    if (reports.length > 0) yield* perform('markReportsDirty', reports);
  }
  return { ...result, draft: withProgress(result.draft, { managerValues }) };
}

import { managerValuesDigest, namingValues } from '../../translator/manager-attributes.ts';
import { isSearchedAttribute } from '../../translator/mapping/manager-settings.ts';
import { type ReconcileContext, type ReconcileResult, withProgress } from './context.ts';
import { type Program, perform } from './effects.ts';
import { referenceValuesOf } from './run/notify-dependents.ts';

/**
 * Makes the people who report to the user dirty, if what the rules read of the user as a manager has changed since they were last made
 * dirty for it. The result remembers that, so that no change is forgotten when a process ends.
 */
export function* tellReports(
  { identity, rulesSnapshot }: Pick<ReconcileContext, 'identity' | 'rulesSnapshot'>,
  result: ReconcileResult,
): Program<ReconcileResult> {
  const managerValues = managerValuesDigest(rulesSnapshot.rules, identity);
  if (managerValues === identity.progress.managerValues) return result;
  if (managerValues !== undefined) {
    const { rules } = rulesSnapshot;
    const values = namingValues(rules, identity.desired);
    const attribute = rules.mapping.manager?.by;
    // A report that names the user meanwhile has saved the reference before it searches, so that one of the two finds the other.
    if (attribute !== undefined && !isSearchedAttribute(attribute))
      yield* perform('saveNamingValues', { attribute, values });
    const referrers = yield* perform('findReferrers', [...referenceValuesOf(identity), ...values]);
    const reports = referrers.filter((id) => id !== identity.id);
    if (reports.length > 0) yield* perform('markReportsDirty', reports);
  }
  return { ...result, draft: withProgress(result.draft, { managerValues }) };
}

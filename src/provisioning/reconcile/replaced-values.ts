import type { Plan } from '../../translator/plan.ts';
import { replacedAfter, valuesToPutBack, withReplaced } from '../../translator/replaced.ts';
import type { FieldKey } from '../../translator/translation.ts';
import {
  type OutcomeDraft,
  type ReconcileContext,
  type SendableFields,
  type WantedFields,
  withProgress,
} from './context.ts';

// The values that the bridge has replaced in the travel service, and those that an admin has asked to be put back with an earlier mapping
// (docs/architecture.md, The rules of the plan).

/** Adds the replaced values that are put back, if the rules in force ask for it. */
export function withPutBack(
  { rulesSnapshot: { rules, putBackSince: since } }: ReconcileContext,
  { draft, fields }: SendableFields,
): SendableFields {
  const { observed, applied, progress } = draft;
  if (since === undefined || !observed) return { draft, fields };
  const values = valuesToPutBack(progress.replaced, { wanted: fields, applied, observed, rules, since });
  const putBack = Object.entries(values).map(
    ([key, value]) => [key, { kind: 'putBack', value, source: null }] as const,
  );
  return { draft, fields: { ...fields, ...Object.fromEntries(putBack) } };
}

/** Keeps the values that a PATCH is about to replace. They are committed with its announcement. */
export function withReplacedKept(
  { rulesSnapshot: { generation } }: ReconcileContext,
  draft: OutcomeDraft,
  next: Plan,
): OutcomeDraft {
  const { observed, applied, progress } = draft;
  if (!observed) return draft;
  const replaced = withReplaced(progress.replaced, next, { applied, observed, generation });
  return replaced === progress.replaced ? draft : withProgress(draft, { replaced });
}

/** Keeps the replaced values that can still be put back, after the last call of a reconciliation. */
export function withReplacedSettled(
  { rulesSnapshot: { rules, putBackSince: since } }: ReconcileContext,
  draft: OutcomeDraft,
  { fields: wanted, released }: { fields: WantedFields; released: readonly FieldKey[] },
): OutcomeDraft {
  const { applied, refused, progress } = draft;
  if (!progress.replaced) return draft;
  const replaced = replacedAfter(progress.replaced, { wanted, applied, released, refused, rules, since });
  return withProgress(draft, { replaced });
}

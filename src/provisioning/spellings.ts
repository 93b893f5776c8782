import { mayBeRespelled } from '../translator/confirmation.ts';
import { isDrift } from '../translator/plan.ts';
import type { AppliedFields, FieldKey } from '../translator/translation.ts';
import { readField } from '../translator/traveler.ts';
import { isEqualJson } from '../translator/values.ts';
import type { SuspectedSpelling } from './identity.ts';
import type { OutcomeDraft, ReconcileContext } from './reconcile-context.ts';

/** A check that is later than this teaches nothing, because somebody may have changed the text again meanwhile; in milliseconds. */
const IN_TIME_MS = 60_000;

/**
 * Records the texts that a read showed in another form than the answer of a PATCH shows now, and an earlier answer showed before. If a read
 * after `lateMs` shows the same other form again, it is the spelling of reads, and no change by somebody (docs/architecture.md, Answers of the
 * travel API). `before` is the draft before the PATCH.
 */
export function withSuspectedSpellings(
  context: ReconcileContext,
  draft: OutcomeDraft,
  before: OutcomeDraft,
): OutcomeDraft {
  if (!before.observed || !draft.observed) return draft;
  const suspected: Record<FieldKey, SuspectedSpelling> = { ...draft.progress.suspectedSpellings };
  const at = context.now() + context.connection.lateMs;
  for (const [key, entry] of Object.entries(before.applied)) {
    if (!(key in draft.applied) || !mayBeRespelled(key)) continue;
    const shown = readField(before.observed, key) ?? null;
    const answered = readField(draft.observed, key) ?? null;
    if (isEqualJson(answered, entry.answered) && isDrift(key, entry, shown))
      suspected[key] = { value: shown, at };
  }
  return withSuspected(draft, suspected);
}

/** True if the traveler must be read because the time of a check has come. */
export function isSpellingCheckDue({ now }: ReconcileContext, { progress }: OutcomeDraft): boolean {
  return Object.values(progress.suspectedSpellings ?? {}).some(({ at }) => at <= now());
}

/** Compares a traveler that was just read with the suspected spellings whose time has come, and remembers those that it shows again. */
export function withLearnedSpellings({ now }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed || !progress.suspectedSpellings) return draft;
  const applied: AppliedFields = { ...draft.applied };
  const suspected: Record<FieldKey, SuspectedSpelling> = {};
  for (const [key, { value, at }] of Object.entries(progress.suspectedSpellings)) {
    const entry = applied[key];
    if (!entry) continue;
    if (at > now()) suspected[key] = { value, at };
    else if (now() - at < IN_TIME_MS && isEqualJson(readField(observed, key) ?? null, value))
      applied[key] = { ...entry, read: value };
  }
  return withSuspected({ ...draft, applied }, suspected);
}

/** Returns the draft of an attempt that has reached a state without the checks that it could not make. */
export function withoutDueSpellings(draft: OutcomeDraft, now: number): OutcomeDraft {
  const all = Object.entries(draft.progress.suspectedSpellings ?? {});
  return withSuspected(draft, Object.fromEntries(all.filter(([, { at }]) => at > now)));
}

function withSuspected(draft: OutcomeDraft, suspected: Record<FieldKey, SuspectedSpelling>): OutcomeDraft {
  const { suspectedSpellings: _, ...progress } = draft.progress;
  const isAny = Object.keys(suspected).length > 0;
  return { ...draft, progress: isAny ? { ...progress, suspectedSpellings: suspected } : progress };
}

import type { JsonObject } from '../schema/resource.ts';
import { type Plan, type RefusedPatch, type Unsendable, unsendableValues } from '../translator/plan.ts';
import type { Finding } from '../translator/result.ts';
import type { CustomFieldValue, TravelUser } from '../translator/travel-user.ts';
import type { WithAddress } from './email-conflicts.ts';
import { findings } from './findings.ts';
import type { TravelFailure } from './ports.ts';
import { type Draft, type Task, withFinding } from './task.ts';

/**
 * The travel API refuses to take back values of disabled custom fields, which a merge patch of `customFields` carries
 * along. They are left out of the next request, and lost, as merge patch replaces the array as a whole (RFC 7396).
 * Answers these values, and the failure without what named them; undefined when nothing else was refused.
 */
export async function lostValues(
  task: Task,
  failure: TravelFailure,
  sent: { plan: Plan; body: JsonObject; current: TravelUser | undefined },
): Promise<{ lost: CustomFieldValue[]; failure: TravelFailure | undefined }> {
  const { plan, body, current } = sent;
  if (failure.kind !== 'invalid' || body.customFields === undefined) return { lost: [], failure };
  const refused = {
    names: failure.fields.map(({ field }) => field),
    body,
    planned: [...Object.keys(plan.set), ...plan.remove],
    current,
  };
  const known = unsendableValues({ ...refused, customFields: task.basis.lookups.customFields });
  const { values, names } = known.isDoubtful ? await askedAnew(task, refused, known) : known;
  if (values.length === 0) return { lost: [], failure };
  const fields = failure.fields.filter(({ field }) => names.includes(field));
  return { lost: values, failure: fields.length > 0 ? { ...failure, fields } : undefined };
}

/** Judges by custom fields that were read after the refusal: one may have been disabled a moment ago. */
async function askedAnew(
  { connection: { lookups } }: Task,
  refused: Omit<RefusedPatch, 'customFields'>,
  known: Unsendable,
): Promise<Unsendable> {
  lookups.expire();
  const fresh = await lookups.refresh();
  return fresh.kind === 'ok'
    ? unsendableValues({ ...refused, customFields: fresh.value.customFields })
    : known;
}

/**
 * After a patch without these values was taken: none of them is applied any more, each is a finding, and none is wanted
 * until it is translated anew, with the custom fields as they are now.
 */
export function notingLost({ draft, fields }: WithAddress, lost: readonly CustomFieldValue[]): WithAddress {
  if (lost.length === 0) return { draft, fields };
  const keys = lost.map(({ customFieldId }) => `customFields.${customFieldId}`);
  const applied = without(draft.applied, keys);
  return {
    draft: lost.map(findings.customFieldLost).reduce(withFinding, { ...draft, applied }),
    fields: without(fields, keys),
  };
}

function without<T>(all: Record<string, T>, keys: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key)));
}

/** Earlier findings of lost values, which stay until the traveler has a value in that field again. */
export function lostBefore({ identity }: Task, draft: Draft): Finding[] {
  return identity.findings.filter(({ code, field }) => {
    const hasValue = draft.observed?.customFields?.some(
      (one) => `customFields.${one.customFieldId}` === field,
    );
    const isTold = draft.findings.some((finding) => finding.code === code && finding.field === field);
    return code === 'customFieldLost' && !hasValue && !isTold;
  });
}

import type { JsonObject } from '../schema/resource.ts';
import { unsendableValues } from '../translator/merge-patch.ts';
import type { Plan } from '../translator/plan.ts';
import type { Finding } from '../translator/result.ts';
import type { CustomFieldValue, TravelUser } from '../translator/travel-user.ts';
import { findings } from './findings.ts';
import type { TravelFailure } from './ports.ts';
import { type Draft, noting, type Task } from './task.ts';

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
  const lookups = await task.connection.lookups.refresh();
  if (lookups.kind !== 'ok') return { lost: [], failure };
  const { values, names } = unsendableValues({
    names: failure.fields.map(({ field }) => field),
    body,
    planned: [...Object.keys(plan.set), ...plan.remove],
    current,
    customFields: lookups.value.customFields,
  });
  if (values.length === 0) return { lost: [], failure };
  const fields = failure.fields.filter(({ field }) => names.includes(field));
  return { lost: values, failure: fields.length > 0 ? { ...failure, fields } : undefined };
}

/** The draft after a patch without these values was taken: none of them is applied any more, and each is a finding. */
export function notingLost(draft: Draft, lost: readonly CustomFieldValue[]): Draft {
  if (lost.length === 0) return draft;
  const keys = lost.map(({ customFieldId }) => `customFields.${customFieldId}`);
  const applied = Object.fromEntries(Object.entries(draft.applied).filter(([key]) => !keys.includes(key)));
  return lost.map(findings.customFieldLost).reduce(noting, { ...draft, applied });
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

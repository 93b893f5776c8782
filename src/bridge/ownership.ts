import type { Json } from '../schema/resource.ts';
import type { Wanted } from '../translator/result.ts';
import { same } from '../translator/same.ts';
import type { Addressed } from './address.ts';
import { isPrivilegedRole } from './guard.ts';
import type { Draft, Fields, Task } from './task.ts';

/**
 * What is wanted of a person who was imported and then changed by a PATCH. Only what the IdP has written since is the IdP's:
 * a field that the rules still make the same of as at the import is left alone, and one that they make nothing of any more is
 * removed, as if it had been sent.
 */
export function withBaseline({ translation, baseline }: Task, draft: Draft): Addressed {
  if (!baseline) return { draft, fields: translation.fields };
  const fields: Fields = { ...translation.fields };
  const applied = { ...draft.applied };
  for (const key of new Set([...Object.keys(fields), ...Object.keys(baseline)])) {
    if (key in applied) continue;
    const [before, now] = [baseline[key], fields[key]];
    if (isSame(before, now)) fields[key] = { kind: 'kept' };
    // The mapping did not give an imported administrator the role, so it is not the IdP's to take away.
    else if (before?.kind === 'value' && now?.kind !== 'value' && key !== 'email' && !isPrivilegedRole(key))
      applied[key] = { sent: before.value, answered: before.value, source: before.source };
  }
  return { draft: { ...draft, applied }, fields };
}

function isSame(one: Wanted | undefined, other: Wanted | undefined): boolean {
  return (one?.kind ?? 'absent') === (other?.kind ?? 'absent') && same(compared(one), compared(other));
}

function compared(wanted: Wanted | undefined): Json {
  if (wanted?.kind === 'value') return [wanted.value, wanted.source];
  return wanted?.kind === 'unresolved' ? wanted.source : null;
}

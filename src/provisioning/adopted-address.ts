import { foldCase } from '../schema/case-fold.ts';
import { expandTrace } from '../translator/trace.ts';
import type { Translation } from '../translator/translation.ts';
import type { ReconcileContext, SendableFields } from './reconcile-context.ts';

/**
 * Keeps the address of a traveler whom an IdP has adopted by a userName without sending an address: the travel service knows
 * where the person reads mail, and a userName may be spelled another way, or be none of their addresses. The address is sent
 * once the IdP states one, or changes the userName.
 */
export function withAdoptedAddress(
  { identity: { desired }, translation }: ReconcileContext,
  { draft, fields }: SendableFields,
): SendableFields {
  const { applied, progress } = draft;
  const userName = typeof desired['userName'] === 'string' ? desired['userName'] : '';
  // The bridge owns no field of a traveler that it has neither created nor changed.
  const isAdoption = Object.keys(applied).length === 0;
  const adoptedAs = progress.adoptedAs ?? (isAdoption ? userName : undefined);
  if (adoptedAs === undefined) return { draft, fields };
  const adopted = { ...draft, progress: { ...progress, adoptedAs } };
  const isKept =
    !('email' in applied) && foldCase(adoptedAs) === foldCase(userName) && isEmailFromUserName(translation);
  return { draft: adopted, fields: isKept ? { ...fields, email: { kind: 'kept' } } : fields };
}

/** True if the address comes from the userName, for want of another one. A rule of the mapping that names the userName states it. */
function isEmailFromUserName({ trace }: Translation): boolean {
  return expandTrace(trace).some(
    ({ field, origin, rule, outcome }) =>
      field === 'email' && origin === 'default' && rule === 'userName' && outcome === 'set',
  );
}

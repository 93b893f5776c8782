import { ALL_FIELDS, type Identity, isConfirmed, type Origin } from '../../../model/identity.ts';
import { isStated, type StatedPath } from '../../../schema/stated-attributes.ts';
import { doubted } from '../../../translator/plan/field-records.ts';

// People of a restored backup (docs/architecture.md, A restored backup). They are as newly imported: the traveler is the truth, and
// `Origin.baseline` has the user as in the backup.

type Restored = Pick<Identity, 'origin' | 'progress'>;

/** True for a person of a restored backup whose traveler has not been found to agree with it. */
export function isFromBackup({ origin, progress }: Restored): boolean {
  return origin.stated !== undefined && !progress.written?.includes(ALL_FIELDS);
}

/** True while only the backup says whether the person has access: neither the IdP nor the traveler has confirmed it. */
export function isAccessFromBackup(identity: Restored): boolean {
  const { stated = [] } = identity.origin;
  return isFromBackup(identity) && !isStated(stated, ['active']) && !isConfirmed(identity, 'archived');
}

/** Returns the identity with doubts about the fields that were sent before the backup: what the traveler has is not known. */
export function withBackupDoubted(identity: Identity): Identity {
  if (!isFromBackup(identity)) return identity;
  const unconfirmed = Object.keys(identity.applied).filter((key) => !isConfirmed(identity, key));
  const applied = doubted(identity.applied, unconfirmed);
  if (unconfirmed.includes('archived')) delete applied['archived'];
  return { ...identity, applied };
}

/** True if a request states something of a restored person that was known from the backup only. */
export function statesAnew(identity: Restored, paths: readonly StatedPath[]): boolean {
  const { stated = [] } = identity.origin;
  return isFromBackup(identity) && paths.some((path) => !isStated(stated, path));
}

/** Returns the origin after a request of the IdP that states these attributes. */
export function originAfterStatement({ origin }: Restored, paths: readonly StatedPath[]): Origin {
  const { stated } = origin;
  if (!stated) return origin;
  return { ...origin, stated: [...stated, ...paths.filter((path) => !isStated(stated, path))] };
}

import type { Identity } from './identity.ts';

/**
 * True when a person is not the one who left the tombstone. Two externalIds decide; without them, two who were live at
 * the same time are two people. `isNew`: the person is just being created, whatever the wall clock says.
 */
export function isSomebodyElse(
  tombstone: Pick<Identity, 'desired' | 'origin' | 'deletedAt' | 'connection'>,
  person: Pick<Identity, 'desired' | 'createdAt' | 'connection'>,
  { isNew }: { isNew: boolean } = { isNew: false },
): boolean {
  // An externalId belongs to one IdP.
  const isSameIdp = tombstone.connection === person.connection;
  const left = isSameIdp ? leaverExternalId(tombstone) : undefined;
  const { externalId } = person.desired;
  if (left !== undefined && typeof externalId === 'string') return left !== externalId;
  return isSameIdp && !isNew && person.createdAt < (tombstone.deletedAt ?? 0);
}

/** The externalId that a leaver had when they left. */
export function leaverExternalId({
  desired,
  origin,
}: Pick<Identity, 'desired' | 'origin'>): string | undefined {
  if (origin.leftAs !== undefined) return origin.leftAs;
  return typeof desired.externalId === 'string' ? desired.externalId : undefined;
}

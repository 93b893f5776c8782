import type { HoldGroup, ListedHeldPerson } from '../../../../operations/holds/holds.ts';

/** The causes of holds as headings. */
export const causeNames: Record<HoldGroup['cause'], string> = {
  safetyValve: 'Departures',
  guarded: 'Administrators of the travel service',
  neverProvisioned: 'Deleted, but never sent',
};

/** The access and the link of a traveler before and after an approval. */
export const changes: Record<ListedHeldPerson['effect'], readonly [before: string, after: string]> = {
  archived: ['has access', 'archived, without access'],
  deleted: ['has access', 'deleted'],
  changed: ['not linked', 'linked, and as the identity provider wants'],
};

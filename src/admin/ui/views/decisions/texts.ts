import type { HoldGroup } from '../../../../operations/holds/holds.ts';

/** The causes of holds as headings. */
export const causeNames: Record<HoldGroup['cause'], string> = {
  safetyValve: 'Safety valve',
  guarded: 'Administrators',
  neverProvisioned: 'People never sent',
};

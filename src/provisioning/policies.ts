/** What a connection decides about travelers, apart from their fields. */
export interface Policies {
  /** What becomes of a joiner whose address an unlinked traveler has. */
  onExistingUser: 'link' | 'refuse';
  /** What becomes of a leaver's traveler when somebody with another externalId takes the place. */
  onReturn: 'revive' | 'separate' | 'hold';
  /** What a SCIM DELETE does to the traveler. A deactivation always archives, so that it can be undone. */
  deprovision: 'archive' | 'delete';
  /** What becomes of a change that was made to an owned field in the travel service. */
  drift: 'report' | 'correct';
  /** True: an archived leaver gives their address up when somebody else wants it. */
  reclaimEmail: boolean;
  /** How many people may leave within a time; undefined: as many as will. */
  safetyValve: SafetyValve | undefined;
}

/** What holds where nothing else is said. */
export const defaultPolicies: Policies = {
  onExistingUser: 'link',
  onReturn: 'revive',
  deprovision: 'archive',
  drift: 'report',
  reclaimEmail: false,
  safetyValve: { share: 0.05, minimum: 20, windowMs: 3_600_000 },
};

/** Beyond the larger of the two bounds, archives and deletions are held for an admin. */
export interface SafetyValve {
  /** Of the active people, from 0 to 1. */
  share: number;
  /** A number of people. */
  minimum: number;
  /** In milliseconds. */
  windowMs: number;
}

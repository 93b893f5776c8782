/** The settings of a connection that decide what happens to its travelers, apart from the mapping of fields. */
export interface Policies {
  /**
   * The treatment of a new user whose email address an unlinked traveler has: link the two, or refuse to create the
   * user.
   */
  onExistingUser: 'link' | 'refuse';
  /**
   * The treatment of another person who takes the place of a leaver: create a separate traveler, reuse the traveler without the
   * leaver's values, or hold the return for an admin.
   */
  onReturn: 'separate' | 'revive' | 'hold';
  /**
   * The effect of a SCIM DELETE on the traveler. A deactivation, in contrast, always archives, so that it can be
   * undone.
   */
  deprovision: 'archive' | 'delete';
  /** The treatment of an owned field that is changed in the travel service: report it as a finding, or overwrite it. */
  drift: 'report' | 'correct';
  /** If true, an archived traveler gives up its email address when another user needs it. */
  reclaimEmail: boolean;
  /** Limits how many people may leave within a time window; undefined means no limit. */
  safetyValve: SafetyValve | undefined;
}

/** The default policies, for connections whose settings contain none. */
export const defaultPolicies: Policies = {
  onExistingUser: 'link',
  onReturn: 'separate',
  deprovision: 'archive',
  drift: 'report',
  reclaimEmail: false,
  safetyValve: { share: 0.05, minimum: 20, windowMs: 3_600_000 },
};

/**
 * Once more people leave within the window than the larger of the two limits, further archives and deletions are held for
 * an admin.
 */
export interface SafetyValve {
  /** The limit as a share of the active people, from 0 to 1. */
  share: number;
  /** The limit as a number of people. */
  minimum: number;
  /** The length of the time window, in milliseconds. */
  windowMs: number;
}

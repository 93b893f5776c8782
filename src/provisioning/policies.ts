/** The settings of a connection that decide what happens to its travelers, apart from the mapping of fields. */
export interface Policies {
  /**
   * The treatment of a new user whose email address an unlinked traveler has: link the two, or refuse to create the
   * user.
   */
  onExistingUser: 'link' | 'refuse';
  /**
   * `list`: lists show unclaimed people. `match`: only a filter that names a person finds an unclaimed one, so that a client
   * that removes whom it does not know sees nobody to remove.
   */
  existingPeople: 'list' | 'match';
  /**
   * The effect of a DELETE of an unclaimed person whom the connection has neither written nor found by a filter: the client
   * removes somebody whom it never knew. `hold`: the traveler is left alone until an admin approves.
   */
  unclaimedDelete: 'hold' | 'archive';
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
  /** The treatment of a manager whom the IdP has deactivated: the manager of the reports until they get another one, or left out. */
  inactiveManager: 'keep' | 'clear';
  /**
   * The treatment of a role that a traveler had before the IdP granted it: it stays when the IdP takes it away, or it
   * belongs to the IdP from the grant on.
   */
  preexistingRoles: 'keep' | 'adopt';
  /** If true, an archived traveler gives up its email address when another user needs it. */
  reclaimEmail: boolean;
  /** Limits how many people may leave within a time window; undefined means no limit. */
  safetyValve: SafetyValve | undefined;
}

/** The default policies, for connections whose settings contain none. */
export const defaultPolicies: Policies = {
  onExistingUser: 'link',
  existingPeople: 'list',
  unclaimedDelete: 'hold',
  onReturn: 'separate',
  deprovision: 'archive',
  drift: 'report',
  inactiveManager: 'keep',
  preexistingRoles: 'keep',
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

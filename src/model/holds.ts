import type { Hold, HoldCause } from './identity.ts';

/** A person with a held change that an admin must approve or discard. */
export interface HeldPerson {
  connection: string;
  id: string;
  userName: string;
  /** The name for display; empty if the user has none. */
  name: string;
  hold: Hold;
  /** The version of the identity to which a decision applies. */
  version: number;
  /**
   * True if the IdP wants the person active. Approval archives the traveler of an inactive person, and archives or
   * deletes that of a deleted one.
   */
  isActive: boolean;
  isDeleted: boolean;
}

/** The number of held people of one connection for one cause. */
export interface HoldCount {
  connection: string;
  cause: HoldCause;
  count: number;
  /** The start of the oldest of these holds, in epoch milliseconds. */
  since: number;
}

/**
 * The reasons to alarm an operator although nothing is held. `unclearAnswer`: a gateway may answer in place of the travel API;
 * `notArchived`: the travel API has accepted a deactivation, and the traveler is active.
 */
export const alarmCauses = ['unclearAnswer', 'notArchived'] as const;

export type AlarmCause = (typeof alarmCauses)[number];

/** A number of people of one connection about whom an operator is alarmed. */
export interface AlarmCount extends Omit<HoldCount, 'cause'> {
  cause: HoldCause | AlarmCause;
}

/** The number of held people of one connection for one cause, by the change that the IdP requested. */
export interface RequestedChanges {
  connection: string;
  cause: HoldCause;
  change: number;
  deactivate: number;
  delete: number;
}

/** A version of a person's identity. */
export type VersionOfPerson = Pick<HeldPerson, 'id' | 'version'>;

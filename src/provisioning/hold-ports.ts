import type { Decision, Hold, HoldCause, Identity } from './identity.ts';
import type { SafetyValve } from './policies.ts';

/** A person with a held change that an admin must approve or discard. */
export interface HeldPerson {
  connection: string;
  id: string;
  userName: string;
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
  /** For the cause `rules`: the people that the change would affect, counted until the limit was passed. */
  count: number;
  /** The start of the oldest of these holds, in epoch milliseconds. */
  since: number;
}

/**
 * The reasons to alarm an operator although nothing is held. `unclearAnswer`: a gateway may answer in place of the travel API;
 * `notArchived`: the travel API has accepted a deactivation, and the traveler is active; `importMaximum`: an import has ended at its
 * maximum, which is the count.
 */
export const alarmCauses = ['unclearAnswer', 'notArchived', 'importMaximum'] as const;

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

/** A change of rules or lookups, and the decision about it. */
export interface HeldRules {
  connection: string;
  /** The generation of the changed rules and lookups. */
  generation: number;
  /** The number of people whom the change would affect; counting stops above the limit. */
  people: number;
  since: number;
  /** The admin's decision; undefined until there is one. A change that affects few people is approved automatically. */
  answer: Decision['answer'] | undefined;
  /** The people whom recent approved changes affected, with the time of the change. They count for the next changes. */
  recent: ReadonlyMap<string, number>;
}

/** A version of a person's identity. */
export type VersionOfPerson = Pick<HeldPerson, 'id' | 'version'>;

/** The store of held changes, and of the counts that decide whether a change must be held. */
export interface Holds {
  /** Returns the people whose held change has no decision yet, the longest waiting first, after one of them. */
  findHeldPeople(query: {
    connection?: string | undefined;
    cause?: HoldCause | undefined;
    after?: Pick<HeldPerson, 'connection' | 'id'> & { since: number };
    limit: number;
  }): Promise<HeldPerson[]>;
  /**
   * Counts held people for alarms and metrics. For a held change of rules, the number of people whom it would affect is
   * used.
   */
  countHolds(): Promise<HoldCount[]>;
  /** Counts the people whose held change has no decision yet by the change that the IdP requested. */
  countRequestedChanges(): Promise<RequestedChanges[]>;
  /** Returns all people of one group whose held change has no decision yet, with the version that a decision applies to. */
  findUndecided(connection: string, cause: HoldCause): Promise<VersionOfPerson[]>;
  /**
   * Saves the first decision about each of these people, if they are held for this cause at this version, and marks them
   * dirty. Returns the number of people whom the decision concerned: the others have a decision, or another version, by now.
   */
  decideUndecided(
    connection: string,
    selection: { cause: HoldCause; people: VersionOfPerson[] },
    answer: Decision['answer'],
    now: number,
    by?: string,
  ): Promise<number>;
  /**
   * Saves the first decision about a held change of rules and about the people whom it holds, as `decide` does. Returns
   * undefined if there is a decision already, or if another change has replaced this one.
   */
  decideRulesChange(
    connection: string,
    generation: number,
    answer: Decision['answer'],
    now: number,
    by?: string,
  ): Promise<number | undefined>;
  /**
   * Saves the decision of an admin, whose name is `by`, about held people at their present version, marks them dirty, and returns
   * their number. People whom no IdP has ever sent are live again if their deletion is discarded. The cause `rules` also decides the held change of rules; its approval marks every identity dirty that the rules affect.
   */
  decide(
    connection: string,
    selection: { ids: string[] } | { cause: HoldCause },
    answer: Decision['answer'],
    now: number,
    by?: string,
  ): Promise<number>;
  /**
   * Counts one departure against the safety valve. Returns false, and counts nothing, if more people would leave within
   * the window than the valve allows. A person already counted is admitted again.
   */
  admitDeparture(connection: string, id: string, valve: SafetyValve, now: number): Promise<boolean>;
  /** Returns the last change of rules that was checked: it is held, approved or discarded. */
  findHeldRules(connection: string): Promise<HeldRules | undefined>;
  /**
   * Saves the last checked change of rules in place of an earlier one, unless another replica has saved this or a later
   * one. If it is approved, people held because of the earlier one become dirty. Returns the stored change.
   */
  saveHeldRules(held: HeldRules): Promise<HeldRules>;
  /**
   * Returns claimed live identities that were last translated with an earlier generation of the rules, in the order of
   * their ids. The page begins after the id `place.after`.
   */
  findTranslatedEarlier(
    connection: string,
    generation: number,
    place: { after: string; limit: number },
  ): Promise<Identity[]>;
}

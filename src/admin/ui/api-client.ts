/* eslint-disable */
/* tslint:disable */
// @ts-nocheck
/*
 * ---------------------------------------------------------------
 * ## THIS FILE WAS GENERATED VIA SWAGGER-TYPESCRIPT-API        ##
 * ##                                                           ##
 * ## AUTHOR: acacode                                           ##
 * ## SOURCE: https://github.com/acacode/swagger-typescript-api ##
 * ---------------------------------------------------------------
 */

export interface Error {
  code:
    | "invalidRequest"
    | "notSignedIn"
    | "forbidden"
    | "invalidCsrfToken"
    | "notFound"
    | "methodNotAllowed"
    | "conflict"
    | "tooLarge"
    | "unsupportedMediaType"
    | "invalid"
    | "tooCostly"
    | "tooManyAttempts"
    | "busy"
    | "internalError"
    | "unavailable";
  /** For an admin */
  message: string;
  faults?: {
    field: string;
    message: string;
  }[];
}

export interface ConnectionHealth {
  id: string;
  /**
   * @min 0
   * @max 9007199254740991
   */
  people: number;
  /**
   * People with changes that are not in the travel service yet
   * @min 0
   * @max 9007199254740991
   */
  waiting: number;
  /** Of the identity provider, within a day */
  lastRequest?: LastExchange;
  /** Of the travel API, within a day */
  lastCall?: LastExchange;
  /** The reason for which this replica makes no calls of the travel API at present; absent while it does */
  pause?: "throttled" | "unanswered" | "unauthorized";
  /** The people whose changes wait because the database was restored, by what would be sent; absent while the connection is live */
  paused?: {
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    since: string;
    people: {
      /**
       * @min 0
       * @max 9007199254740991
       */
      create: number;
      /**
       * @min 0
       * @max 9007199254740991
       */
      reactivate: number;
      /**
       * @min 0
       * @max 9007199254740991
       */
      end: number;
      /**
       * @min 0
       * @max 9007199254740991
       */
      change: number;
    };
    /** True if an import has ended since the pause */
    isImported: boolean;
  };
  lastImport?: {
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    at: string;
    /**
     * @min 0
     * @max 9007199254740991
     */
    read: number;
    isIncomplete: boolean;
    /**
     * @min 0
     * @max 9007199254740991
     */
    maximum?: number;
  };
  /** off: the settings disable it; notFollowed: the travel API has none, or it was not read yet */
  feed: "off" | "followed" | "notFollowed";
  /**
   * Places of the mapping whose names the travel service does not know
   * @min 0
   * @max 9007199254740991
   */
  mappingFaults: number;
  /** Lists of the travel API that this replica can no longer read: it uses older values */
  staleLookups: string[];
}

export interface LastExchange {
  /** The position in the log of exchanges */
  position: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  method: string;
  path: string;
  /**
   * Absent if there was no response
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status?: number;
  error?: string;
  isFailed: boolean;
}

export interface DemoDay {
  /** interrupted: the process that played or removed it has ended; play it again, or remove it */
  phase: "none" | "playing" | "interrupted" | "played" | "removing";
  /**
   * Requests that were sent
   * @min 0
   * @max 9007199254740991
   */
  done: number;
  /**
   * All requests of the day
   * @min 0
   * @max 9007199254740991
   */
  total: number;
  /** The reason for which it cannot be played; absent if it can */
  refusal?: string;
}

export interface ActivityCounts {
  /**
   * The beginning of the span; it ends where the next one begins
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  from: string;
  /**
   * Of identity providers
   * @min 0
   * @max 9007199254740991
   */
  requests: number;
  /**
   * @min 0
   * @max 9007199254740991
   */
  requestErrors: number;
  /**
   * Of travel APIs
   * @min 0
   * @max 9007199254740991
   */
  calls: number;
  /**
   * @min 0
   * @max 9007199254740991
   */
  callErrors: number;
}

export interface Person {
  connection: string;
  id: string;
  userName: string;
  /** Empty if the user has none */
  name: string;
  state: "synced" | "dirty" | "pending" | "refused" | "held";
  holdCause?:
    | "safetyValve"
    | "guarded"
    | "neverProvisioned"
    | "return"
    | "rules";
  travelId?: string;
  isActive: boolean;
  isDeleted: boolean;
  findings: Finding[];
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastModified: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  nextAttemptAt?: string;
}

/** A value that was not set on the traveler, why, and what to do */
export interface Finding {
  /** The key of a field of the traveler; * for all */
  field: string;
  code: string;
  value?: unknown;
  reason: string;
  remedy: string;
  /** The place of the fault in the mapping */
  mappingPath?: string;
}

/** The people of a connection by state and finding */
export interface PeopleCounts {
  connection: string;
  /**
   * @min 0
   * @max 9007199254740991
   */
  people: number;
  states: {
    /**
     * @min 0
     * @max 9007199254740991
     */
    synced: number;
    /**
     * @min 0
     * @max 9007199254740991
     */
    dirty: number;
    /**
     * @min 0
     * @max 9007199254740991
     */
    pending: number;
    /**
     * @min 0
     * @max 9007199254740991
     */
    refused: number;
    /**
     * @min 0
     * @max 9007199254740991
     */
    held: number;
  };
  findings: {
    code: string;
    /**
     * @min 0
     * @max 9007199254740991
     */
    people: number;
  }[];
  /** True if only the first 20,000 people with findings were counted */
  areFindingsCut: boolean;
}

/** Everything that is stored about a person */
export interface PersonExplanation {
  connection: string;
  id: string;
  userName: string;
  name: string;
  isDeleted: boolean;
  state: "synced" | "dirty" | "pending" | "refused" | "held";
  verdict: {
    status:
      | "synced"
      | "archived"
      | "noTraveler"
      | "waiting"
      | "held"
      | "refused"
      | "imported";
    because?: string;
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    since?: string;
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    until?: string;
  };
  findings: Finding[];
  fields: PersonField[];
  references: {
    /** The value of the identity provider */
    raw: string;
    standing: "resolved" | "unknown" | "notLinked" | "self" | "circle";
    id?: string;
    userName?: string;
    travelId?: string;
  }[];
  /** The leaver in whose place the person is, with the row of the table of evidence */
  predecessor?: {
    verdict: "same" | "other" | "unclear";
    /**
     * @min 1
     * @max 7
     */
    row: number;
    effect: "separate" | "revived" | "held" | "passedOn" | "bothActive";
    connection: string;
    id?: string;
    travelId?: string;
  };
  travelId?: string;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  version: number;
  /**
   * The version that fields and findings belong to
   * @min -9007199254740991
   * @max 9007199254740991
   */
  reconciledVersion?: number;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  rulesGeneration: number;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  rulesInForce: number;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  attempts: number;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastModified: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  deletedAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  nextAttemptAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  checkAt?: string;
  /** The last requests about the person and calls for them, newest first */
  exchanges: {
    position: string;
    direction: "scim" | "oauth" | "travel";
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    at: string;
    ms: number;
    method: string;
    path: string;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    status?: number;
    error?: string;
    requestId?: string;
  }[];
  /** The names of ids in the fields */
  names: Partial<Record<string, string>>;
}

/** One field, from the identity provider to the traveler */
export interface PersonField {
  field: string;
  standing:
    | "same"
    | "drift"
    | "uncertain"
    | "refused"
    | "notSent"
    | "leftOut"
    | "imported"
    | "notApplied"
    | "unread"
    | "foreign";
  rules: AppliedRule[];
  /** The value of the identity provider */
  source?: unknown;
  /** The value that the rules made of it */
  wanted?: unknown;
  sent?: unknown;
  /** The answer of the travel API, if it is spelled differently */
  answered?: unknown;
  /** The value of the traveler as last read */
  observed?: unknown;
  refusal?: string;
}

/** The effect of one rule on one field, when the user was last translated */
export interface AppliedRule {
  origin: "file" | "collection" | "default";
  /** The input of the rule, with its transforms */
  rule: string;
  when?: string;
  /** The SCIM path that was read, if there are several */
  read?: string;
  outcome: "set" | "absent" | "unresolved" | "kept" | "skipped";
  before?: unknown;
  transformed?: unknown;
  after?: unknown;
  reason?: string;
  mappingPath?: string;
}

/** A mapping that is or was in force */
export interface MappingVersion {
  /**
   * The number of a version; 0 if no mapping was ever in force
   * @min 0
   * @max 9007199254740991
   */
  generation: number;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  appliedAt: string;
  /** command: an admin put it in force */
  source: "file" | "command" | "default";
  author?: string;
  /**
   * The number of its own rules
   * @min -9007199254740991
   * @max 9007199254740991
   */
  rules: number;
}

/** A faulty place of a mapping, and what to do */
export interface MappingFault {
  /** The JSON path in the mapping; $ is all of it */
  path: string;
  problem: string;
  remedy: string;
}

export type Schema0 =
  | string
  | number
  | boolean
  | null
  | Schema0[]
  | Partial<Record<string, Schema0>>;

export interface PreviewedField {
  field: string;
  outcome: "value" | "absent" | "unresolved" | "kept";
  value?: unknown;
  /** True if the mapping in force has another result */
  isChanged: boolean;
  /** The value that the mapping in force gives; absent if it gives none */
  inForce?: unknown;
}

/** The effect of one rule on one field */
export interface PreviewedRule {
  field: string;
  origin: "file" | "collection" | "default";
  rule: string;
  when?: string;
  read?: string;
  outcome: "set" | "absent" | "unresolved" | "kept" | "skipped";
  before?: unknown;
  transformed?: unknown;
  after?: unknown;
  reason?: string;
  mappingPath?: string;
}

/** A value that would not be set on the traveler, and why */
export interface PreviewedFinding {
  field: string;
  code: string;
  value?: unknown;
  reason: string;
  remedy: string;
  mappingPath?: string;
}

/** The changes that a mapping would make for all people */
export interface MappingPreview {
  /**
   * The number of people looked at
   * @min -9007199254740991
   * @max 9007199254740991
   */
  people: number;
  /** True if there was no time to look at everybody */
  isCut: boolean;
  /**
   * People for whose traveler a call would be sent
   * @min -9007199254740991
   * @max 9007199254740991
   */
  changed: number;
  /**
   * People who would get a traveler at last
   * @min -9007199254740991
   * @max 9007199254740991
   */
  created: number;
  /**
   * People who would get no traveler any more
   * @min -9007199254740991
   * @max 9007199254740991
   */
  pending: number;
  /** True if the change would be held for approval */
  needsApproval: boolean;
  fields: {
    field: string;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    set: number;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    cleared: number;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    again: number;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    released: number;
  }[];
  findings: {
    field: string;
    code: string;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    comes: number;
    /**
     * @min -9007199254740991
     * @max 9007199254740991
     */
    goes: number;
  }[];
  examples: {
    id: string;
    userName: string;
    outcome: "changed" | "created" | "pending";
    changes: {
      field: string;
      before?: unknown;
      after?: unknown;
      isAgain: boolean;
    }[];
    comes: PreviewedFinding[];
    goes: PreviewedFinding[];
  }[];
  /** The names of custom fields by key, and of the resources that the values contain by id */
  names: Partial<Record<string, string>>;
}

export interface MappingDifference {
  addedRules: unknown[];
  removedRules: unknown[];
  members: {
    name: string;
    before?: unknown;
    after?: unknown;
  }[];
}

/** The people of a connection who are held for one cause */
export interface HoldGroup {
  /**
   * @minLength 1
   * @maxLength 200
   */
  connection: string;
  /** safetyValve: too many people left at once; guarded: an administrator of the travel service; neverProvisioned: the identity provider has deleted somebody whom it had never sent; return: another person takes the place of a leaver; rules: other rules or lookups would change many people */
  cause: "safetyValve" | "guarded" | "neverProvisioned" | "return" | "rules";
  /**
   * @min 0
   * @max 9007199254740991
   */
  people: number;
  /** True if counting stopped at `people` */
  isMore: boolean;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  since: string;
  causedBy: string;
  why: string;
  ifDiscarded: string;
  /** The number of travelers by what an approval does to them */
  effects: HoldEffects;
  examples: HeldPerson[];
  /**
   * Of a change of rules that waits for a decision: its generation
   * @min -9007199254740991
   * @max 9007199254740991
   */
  generation?: number;
}

/** The number of travelers by what an approval does to them */
export interface HoldEffects {
  /**
   * @min 0
   * @max 9007199254740991
   */
  archived: number;
  /**
   * @min 0
   * @max 9007199254740991
   */
  deleted: number;
  /**
   * @min 0
   * @max 9007199254740991
   */
  changed: number;
}

export interface HeldPerson {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  userName: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  since: string;
  /**
   * The version that a decision applies to; a later write has another one
   * @min -9007199254740991
   * @max 9007199254740991
   */
  version: number;
  /** The change that the identity provider requested */
  wants: "change" | "deactivate" | "delete";
  /** The effect of an approval on the traveler */
  effect: "archived" | "deleted" | "changed";
}

/** A connection whose exchanges are logged */
export interface LoggedConnection {
  id: string;
  /** The origin of the travel API; absent for the embedded travel service */
  travelUrl?: string;
  /**
   * Until then the bodies of reads are kept too
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  readBodiesUntil?: string;
}

/** A request and its response, without headers and bodies */
export interface Exchange {
  /**
   * A whole number; an exchange that is logged later has a higher one
   * @pattern ^\d{1,15}$
   */
  position: string;
  /** scim: a request of an IdP to the bridge; oauth: a request for an access token; travel: a call of the bridge to the travel API */
  direction: "scim" | "oauth" | "travel";
  /**
   * The start of the request
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  /** The duration in milliseconds */
  ms: number;
  /** Absent if the request had no valid token */
  connection?: string;
  /** The user whom the exchange is about, without a name if there is no such user any more */
  person?: {
    id: string;
    name?: string;
  };
  /** A SCIM request and the travel calls that it caused have the same one */
  requestId?: string;
  method: string;
  /** Path and query; values that may be secrets are replaced by * */
  path: string;
  /** Of a SCIM request: the program of the IdP */
  userAgent?: string;
  /**
   * Absent if there was no response; 499: the client left
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status?: number;
  /** The code of the error, or why there is no response, e.g. ECONNREFUSED */
  error?: string;
}

/** A request and its response with what the log keeps of them */
export interface ExchangeDetail {
  /**
   * A whole number; an exchange that is logged later has a higher one
   * @pattern ^\d{1,15}$
   */
  position: string;
  /** scim: a request of an IdP to the bridge; oauth: a request for an access token; travel: a call of the bridge to the travel API */
  direction: "scim" | "oauth" | "travel";
  /**
   * The start of the request
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  /** The duration in milliseconds */
  ms: number;
  /** Absent if the request had no valid token */
  connection?: string;
  /** The user whom the exchange is about, without a name if there is no such user any more */
  person?: {
    id: string;
    name?: string;
  };
  /** A SCIM request and the travel calls that it caused have the same one */
  requestId?: string;
  method: string;
  /** Path and query; values that may be secrets are replaced by * */
  path: string;
  /** Of a SCIM request: the program of the IdP */
  userAgent?: string;
  /**
   * Absent if there was no response; 499: the client left
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status?: number;
  /** The code of the error, or why there is no response, e.g. ECONNREFUSED */
  error?: string;
  request: {
    /** The headers that the log keeps; no credentials */
    headers: Partial<Record<string, string>>;
    /** Absent if there was none, or if it was not kept. Secrets are replaced by * */
    body?: {
      text: string;
      isCut: boolean;
    };
  };
  response: {
    /** The headers that the log keeps; no credentials */
    headers: Partial<Record<string, string>>;
    /** Absent if there was none, or if it was not kept. Secrets are replaced by * */
    body?: {
      text: string;
      isCut: boolean;
    };
  };
  /** The other exchanges of the same SCIM request, the oldest first */
  related: Exchange[];
}

/** An identity provider that provisions a travel account */
export interface Connection {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /** The SCIM base URL as clients use it */
  scimUrl: string;
  /** `embedded`, or the URL of a travel API */
  travelApi: string;
  /** The policies for its travelers, in words */
  policies: string[];
  /** True if an environment variable gives it a token, which is in no list */
  hasEnvironmentToken: boolean;
}

/** A bearer token of an identity provider */
export interface ScimToken {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  name: string;
  connection: string;
  state: "active" | "expired" | "revoked";
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  expiresAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastUsedAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  revokedAt?: string;
}

/** A client that gets tokens at /oauth/token */
export interface OAuthClient {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  name: string;
  connection?: string;
  /** Instead of a connection: the admin on whose behalf it calls the travel service */
  travelAdmin?: string;
  authentication: "secret" | "keys";
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * The time of its last token
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastUsedAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  revokedAt?: string;
}

/** A request of an identity provider, answered or refused */
export interface Attempt {
  /** Its position in the log of exchanges */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  ms: number;
  method: string;
  path: string;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status?: number;
  /** Absent if the request had no valid token */
  connection?: string;
  /** A `scimType`, or why the token or client was refused, e.g. `expired credential` */
  error?: string;
  userAgent?: string;
}

/** A key of an integration that calls the travel API */
export interface TravelApiKey {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  name: string;
  /** The admin of the travel service on whose behalf it calls */
  email: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastUsedAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  revokedAt?: string;
}

export interface TravelWebhook {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  url: string;
  description?: string;
  disabled: boolean;
  /** Absent: every kind */
  events?: string[];
}

/** The delivery of an event to a webhook */
export interface TravelDelivery {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  eventId: string;
  kind: string;
  status: "pending" | "succeeded" | "failed" | "canceled";
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  nextAttemptAt?: string;
  attempts: TravelAttempt[];
}

/** One attempt to reach the endpoint of a webhook */
export interface TravelAttempt {
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  latencyMs: number;
  /**
   * The status of the response, if there was one
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status?: number;
  /** The reason for which the event does not count as delivered */
  error?: string;
}

/** A request to the travel API */
export interface TravelRequest {
  requestId: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  ms: number;
  method: string;
  path: string;
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status: number;
  /** The email address of the caller, or the id */
  user?: string;
  credential?: string;
  requestBody?: {
    text: string;
    /** True if only the beginning is kept */
    cut: boolean;
  };
  responseBody?: {
    text: string;
    /** True if only the beginning is kept */
    cut: boolean;
  };
}

export interface TravelEvent {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  kind: string;
  /** The resource after the change */
  data: Partial<Record<string, unknown>>;
  previousAttributes?: Partial<Record<string, unknown>>;
}

export interface TravelTrip {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /** The origin and the destination; if there are none, the place of the stay or the kind of the search */
  title: string;
  /** Local time of the place, without zone */
  startsAt?: string;
  state: "notBooked" | "booked" | "canceled" | "failed";
  approvalStatus?: string;
  travelers: Traveler[];
  /** The costs of the trip, one sum for each currency */
  prices: {
    total: number;
    currency: string;
  }[];
}

/** A user of the travel service */
export interface Traveler {
  /** The id in the travel service */
  id: string;
  /** The name, or the email address of one without a name */
  name: string;
  /** The person whom an identity provider sends. Absent in lists of trips */
  person?: {
    connection: string;
    id: string;
  };
}

export interface TravelTripDetails {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /** The origin and the destination; if there are none, the place of the stay or the kind of the search */
  title: string;
  /** Local time of the place, without zone */
  startsAt?: string;
  state: "notBooked" | "booked" | "canceled" | "failed";
  approvalStatus?: string;
  travelers: Traveler[];
  /** The costs of the trip, one sum for each currency */
  prices: {
    total: number;
    currency: string;
  }[];
  parts: {
    key: string;
    /** E.g. `flight`, `rail`, `hotel` or `car` */
    kind: string;
    from: string;
    to?: string;
    startsAt: string;
    endsAt: string;
    /** Of the flight or train */
    number?: string;
    /** Of the booking */
    reference?: string;
    state: "notBooked" | "booked" | "canceled" | "exchanged" | "failed";
    price?: {
      total: number;
      currency: string;
    };
  }[];
  resource: Partial<Record<string, unknown>>;
}

export interface TravelInvoice {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  description: string;
  kind: string;
  /** `open`, `paid`, `uncollectible` or `void` */
  status: string;
  reference?: string;
  /** The name of the billing profile */
  customer: string;
  amount: {
    total: number;
    currency: string;
  };
  /**
   * The number of billing operations
   * @min -9007199254740991
   * @max 9007199254740991
   */
  operations: number;
}

export interface TravelInvoiceDetails {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  description: string;
  kind: string;
  /** `open`, `paid`, `uncollectible` or `void` */
  status: string;
  reference?: string;
  /** The name of the billing profile */
  customer: string;
  amount: {
    total: number;
    currency: string;
  };
  /**
   * The number of billing operations
   * @min -9007199254740991
   * @max 9007199254740991
   */
  operations: number;
  refunds: {
    /**
     * @minLength 1
     * @maxLength 200
     */
    id: string;
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    createdAt: string;
    status: string;
    amount: {
      total: number;
      currency: string;
    };
  }[];
  disputes: {
    /**
     * @minLength 1
     * @maxLength 200
     */
    id: string;
    /**
     * UTC, with milliseconds
     * @format date-time
     * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
     */
    createdAt: string;
    status: string;
    amount: {
      total: number;
      currency: string;
    };
  }[];
  resource: Partial<Record<string, unknown>>;
}

export interface TravelBillingOperation {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  date: string;
  /** `purchase`, `refund` or `dispute` */
  transactionKind: string;
  operationType: string;
  description?: string;
  status: string;
  amount: {
    total: number;
    currency: string;
  };
  /** A user of the travel service */
  traveler?: Traveler;
  tripId?: string;
  invoiceId?: string;
}

/** The caller: the account that is signed in, or a token */
export interface Session {
  /**
   * @minLength 1
   * @maxLength 200
   */
  name: string;
  /** A viewer sees everything and changes nothing */
  role: "viewer" | "admin";
  kind: "account" | "token";
  /** True if the caller signed in with a password */
  hasPassword: boolean;
  /** Send it as X-CSRF-Token with each request that changes something */
  csrfToken?: string;
  /**
   * The time at which the session ends even if it is used until then
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  expiresAt?: string;
}

/** A browser in which the own account is signed in */
export interface OwnSession {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * To the minute
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastUsedAt: string;
  /** The address from which the account signed in */
  address?: string;
  /** The header User-Agent at that time, cut */
  userAgent?: string;
  /** True for the session of this request */
  isCurrent: boolean;
}

/** A person who may sign in to the admin page */
export interface AdminAccount {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * @minLength 1
   * @maxLength 200
   */
  name: string;
  /** A viewer sees everything and changes nothing */
  role: "viewer" | "admin";
  /** False if the OpenID provider gives name and role */
  hasPassword: boolean;
  /** Of the OpenID provider that identifies the person; absent with a password */
  issuer?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  lastSignInAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  revokedAt?: string;
}

/** A token with which a script calls this API */
export interface AdminToken {
  /**
   * @minLength 1
   * @maxLength 200
   */
  id: string;
  /**
   * @minLength 1
   * @maxLength 200
   */
  name: string;
  /** The role at present: never higher than that of the maker */
  role: "viewer" | "admin";
  /** The account that made the token; absent for a token of an earlier version */
  maker?: {
    /**
     * @minLength 1
     * @maxLength 200
     */
    id: string;
    /** As in the audit log */
    name: string;
  };
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  createdAt: string;
  /**
   * Absent for a token of an earlier version that does not expire
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  expiresAt?: string;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  revokedAt?: string;
}

export interface AuditEntry {
  /**
   * @min -9007199254740991
   * @max 9007199254740991
   */
  position: number;
  /**
   * UTC, with milliseconds
   * @format date-time
   * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
   */
  at: string;
  /** People whom an OpenID provider identifies have the host of its issuer behind their name */
  actor: string;
  actorKind: "account" | "token" | "command" | "nobody";
  address: string;
  /** The name of the operation */
  action: string;
  details: Partial<Record<string, unknown>>;
  /** The changed people; without a name if there is no such person any more */
  people: {
    id: string;
    name?: string;
  }[];
  /**
   * The status of the response; absent if there was none
   * @min -9007199254740991
   * @max 9007199254740991
   */
  status?: number;
}

export type QueryParamsType = Record<string | number, any>;
export type ResponseFormat = keyof Omit<Body, "body" | "bodyUsed">;

export interface FullRequestParams extends Omit<RequestInit, "body"> {
  /** set parameter to `true` for call `securityWorker` for this request */
  secure?: boolean;
  /** request path */
  path: string;
  /** content type of request body */
  type?: ContentType;
  /** query params */
  query?: QueryParamsType;
  /** format of response (i.e. response.json() -> format: "json") */
  format?: ResponseFormat;
  /** request body */
  body?: unknown;
  /** base url */
  baseUrl?: string;
  /** request cancellation token */
  cancelToken?: CancelToken;
}

export type RequestParams = Omit<
  FullRequestParams,
  "body" | "method" | "query" | "path"
>;

export interface ApiConfig<SecurityDataType = unknown> {
  baseUrl?: string;
  baseApiParams?: Omit<RequestParams, "baseUrl" | "cancelToken" | "signal">;
  securityWorker?: (
    securityData: SecurityDataType | null,
  ) => Promise<RequestParams | void> | RequestParams | void;
  customFetch?: typeof fetch;
}

export interface HttpResponse<D extends unknown, E extends unknown = unknown>
  extends Response {
  data: D;
  error: E;
}

type CancelToken = Symbol | string | number;

export type ContentType =
  | "application/json"
  | "application/vnd.api+json"
  | "multipart/form-data"
  | "application/x-www-form-urlencoded"
  | "text/plain";

export class HttpClient<SecurityDataType = unknown> {
  public baseUrl: string = "/";
  private securityData: SecurityDataType | null = null;
  private securityWorker?: ApiConfig<SecurityDataType>["securityWorker"];
  private abortControllers = new Map<CancelToken, AbortController>();
  private customFetch = (...fetchParams: Parameters<typeof fetch>) =>
    fetch(...fetchParams);

  private baseApiParams: RequestParams = {
    credentials: "same-origin",
    headers: {},
    redirect: "follow",
    referrerPolicy: "no-referrer",
  };

  constructor(apiConfig: ApiConfig<SecurityDataType> = {}) {
    Object.assign(this, apiConfig);
  }

  public setSecurityData = (data: SecurityDataType | null) => {
    this.securityData = data;
  };

  protected encodeQueryParam(key: string, value: any) {
    const encodedKey = encodeURIComponent(key);
    return `${encodedKey}=${encodeURIComponent(typeof value === "number" ? value : `${value}`)}`;
  }

  protected addQueryParam(query: QueryParamsType, key: string) {
    return this.encodeQueryParam(key, query[key]);
  }

  protected addArrayQueryParam(query: QueryParamsType, key: string) {
    const value = query[key];
    return value.map((v: any) => this.encodeQueryParam(key, v)).join("&");
  }

  protected toQueryString(rawQuery?: QueryParamsType): string {
    const query = rawQuery || {};
    const keys = Object.keys(query).filter(
      (key) => "undefined" !== typeof query[key],
    );
    return keys
      .map((key) =>
        Array.isArray(query[key])
          ? this.addArrayQueryParam(query, key)
          : this.addQueryParam(query, key),
      )
      .join("&");
  }

  protected addQueryParams(rawQuery?: QueryParamsType): string {
    const queryString = this.toQueryString(rawQuery);
    return queryString ? `?${queryString}` : "";
  }

  private contentFormatters: Record<ContentType, (input: any) => any> = {
    ["application/json"]: (input: any) =>
      input !== null && (typeof input === "object" || typeof input === "string")
        ? JSON.stringify(input)
        : input,
    ["application/vnd.api+json"]: (input: any) =>
      input !== null && (typeof input === "object" || typeof input === "string")
        ? JSON.stringify(input)
        : input,
    ["text/plain"]: (input: any) =>
      input !== null && typeof input !== "string"
        ? JSON.stringify(input)
        : input,
    ["multipart/form-data"]: (input: any) => {
      if (input instanceof FormData) {
        return input;
      }

      return Object.keys(input || {}).reduce((formData, key) => {
        const property = input[key];
        formData.append(
          key,
          property instanceof Blob
            ? property
            : typeof property === "object" && property !== null
              ? JSON.stringify(property)
              : `${property}`,
        );
        return formData;
      }, new FormData());
    },
    ["application/x-www-form-urlencoded"]: (input: any) =>
      this.toQueryString(input),
  };

  protected mergeRequestParams(
    params1: RequestParams,
    params2?: RequestParams,
  ): RequestParams {
    return {
      ...this.baseApiParams,
      ...params1,
      ...(params2 || {}),
      headers: {
        ...(this.baseApiParams.headers || {}),
        ...(params1.headers || {}),
        ...((params2 && params2.headers) || {}),
      },
    };
  }

  protected createAbortSignal = (
    cancelToken: CancelToken,
  ): AbortSignal | undefined => {
    if (this.abortControllers.has(cancelToken)) {
      const abortController = this.abortControllers.get(cancelToken);
      if (abortController) {
        return abortController.signal;
      }
      return void 0;
    }

    const abortController = new AbortController();
    this.abortControllers.set(cancelToken, abortController);
    return abortController.signal;
  };

  public abortRequest = (cancelToken: CancelToken) => {
    const abortController = this.abortControllers.get(cancelToken);

    if (abortController) {
      abortController.abort();
      this.abortControllers.delete(cancelToken);
    }
  };

  public request = async <T = any, E = any>({
    body,
    secure,
    path,
    type,
    query,
    format,
    baseUrl,
    cancelToken,
    ...params
  }: FullRequestParams): Promise<T> => {
    const secureParams =
      ((typeof secure === "boolean" ? secure : this.baseApiParams.secure) &&
        this.securityWorker &&
        (await this.securityWorker(this.securityData))) ||
      {};
    const requestParams = this.mergeRequestParams(params, secureParams);
    const queryString = query && this.toQueryString(query);
    const payloadFormatter = this.contentFormatters[type || "application/json"];
    const responseFormat = format || requestParams.format;

    return this.customFetch(
      `${baseUrl || this.baseUrl || ""}${path}${queryString ? `?${queryString}` : ""}`,
      {
        ...requestParams,
        headers: {
          ...(requestParams.headers || {}),
          ...(type && type !== "multipart/form-data"
            ? { "Content-Type": type }
            : {}),
        },
        signal:
          (cancelToken
            ? this.createAbortSignal(cancelToken)
            : requestParams.signal) || null,
        body:
          typeof body === "undefined" || body === null
            ? null
            : payloadFormatter(body),
      },
    ).then(async (response) => {
      const r = response as HttpResponse<T, E>;
      r.data = null as unknown as T;
      r.error = null as unknown as E;

      const responseToParse = responseFormat ? response.clone() : response;
      const data = !responseFormat
        ? r
        : await responseToParse[responseFormat]()
            .then((data) => {
              if (r.ok) {
                r.data = data;
              } else {
                r.error = data;
              }
              return r;
            })
            .catch((e) => {
              r.error = e;
              return r;
            });

      if (cancelToken) {
        this.abortControllers.delete(cancelToken);
      }

      if (!response.ok) throw data;
      return data.data;
    });
  };
}

/**
 * @title Jetbridge admin API
 * @version 1.0.0
 * @baseUrl /
 *
 * Everything that the admin page can do.
 * A viewer may call every operation that changes nothing; the others need the role admin and are recorded in the audit log.
 * Errors are `{"code": …, "message": …}`, with `faults` if members of the input are named.
 */
export class Api<
  SecurityDataType extends unknown,
> extends HttpClient<SecurityDataType> {
  overview = {
    /**
     * No description
     *
     * @tags Overview
     * @name ReadOverview
     * @summary Tell the state of the service in one sentence and in numbers
     * @request GET:/admin/api/overview
     * @secure
     */
    readOverview: (params: RequestParams = {}) =>
      this.request<
        {
          state: "inStep" | "working" | "attention" | "failing" | "empty";
          sentence: string;
          people: {
            /**
             * @min 0
             * @max 9007199254740991
             */
            total: number;
            /**
             * @min 0
             * @max 9007199254740991
             */
            synced: number;
            /**
             * @min 0
             * @max 9007199254740991
             */
            dirty: number;
            /**
             * @min 0
             * @max 9007199254740991
             */
            pending: number;
            /**
             * @min 0
             * @max 9007199254740991
             */
            refused: number;
            /**
             * @min 0
             * @max 9007199254740991
             */
            held: number;
          };
          /**
           * People whose departure an admin has discarded; nothing waits for them
           * @min 0
           * @max 9007199254740991
           */
          keptActive: number;
          findings: {
            kinds: {
              code: string;
              /**
               * @min 0
               * @max 9007199254740991
               */
              people: number;
            }[];
            /** True if only the first 20,000 people with findings were counted */
            isCut: boolean;
          };
          held: {
            connection: string;
            cause:
              | "safetyValve"
              | "guarded"
              | "neverProvisioned"
              | "return"
              | "rules";
            /**
             * @min 0
             * @max 9007199254740991
             */
            people: number;
            /**
             * UTC, with milliseconds
             * @format date-time
             * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
             */
            since: string;
          }[];
          connections: ConnectionHealth[];
          /** Only until an identity provider has sent a person: what has been done so far */
          steps?: {
            isConnected: boolean;
            hasMapping: boolean;
          };
          demoDay: DemoDay;
        },
        Error
      >({
        path: `/admin/api/overview`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Overview
     * @name ResumeConnection
     * @summary Let a connection go on that is paused because the database was restored
     * @request POST:/admin/api/connections/{id}/resume
     * @secure
     */
    resumeConnection: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/connections/${id}/resume`,
        method: "POST",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Overview
     * @name ReadDemoDay
     * @summary Tell how far the demo day is
     * @request GET:/admin/api/demo-day
     * @secure
     */
    readDemoDay: (params: RequestParams = {}) =>
      this.request<DemoDay, Error>({
        path: `/admin/api/demo-day`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Overview
     * @name PlayDemoDay
     * @summary Play a day of an invented identity provider to a connection of its own
     * @request POST:/admin/api/demo-day
     * @secure
     */
    playDemoDay: (params: RequestParams = {}) =>
      this.request<DemoDay, Error>({
        path: `/admin/api/demo-day`,
        method: "POST",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Overview
     * @name UndoDemoDay
     * @summary Remove the demo day with its people, travelers, requests and connection
     * @request DELETE:/admin/api/demo-day
     * @secure
     */
    undoDemoDay: (params: RequestParams = {}) =>
      this.request<DemoDay, Error>({
        path: `/admin/api/demo-day`,
        method: "DELETE",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Overview
     * @name ReadActivity
     * @summary Count requests, calls and their errors of the last hour and the last day
     * @request GET:/admin/api/activity
     * @secure
     */
    readActivity: (params: RequestParams = {}) =>
      this.request<
        {
          /** False if the settings disable the log of exchanges */
          isLogged: boolean;
          /**
           * Everything since this time was counted. A long log is counted in several requests
           * @format date-time
           * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
           */
          completeSince: string;
          /** By minute */
          hour: ActivityCounts[];
          /** By quarter of an hour */
          day: ActivityCounts[];
        },
        Error
      >({
        path: `/admin/api/activity`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),
  };
  people = {
    /**
     * No description
     *
     * @tags People
     * @name ListPeople
     * @summary List people by connection and userName. A page can be short, or empty, although others follow
     * @request GET:/admin/api/people
     * @secure
     */
    listPeople: (
      query?: {
        /** @maxLength 300 */
        connection?: string;
        state?: "synced" | "dirty" | "pending" | "refused" | "held";
        /**
         * The code of a finding
         * @maxLength 300
         */
        finding?: string;
        /** Only inactive and deleted people */
        archived?: "true";
        /**
         * The beginning of the userName
         * @maxLength 300
         */
        userName?: string;
        /**
         * `next` of the page before
         * @maxLength 4000
         */
        after?: string;
        /**
         * @min 1
         * @max 500
         * @default 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          people: Person[];
          next?: string;
          /** All connections */
          connections: string[];
        },
        Error
      >({
        path: `/admin/api/people`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags People
     * @name CountPeople
     * @summary Count the people of each connection by state and by the codes of their findings
     * @request GET:/admin/api/people/counts
     * @secure
     */
    countPeople: (params: RequestParams = {}) =>
      this.request<
        {
          connections: PeopleCounts[];
        },
        Error
      >({
        path: `/admin/api/people/counts`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags People
     * @name FindPeople
     * @summary Find people by either id, or by the beginning of userName, email address or displayName
     * @request GET:/admin/api/people/search
     * @secure
     */
    findPeople: (
      query?: {
        /**
         * @maxLength 300
         * @default ""
         */
        text?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          people: Person[];
        },
        Error
      >({
        path: `/admin/api/people/search`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags People
     * @name ExplainPerson
     * @summary Explain a person: the state and why, findings, and each field from the IdP to the traveler
     * @request GET:/admin/api/people/{connection}/{id}
     * @secure
     */
    explainPerson: (
      connection: string,
      id: string,
      params: RequestParams = {},
    ) =>
      this.request<PersonExplanation, Error>({
        path: `/admin/api/people/${connection}/${id}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags People
     * @name ReconcilePerson
     * @summary Bring the traveler of a person up to date now
     * @request POST:/admin/api/people/{connection}/{id}/reconcile
     * @secure
     */
    reconcilePerson: (
      connection: string,
      id: string,
      params: RequestParams = {},
    ) =>
      this.request<void, Error>({
        path: `/admin/api/people/${connection}/${id}/reconcile`,
        method: "POST",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags People
     * @name JoinPerson
     * @summary Give a person the traveler of the leaver in whose place the person is, because both are one person
     * @request POST:/admin/api/people/{connection}/{id}/join
     * @secure
     */
    joinPerson: (connection: string, id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/people/${connection}/${id}/join`,
        method: "POST",
        secure: true,
        ...params,
      }),
  };
  mappings = {
    /**
     * No description
     *
     * @tags Mappings
     * @name ListMappings
     * @summary List the connections with their mappings in force
     * @request GET:/admin/api/mappings
     * @secure
     */
    listMappings: (params: RequestParams = {}) =>
      this.request<
        {
          mappings: {
            connection: string;
            /** A mapping that is or was in force */
            version?: MappingVersion;
            /** The mapping file of the settings, which replaces the mapping when its content changes */
            file?: string;
          }[];
        },
        Error
      >({
        path: `/admin/api/mappings`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name ReadMapping
     * @summary Read the mapping in force
     * @request GET:/admin/api/mappings/{connection}
     * @secure
     */
    readMapping: (connection: string, params: RequestParams = {}) =>
      this.request<
        {
          /** A mapping that is or was in force */
          version?: MappingVersion;
          /**
           * The mapping as JSON text, as in a mapping file
           * @maxLength 500000
           */
          text: string;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name ApplyMapping
     * @summary Put a mapping in force, unless another one than the expected is in force
     * @request PUT:/admin/api/mappings/{connection}
     * @secure
     */
    applyMapping: (
      connection: string,
      data: {
        /**
         * The mapping as JSON text, as in a mapping file
         * @maxLength 500000
         */
        text: string;
        /**
         * The number of a version; 0 if no mapping was ever in force
         * @min 0
         * @max 9007199254740991
         */
        generation: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          outcome: "applied" | "unchanged";
          /**
           * The number of a version; 0 if no mapping was ever in force
           * @min 0
           * @max 9007199254740991
           */
          generation: number;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}`,
        method: "PUT",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name ListMappingNames
     * @summary List the SCIM paths, and the names of the travel service, that a mapping can contain; at most 1,000 of each kind
     * @request GET:/admin/api/mappings/{connection}/names
     * @secure
     */
    listMappingNames: (connection: string, params: RequestParams = {}) =>
      this.request<
        {
          /** The SCIM paths of users that a rule can read */
          scimAttributes: {
            path: string;
            description: string;
          }[];
          customFields: {
            id: string;
            name: string;
            dataType: string;
            options: string[];
          }[];
          costCenters: string[];
          billingProfiles: string[];
          travelPolicies: string[];
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/names`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name FindExamplePerson
     * @summary Find a person to show what the mapping does: one whom an identity provider has sent
     * @request GET:/admin/api/mappings/{connection}/example-person
     * @secure
     */
    findExamplePerson: (connection: string, params: RequestParams = {}) =>
      this.request<
        {
          /** Absent if no identity provider has sent a person */
          id?: string;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/example-person`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name CheckMapping
     * @summary Find every fault of a mapping, and every name that the travel service does not have
     * @request POST:/admin/api/mappings/{connection}/check
     * @secure
     */
    checkMapping: (
      connection: string,
      data: {
        /**
         * The mapping as JSON text, as in a mapping file
         * @maxLength 500000
         */
        text: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          faults: MappingFault[];
          /** Names that are allowed but probably misspelled */
          warnings: MappingFault[];
          /** The reason for which names could not be looked up; absent if they were */
          unchecked?: string;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/check`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name PreviewPerson
     * @summary Translate one person with a mapping: a stored one by id, or a SCIM user
     * @request POST:/admin/api/mappings/{connection}/preview-person
     * @secure
     */
    previewPerson: (
      connection: string,
      data: {
        /**
         * The mapping as JSON text, as in a mapping file
         * @maxLength 500000
         */
        text: string;
        /**
         * @minLength 1
         * @maxLength 200
         */
        person?: string;
        user?: Partial<Record<string, Schema0>>;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          userName: string;
          fields: PreviewedField[];
          trace: PreviewedRule[];
          findings: PreviewedFinding[];
          fallbackEmail?: string;
          /** The names of custom fields by key, and of the resources that the values contain by id */
          names: Partial<Record<string, string>>;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/preview-person`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name PreviewMapping
     * @summary Compute what a mapping would change for everybody
     * @request POST:/admin/api/mappings/{connection}/preview
     * @secure
     */
    previewMapping: (
      connection: string,
      data: {
        /**
         * The mapping as JSON text, as in a mapping file
         * @maxLength 500000
         */
        text: string;
        /**
         * @min 0
         * @max 100
         * @default 10
         */
        examples?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<MappingPreview, Error>({
        path: `/admin/api/mappings/${connection}/preview`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name ListMappingVersions
     * @summary List the mappings that are and were in force, the newest first
     * @request GET:/admin/api/mappings/{connection}/versions
     * @secure
     */
    listMappingVersions: (
      connection: string,
      query?: {
        /**
         * @min 1
         * @max 200
         * @default 50
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          versions: MappingVersion[];
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/versions`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name ReadMappingVersion
     * @summary Read a mapping of the history, and what it changed
     * @request GET:/admin/api/mappings/{connection}/versions/{version}
     * @secure
     */
    readMappingVersion: (
      connection: string,
      version: string,
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /** A mapping that is or was in force */
          version: MappingVersion;
          /**
           * The mapping as JSON text, as in a mapping file
           * @maxLength 500000
           */
          text: string;
          difference: MappingDifference;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/versions/${version}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Mappings
     * @name RestoreMappingVersion
     * @summary Put a mapping of the history in force again, unless another one than the expected is in force
     * @request POST:/admin/api/mappings/{connection}/restore
     * @secure
     */
    restoreMappingVersion: (
      connection: string,
      data: {
        /**
         * @min 1
         * @max 9007199254740991
         */
        version: number;
        /**
         * The number of a version; 0 if no mapping was ever in force
         * @min 0
         * @max 9007199254740991
         */
        generation: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          outcome: "applied" | "unchanged";
          /**
           * The number of a version; 0 if no mapping was ever in force
           * @min 0
           * @max 9007199254740991
           */
          generation: number;
        },
        Error
      >({
        path: `/admin/api/mappings/${connection}/restore`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),
  };
  holds = {
    /**
     * No description
     *
     * @tags Holds
     * @name ListHolds
     * @summary List how many people wait for the decision of an admin, by connection and cause
     * @request GET:/admin/api/holds
     * @secure
     */
    listHolds: (params: RequestParams = {}) =>
      this.request<
        {
          /**
           * @min 0
           * @max 9007199254740991
           */
          people: number;
          groups: HoldGroup[];
        },
        Error
      >({
        path: `/admin/api/holds`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Holds
     * @name ListHeldPeople
     * @summary List the people of a group, the longest waiting first
     * @request GET:/admin/api/holds/{connection}/{cause}
     * @secure
     */
    listHeldPeople: (
      connection: string,
      cause: string,
      query?: {
        /**
         * The `next` of the page before
         * @pattern ^\d{1,15}\..{1,200}$
         */
        after?: string;
        /**
         * @min 1
         * @max 200
         * @default 50
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          people: HeldPerson[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/holds/${connection}/${cause}`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Holds
     * @name ExplainHold
     * @summary Tell why a person waits, and what each decision would do; 404 if the person is not held
     * @request GET:/admin/api/people/{connection}/{id}/hold
     * @secure
     */
    explainHold: (connection: string, id: string, params: RequestParams = {}) =>
      this.request<
        {
          /**
           * @minLength 1
           * @maxLength 200
           */
          id: string;
          userName: string;
          /**
           * UTC, with milliseconds
           * @format date-time
           * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
           */
          since: string;
          /**
           * The version that a decision applies to; a later write has another one
           * @min -9007199254740991
           * @max 9007199254740991
           */
          version: number;
          /** The change that the identity provider requested */
          wants: "change" | "deactivate" | "delete";
          /** The effect of an approval on the traveler */
          effect: "archived" | "deleted" | "changed";
          /**
           * @minLength 1
           * @maxLength 200
           */
          connection: string;
          /** safetyValve: too many people left at once; guarded: an administrator of the travel service; neverProvisioned: the identity provider has deleted somebody whom it had never sent; return: another person takes the place of a leaver; rules: other rules or lookups would change many people */
          cause:
            | "safetyValve"
            | "guarded"
            | "neverProvisioned"
            | "return"
            | "rules";
          why: string;
          causedBy: string;
          /** The decision that has been made about this version */
          answer?: "approved" | "discarded";
          ifApproved: string;
          ifDiscarded: string;
        },
        Error
      >({
        path: `/admin/api/people/${connection}/${id}/hold`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Holds
     * @name DecideHolds
     * @summary Approve or discard what is held, for some people or for a whole group
     * @request POST:/admin/api/holds/decisions
     * @secure
     */
    decideHolds: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        connection: string;
        /** safetyValve: too many people left at once; guarded: an administrator of the travel service; neverProvisioned: the identity provider has deleted somebody whom it had never sent; return: another person takes the place of a leaver; rules: other rules or lookups would change many people */
        cause:
          | "safetyValve"
          | "guarded"
          | "neverProvisioned"
          | "return"
          | "rules";
        answer: "approved" | "discarded";
        /**
         * The people whom the decision concerns
         * @maxItems 1000
         * @minItems 1
         */
        people?: {
          /**
           * @minLength 1
           * @maxLength 200
           */
          id: string;
          /**
           * @min -9007199254740991
           * @max 9007199254740991
           */
          version: number;
        }[];
        /**
         * Instead of `people`: the `people` of the group; 409 if it is another number by now
         * @min 1
         * @max 9007199254740991
         */
        count?: number;
        /**
         * With `count`: the `generation` of the group, if it has one
         * @min -9007199254740991
         * @max 9007199254740991
         */
        generation?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /**
           * The number of people whom the decision concerned
           * @min 0
           * @max 9007199254740991
           */
          decided: number;
          /**
           * The number of people that were left out, because another admin has decided or the identity provider has written
           * @min 0
           * @max 9007199254740991
           */
          skipped: number;
        },
        Error
      >({
        path: `/admin/api/holds/decisions`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),
  };
  traffic = {
    /**
     * No description
     *
     * @tags Traffic
     * @name DescribeExchangeLog
     * @summary Tell how long exchanges are kept, and of which connections
     * @request GET:/admin/api/traffic
     * @secure
     */
    describeExchangeLog: (params: RequestParams = {}) =>
      this.request<
        {
          /**
           * 0: the settings disable the log
           * @min -9007199254740991
           * @max 9007199254740991
           */
          keepDays: number;
          connections: LoggedConnection[];
        },
        Error
      >({
        path: `/admin/api/traffic`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Traffic
     * @name ListExchanges
     * @summary List exchanges of both directions, newest first
     * @request GET:/admin/api/exchanges
     * @secure
     */
    listExchanges: (
      query?: {
        /** @maxLength 200 */
        connection?: string;
        /**
         * A SCIM id. Searches for the userName and the addresses of that person are found, too
         * @maxLength 200
         */
        person?: string;
        /** scim: a request of an IdP to the bridge; oauth: a request for an access token; travel: a call of the bridge to the travel API */
        direction?: "scim" | "oauth" | "travel";
        /** @maxLength 20 */
        method?: string;
        /** failed: 400 or higher, and calls without a response */
        status?: "2xx" | "3xx" | "4xx" | "5xx" | "failed";
        /**
         * The beginning of the path, without case
         * @maxLength 500
         */
        path?: string;
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        since?: string;
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        until?: string;
        /**
         * A whole number; an exchange that is logged later has a higher one
         * @pattern ^\d{1,15}$
         */
        before?: string;
        /**
         * The head of an earlier page: only what came after it
         * @pattern ^\d{1,15}$
         */
        after?: string;
        /**
         * @min 1
         * @max 200
         * @default 50
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          exchanges: Exchange[];
          /**
           * The parameter before of the next page. A page can be empty although there is a next one
           * @pattern ^\d{1,15}$
           */
          next?: string;
          /**
           * The end of the log as it was read
           * @pattern ^\d{1,15}$
           */
          head: string;
        },
        Error
      >({
        path: `/admin/api/exchanges`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Traffic
     * @name GetExchange
     * @summary Read an exchange with its headers and bodies, and the other exchanges of the same request
     * @request GET:/admin/api/exchanges/{position}
     * @secure
     */
    getExchange: (position: string, params: RequestParams = {}) =>
      this.request<ExchangeDetail, Error>({
        path: `/admin/api/exchanges/${position}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Traffic
     * @name SaveScenario
     * @summary Convert SCIM requests of the log to scenario files for replay, with invented people
     * @request POST:/admin/api/scenarios
     * @secure
     */
    saveScenario: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        connection: string;
        /**
         * Only the requests about this SCIM id
         * @minLength 1
         * @maxLength 200
         */
        person?: string;
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        since: string;
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        until?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /** Each is the content of a file, named by its member name */
          scenarios: Partial<Record<string, unknown>>[];
          leftOut: {
            reason: string;
            /**
             * @min -9007199254740991
             * @max 9007199254740991
             */
            count: number;
          }[];
        },
        Error
      >({
        path: `/admin/api/scenarios`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Traffic
     * @name KeepReadBodies
     * @summary Keep the bodies of reads of a connection too, until a time within the next day
     * @request PUT:/admin/api/connections/{connection}/read-bodies
     * @secure
     */
    keepReadBodies: (
      connection: string,
      data: {
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        until: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<void, Error>({
        path: `/admin/api/connections/${connection}/read-bodies`,
        method: "PUT",
        body: data,
        secure: true,
        type: "application/json",
        ...params,
      }),
  };
  connect = {
    /**
     * No description
     *
     * @tags Connect
     * @name ListConnections
     * @summary List the connections with the URLs that an identity provider needs
     * @request GET:/admin/api/connections
     * @secure
     */
    listConnections: (params: RequestParams = {}) =>
      this.request<
        {
          connections: Connection[];
          /** The URL at which OAuth clients get tokens */
          tokenEndpoint: string;
        },
        Error
      >({
        path: `/admin/api/connections`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name ListTokens
     * @summary List the bearer tokens of identity providers
     * @request GET:/admin/api/tokens
     * @secure
     */
    listTokens: (params: RequestParams = {}) =>
      this.request<
        {
          tokens: ScimToken[];
        },
        Error
      >({
        path: `/admin/api/tokens`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name CreateToken
     * @summary Create a bearer token that is shown once
     * @request POST:/admin/api/tokens
     * @secure
     */
    createToken: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        connection: string;
        /**
         * @minLength 1
         * @maxLength 200
         */
        name: string;
        /**
         * @min 1
         * @max 3650
         */
        days?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /**
           * @minLength 1
           * @maxLength 200
           */
          id: string;
          token: string;
        },
        Error
      >({
        path: `/admin/api/tokens`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name RevokeToken
     * @summary Revoke a bearer token at once
     * @request DELETE:/admin/api/tokens/{id}
     * @secure
     */
    revokeToken: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/tokens/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name ListOAuthClients
     * @summary List the OAuth clients
     * @request GET:/admin/api/oauth-clients
     * @secure
     */
    listOAuthClients: (params: RequestParams = {}) =>
      this.request<
        {
          clients: OAuthClient[];
        },
        Error
      >({
        path: `/admin/api/oauth-clients`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name CreateOAuthClient
     * @summary Register an OAuth client of a connection; its secret is shown once
     * @request POST:/admin/api/oauth-clients
     * @secure
     */
    createOAuthClient: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        connection: string;
        /**
         * @minLength 1
         * @maxLength 200
         */
        name: string;
        /** Instead of a secret: its public keys, a JSON Web Key Set */
        jwks?: Partial<Record<string, unknown>>;
        /**
         * Instead of a secret: the URL of its public keys
         * @maxLength 2000
         */
        jwksUri?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /**
           * @minLength 1
           * @maxLength 200
           */
          clientId: string;
          clientSecret?: string;
        },
        Error
      >({
        path: `/admin/api/oauth-clients`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name RevokeOAuthClient
     * @summary Revoke an OAuth client and all its tokens at once
     * @request DELETE:/admin/api/oauth-clients/{id}
     * @secure
     */
    revokeOAuthClient: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/oauth-clients/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Connect
     * @name ListRecentAttempts
     * @summary List the newest requests of the last minutes, also those for access tokens and those without a valid token
     * @request GET:/admin/api/recent-attempts
     * @secure
     */
    listRecentAttempts: (
      query?: {
        /**
         * Without it: requests of all connections
         * @minLength 1
         * @maxLength 200
         */
        connection?: string;
        /**
         * At most 15 minutes ago, which is the default
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        since?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          attempts: Attempt[];
          isLogged: boolean;
        },
        Error
      >({
        path: `/admin/api/recent-attempts`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),
  };
  travelService = {
    /**
     * No description
     *
     * @tags Travel service
     * @name DescribeTravelService
     * @summary Tell whether the embedded travel service is in use, or where the others are
     * @request GET:/admin/api/travel
     * @secure
     */
    describeTravelService: (params: RequestParams = {}) =>
      this.request<
        {
          embedded: boolean;
          others: {
            connection: string;
            url: string;
          }[];
          /** Email addresses of admins of the embedded service, to whom keys can belong */
          admins: string[];
          /** The kinds of events that a webhook can select */
          eventKinds: string[];
        },
        Error
      >({
        path: `/admin/api/travel`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelApiKeys
     * @summary List the API keys, oldest first
     * @request GET:/admin/api/travel/api-keys
     * @secure
     */
    listTravelApiKeys: (params: RequestParams = {}) =>
      this.request<
        {
          keys: TravelApiKey[];
        },
        Error
      >({
        path: `/admin/api/travel/api-keys`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name CreateTravelApiKey
     * @summary Create an API key that is shown once
     * @request POST:/admin/api/travel/api-keys
     * @secure
     */
    createTravelApiKey: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        name: string;
        /**
         * @format email
         * @maxLength 320
         * @pattern ^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$
         */
        email: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /**
           * @minLength 1
           * @maxLength 200
           */
          id: string;
          key: string;
        },
        Error
      >({
        path: `/admin/api/travel/api-keys`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name RevokeTravelApiKey
     * @summary Revoke an API key
     * @request DELETE:/admin/api/travel/api-keys/{id}
     * @secure
     */
    revokeTravelApiKey: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/travel/api-keys/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelWebhooks
     * @summary List the webhooks, newest first, at most 100
     * @request GET:/admin/api/travel/webhooks
     * @secure
     */
    listTravelWebhooks: (params: RequestParams = {}) =>
      this.request<
        {
          webhooks: TravelWebhook[];
        },
        Error
      >({
        path: `/admin/api/travel/webhooks`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name CreateTravelWebhook
     * @summary Create a webhook, whose secret is shown once
     * @request POST:/admin/api/travel/webhooks
     * @secure
     */
    createTravelWebhook: (
      data: {
        url: string;
        /** @maxLength 1000 */
        description?: string;
        /** @maxItems 200 */
        events?: string[];
        disabled?: boolean;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          webhook: TravelWebhook;
          /** Signs the requests to the endpoint (Standard Webhooks) */
          secret: string;
        },
        Error
      >({
        path: `/admin/api/travel/webhooks`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name UpdateTravelWebhook
     * @summary Change a webhook. Members that are left out stay; null removes one
     * @request PATCH:/admin/api/travel/webhooks/{id}
     * @secure
     */
    updateTravelWebhook: (
      id: string,
      data: {
        url?: string;
        description?: string | null;
        /** null: every kind */
        events?: string[] | null;
        disabled?: boolean;
      },
      params: RequestParams = {},
    ) =>
      this.request<TravelWebhook, Error>({
        path: `/admin/api/travel/webhooks/${id}`,
        method: "PATCH",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name DeleteTravelWebhook
     * @summary Delete a webhook with its deliveries
     * @request DELETE:/admin/api/travel/webhooks/{id}
     * @secure
     */
    deleteTravelWebhook: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/travel/webhooks/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name RenewTravelWebhookSecret
     * @summary Make a new secret for a webhook, which is shown once. The one before signs for 24 hours too
     * @request POST:/admin/api/travel/webhooks/{id}/secret
     * @secure
     */
    renewTravelWebhookSecret: (id: string, params: RequestParams = {}) =>
      this.request<
        {
          secret: string;
        },
        Error
      >({
        path: `/admin/api/travel/webhooks/${id}/secret`,
        method: "POST",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelDeliveries
     * @summary List the deliveries of a webhook, newest first
     * @request GET:/admin/api/travel/webhooks/{id}/deliveries
     * @secure
     */
    listTravelDeliveries: (
      id: string,
      query?: {
        status?: "pending" | "succeeded" | "failed" | "canceled";
        /**
         * `next` of the page before
         * @maxLength 1000
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          deliveries: TravelDelivery[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/webhooks/${id}/deliveries`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name TestTravelWebhook
     * @summary Send a test event to a webhook and return the attempt
     * @request POST:/admin/api/travel/webhooks/{id}/test
     * @secure
     */
    testTravelWebhook: (id: string, params: RequestParams = {}) =>
      this.request<TravelAttempt, Error>({
        path: `/admin/api/travel/webhooks/${id}/test`,
        method: "POST",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name RedeliverTravelEvent
     * @summary Deliver the event of a delivery once more, as a new delivery
     * @request POST:/admin/api/travel/webhooks/{id}/deliveries/{delivery}/redeliver
     * @secure
     */
    redeliverTravelEvent: (
      id: string,
      delivery: string,
      params: RequestParams = {},
    ) =>
      this.request<TravelDelivery, Error>({
        path: `/admin/api/travel/webhooks/${id}/deliveries/${delivery}/redeliver`,
        method: "POST",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelRequests
     * @summary List the requests to the travel API, newest first. A page can be short although others follow
     * @request GET:/admin/api/travel/requests
     * @secure
     */
    listTravelRequests: (
      query?: {
        /** Only statuses from 400 */
        failed?: "true";
        /**
         * This path and those below it, e.g. `/api/users`
         * @maxLength 300
         * @pattern ^\/\P{Cc}*$
         */
        path?: string;
        /**
         * @maxLength 1000
         * @pattern ^\d{1,15}$
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          requests: TravelRequest[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/requests`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelEvents
     * @summary List the events, newest first
     * @request GET:/admin/api/travel/events
     * @secure
     */
    listTravelEvents: (
      query?: {
        /**
         * `next` of the page before
         * @maxLength 1000
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          events: TravelEvent[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/events`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelTrips
     * @summary List the trips, the newest first
     * @request GET:/admin/api/travel/trips
     * @secure
     */
    listTravelTrips: (
      query?: {
        /**
         * `next` of the page before
         * @maxLength 1000
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          trips: TravelTrip[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/trips`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ReadTravelTrip
     * @summary Read a trip with its travelers, journeys, stays and bookings
     * @request GET:/admin/api/travel/trips/{id}
     * @secure
     */
    readTravelTrip: (id: string, params: RequestParams = {}) =>
      this.request<TravelTripDetails, Error>({
        path: `/admin/api/travel/trips/${id}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTravelInvoices
     * @summary List the invoices, the newest first
     * @request GET:/admin/api/travel/invoices
     * @secure
     */
    listTravelInvoices: (
      query?: {
        /**
         * `next` of the page before
         * @maxLength 1000
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          invoices: TravelInvoice[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/invoices`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ReadTravelInvoice
     * @summary Read an invoice with its refunds and disputes
     * @request GET:/admin/api/travel/invoices/{id}
     * @secure
     */
    readTravelInvoice: (id: string, params: RequestParams = {}) =>
      this.request<TravelInvoiceDetails, Error>({
        path: `/admin/api/travel/invoices/${id}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListTripOperations
     * @summary List the billing operations of a trip, the newest first
     * @request GET:/admin/api/travel/trips/{id}/billing-operations
     * @secure
     */
    listTripOperations: (
      id: string,
      query?: {
        /**
         * `next` of the page before
         * @maxLength 1000
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          operations: TravelBillingOperation[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/trips/${id}/billing-operations`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name ListInvoiceOperations
     * @summary List the billing operations of an invoice, the newest first
     * @request GET:/admin/api/travel/invoices/{id}/billing-operations
     * @secure
     */
    listInvoiceOperations: (
      id: string,
      query?: {
        /**
         * `next` of the page before
         * @maxLength 1000
         */
        after?: string;
        /**
         * @min -9007199254740991
         * @max 100
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          operations: TravelBillingOperation[];
          next?: string;
        },
        Error
      >({
        path: `/admin/api/travel/invoices/${id}/billing-operations`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name DescribeSampleData
     * @summary Tell whether the sample company is in the travel service
     * @request GET:/admin/api/travel/sample-data
     * @secure
     */
    describeSampleData: (params: RequestParams = {}) =>
      this.request<
        {
          company: string;
          /** The domain of the email addresses of its people */
          domain: string;
          isPresent: boolean;
          /**
           * The number of people that are created
           * @min -9007199254740991
           * @max 9007199254740991
           */
          users: number;
          /**
           * The number of trips that are created
           * @min -9007199254740991
           * @max 9007199254740991
           */
          trips: number;
        },
        Error
      >({
        path: `/admin/api/travel/sample-data`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name CreateSampleData
     * @summary Create the sample company with people, trips and invoices
     * @request POST:/admin/api/travel/sample-data
     * @secure
     */
    createSampleData: (params: RequestParams = {}) =>
      this.request<
        {
          company: string;
          /** The number of resources by type */
          created: Partial<Record<string, number>>;
        },
        Error
      >({
        path: `/admin/api/travel/sample-data`,
        method: "POST",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Travel service
     * @name RemoveSampleData
     * @summary Remove everything that belongs to the sample company
     * @request DELETE:/admin/api/travel/sample-data
     * @secure
     */
    removeSampleData: (params: RequestParams = {}) =>
      this.request<
        {
          company: string;
          /** The number of resources by type */
          removed: Partial<Record<string, number>>;
          /** Resources to which others refer, by type */
          kept: Partial<Record<string, number>>;
        },
        Error
      >({
        path: `/admin/api/travel/sample-data`,
        method: "DELETE",
        secure: true,
        format: "json",
        ...params,
      }),
  };
  session = {
    /**
     * No description
     *
     * @tags Session
     * @name SignIn
     * @summary Sign in with a password
     * @request POST:/admin/api/sign-in
     */
    signIn: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        name: string;
        /** @maxLength 200 */
        password: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<Session, Error>({
        path: `/admin/api/sign-in`,
        method: "POST",
        body: data,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name DescribeSignIn
     * @summary List the ways to sign in
     * @request GET:/admin/api/sign-in
     */
    describeSignIn: (
      query?: {
        /** Of a sign-in through the OpenID provider: asks for its text */
        failure?:
          | "notConfigured"
          | "expired"
          | "denied"
          | "invalidAnswer"
          | "noName"
          | "noRole"
          | "revoked"
          | "nameTaken"
          | "nameReserved"
          | "tooManyAttempts"
          | "failed"
          | "misconfigured"
          | "unavailable";
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /** False if only the OpenID provider opens the page */
          password: boolean;
          openid?: {
            label: string;
          };
          /** The text of the failure that the query names */
          failure?: string;
        },
        Error
      >({
        path: `/admin/api/sign-in`,
        method: "GET",
        query: query,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name ReadSession
     * @summary Tell who is signed in
     * @request GET:/admin/api/session
     * @secure
     */
    readSession: (params: RequestParams = {}) =>
      this.request<Session, Error>({
        path: `/admin/api/session`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name SignOut
     * @summary Sign out
     * @request DELETE:/admin/api/session
     * @secure
     */
    signOut: (params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/session`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name ListOwnSessions
     * @summary List the sessions of the own account, the newest first
     * @request GET:/admin/api/sessions
     * @secure
     */
    listOwnSessions: (params: RequestParams = {}) =>
      this.request<
        {
          sessions: OwnSession[];
        },
        Error
      >({
        path: `/admin/api/sessions`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name EndOwnSession
     * @summary End a session of the own account
     * @request DELETE:/admin/api/sessions/{id}
     * @secure
     */
    endOwnSession: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/sessions/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name ChangeOwnPassword
     * @summary Change the own password; the other sessions of the account end
     * @request PUT:/admin/api/session/password
     * @secure
     */
    changeOwnPassword: (
      data: {
        /** @maxLength 200 */
        current: string;
        /**
         * None of the most common passwords
         * @minLength 12
         * @maxLength 128
         */
        password: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<void, Error>({
        path: `/admin/api/session/password`,
        method: "PUT",
        body: data,
        secure: true,
        type: "application/json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name BeginOpenidSignIn
     * @summary Go to the OpenID provider to sign in
     * @request GET:/admin/api/sign-in/openid
     */
    beginOpenidSignIn: (
      query?: {
        /** The address on the page to return to */
        returnTo?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<any, void | Error>({
        path: `/admin/api/sign-in/openid`,
        method: "GET",
        query: query,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Session
     * @name SignInWithOpenid
     * @summary Return from the OpenID provider; recorded in the audit log
     * @request GET:/admin/api/sign-in/openid/callback
     */
    signInWithOpenid: (
      query?: {
        code?: string;
        state?: string;
        error?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<any, void | Error>({
        path: `/admin/api/sign-in/openid/callback`,
        method: "GET",
        query: query,
        ...params,
      }),
  };
  accounts = {
    /**
     * No description
     *
     * @tags Accounts
     * @name ListAccounts
     * @summary List the accounts
     * @request GET:/admin/api/accounts
     * @secure
     */
    listAccounts: (params: RequestParams = {}) =>
      this.request<
        {
          accounts: AdminAccount[];
        },
        Error
      >({
        path: `/admin/api/accounts`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name CreateAccount
     * @summary Create an account with a password that is shown once
     * @request POST:/admin/api/accounts
     * @secure
     */
    createAccount: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        name: string;
        /** A viewer sees everything and changes nothing */
        role: "viewer" | "admin";
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /**
           * @minLength 1
           * @maxLength 200
           */
          id: string;
          password: string;
        },
        Error
      >({
        path: `/admin/api/accounts`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name ResetPassword
     * @summary Give an account a new password that is shown once; its sessions end
     * @request POST:/admin/api/accounts/{id}/password
     * @secure
     */
    resetPassword: (id: string, params: RequestParams = {}) =>
      this.request<
        {
          password: string;
        },
        Error
      >({
        path: `/admin/api/accounts/${id}/password`,
        method: "POST",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name ChangeRole
     * @summary Change the role of an account
     * @request PATCH:/admin/api/accounts/{id}
     * @secure
     */
    changeRole: (
      id: string,
      data: {
        /** A viewer sees everything and changes nothing */
        role: "viewer" | "admin";
      },
      params: RequestParams = {},
    ) =>
      this.request<void, Error>({
        path: `/admin/api/accounts/${id}`,
        method: "PATCH",
        body: data,
        secure: true,
        type: "application/json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name RevokeAccount
     * @summary Revoke an account and the tokens that it made; its sessions end
     * @request DELETE:/admin/api/accounts/{id}
     * @secure
     */
    revokeAccount: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/accounts/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name RestoreAccount
     * @summary Let the person of a revoked account sign in through the OpenID provider again
     * @request POST:/admin/api/accounts/{id}/restoration
     * @secure
     */
    restoreAccount: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/accounts/${id}/restoration`,
        method: "POST",
        secure: true,
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name ListAdminTokens
     * @summary List the tokens of scripts
     * @request GET:/admin/api/admin-tokens
     * @secure
     */
    listAdminTokens: (params: RequestParams = {}) =>
      this.request<
        {
          tokens: AdminToken[];
        },
        Error
      >({
        path: `/admin/api/admin-tokens`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name CreateAdminToken
     * @summary Create a token that is shown once
     * @request POST:/admin/api/admin-tokens
     * @secure
     */
    createAdminToken: (
      data: {
        /**
         * @minLength 1
         * @maxLength 200
         */
        name: string;
        /** If the role of the maker is lowered later, it is the limit */
        role: "viewer" | "admin";
        /**
         * The days until the token expires
         * @min 1
         * @max 365
         * @default 90
         */
        days?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          /**
           * @minLength 1
           * @maxLength 200
           */
          id: string;
          token: string;
        },
        Error
      >({
        path: `/admin/api/admin-tokens`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Accounts
     * @name RevokeAdminToken
     * @summary Revoke a token
     * @request DELETE:/admin/api/admin-tokens/{id}
     * @secure
     */
    revokeAdminToken: (id: string, params: RequestParams = {}) =>
      this.request<void, Error>({
        path: `/admin/api/admin-tokens/${id}`,
        method: "DELETE",
        secure: true,
        ...params,
      }),
  };
  audit = {
    /**
     * No description
     *
     * @tags Audit
     * @name ListAuditEntries
     * @summary List the changes, newest first
     * @request GET:/admin/api/audit
     * @secure
     */
    listAuditEntries: (
      query?: {
        /**
         * @min 1
         * @max 9007199254740991
         */
        before?: number;
        /**
         * A part of the name, without case
         * @maxLength 200
         */
        actor?: string;
        /** @maxLength 100 */
        action?: string;
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        since?: string;
        /**
         * UTC, with milliseconds
         * @format date-time
         * @pattern ^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z))$
         */
        until?: string;
        /**
         * @min 1
         * @max 200
         * @default 50
         */
        limit?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        {
          entries: AuditEntry[];
          /**
           * @min -9007199254740991
           * @max 9007199254740991
           */
          next?: number;
        },
        Error
      >({
        path: `/admin/api/audit`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * No description
     *
     * @tags Audit
     * @name ListAuditChoices
     * @summary List the actors and actions that the audit log has
     * @request GET:/admin/api/audit/choices
     * @secure
     */
    listAuditChoices: (params: RequestParams = {}) =>
      this.request<
        {
          /** Names that only failed sign-ins gave are left out */
          actors: string[];
          actions: string[];
        },
        Error
      >({
        path: `/admin/api/audit/choices`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),
  };
}

/** The policies that are a choice between treatments, each with its default first. The settings explain them (src/config/connection-schema.ts). */
export const policyChoices = {
  /** Of a DELETE. A deactivation, in contrast, always archives, so that it can be undone. */
  deprovision: ['archive', 'delete'],
  /** Of an owned field that is changed in the travel service. */
  drift: ['report', 'correct'],
} as const;

/** The settings of a connection that decide what happens to its travelers, apart from the mapping of fields. */
export type Policies = {
  [Name in keyof typeof policyChoices]: (typeof policyChoices)[Name][number];
} & {
  /** Limits how many people may leave within a time window; undefined means no limit. */
  safetyValve: SafetyValve | undefined;
};

/** The default policies, for connections whose settings contain none. */
export const defaultPolicies: Policies = {
  deprovision: 'archive',
  drift: 'report',
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

/** The modes of a connection. `live`: what the IdP states is carried out. `shadow`: everything is planned, and nothing is sent. */
export const connectionModeNames = ['live', 'shadow'] as const;

export type ConnectionMode = (typeof connectionModeNames)[number];

/**
 * What the SCIM interface of a connection accepts. `interoperable`: what identity providers send. `strict`: what the SCIM interoperability
 * profile allows.
 */
export const scimProfileNames = ['interoperable', 'strict'] as const;

export type ScimProfileName = (typeof scimProfileNames)[number];

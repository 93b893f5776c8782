import { alarmCauses } from './holds.ts';
import type { PauseReason } from './travel-ports.ts';

/** The conditions that only a process knows, from its own calls and its memory. */
export const localKinds = [
  'credentialRefused',
  'travelOutage',
  'mappingFaults',
  'staleLookups',
  'restoreSuspected',
  'fileDescriptors',
  'signIns',
] as const;

export type LocalKind = (typeof localKinds)[number];

/** The kinds of a travel API that cannot be used. */
export const outageKinds = ['credentialRefused', 'travelOutage'] as const satisfies LocalKind[];

/** A fact that a process knows from its own calls and its memory. Processes share it through the database while it lasts. */
export interface LocalFact {
  kind: LocalKind;
  /** Empty for the whole service. */
  connection: string;
  /** In epoch milliseconds. */
  since: number;
  /** The people, places of a mapping or attempts that it concerns. */
  count?: number | undefined;
  /** Only of a travel API that cannot be used. */
  status?: number | undefined;
  /** The reason for which a call had no usable answer, the lists that cannot be read, or the share of descriptors that are open. */
  detail?: string | undefined;
  /** Set while the calls of the connection pause. */
  pause?: PauseReason | undefined;
}

/** A local fact that some process has seen lately; `count` and `since` are those of the last time. */
export interface SharedFact {
  fact: LocalFact;
  seenAt: number;
}

/** The kinds of conditions. */
export const conditionKinds = [
  'databaseUnwritable',
  ...localKinds,
  'hold',
  ...alarmCauses,
  'importFailed',
  'importIncomplete',
  'importMaximum',
  'proposedRules',
  'missingGroups',
  'restoredPeople',
  'refusedPeople',
  'findings',
  'certificateEnds',
  'tokenEnds',
  'adminTokenEnds',
] as const;

export type ConditionKind = (typeof conditionKinds)[number];

/** Something that needs the attention of an operator now. It has no personal data. */
export interface Condition {
  kind: ConditionKind;
  /** Undefined if it concerns the whole service. */
  connection?: string | undefined;
  /** The difference from other conditions of the kind: the cause of holds, the code of findings, the name of a token. */
  subject?: string | undefined;
  severity: 'failing' | 'warning';
  /** In epoch milliseconds. */
  since?: number | undefined;
  /** The people whom it concerns; of a few kinds the travelers, attempts, places or groups. */
  people?: number | undefined;
  /** One sentence. Its times are ISO minutes. */
  text: string;
  /** The path on the admin page that shows it. */
  path?: string | undefined;
  /** The command that shows or remedies it. */
  command?: string | undefined;
  /** Undefined if an admin wants to be told about it. */
  acknowledged?: Acknowledgement | undefined;
}

/** An admin knows of a condition, or of all of its kind: until a time, in epoch milliseconds, no alert tells it again. */
export interface Acknowledgement {
  by: string;
  until: number;
  isOfKind: boolean;
}

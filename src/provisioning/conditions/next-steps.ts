import type { Condition, ConditionKind } from '../../model/conditions.ts';

/** What an admin does about each kind of condition, in a sentence. Empty where the text of the condition says it already. */
const nextSteps: Record<ConditionKind, string> = {
  databaseUnwritable: 'Free space on the disk, or repair the database. Requests are refused until then.',
  credentialRefused: '',
  travelOutage: 'Nothing is lost: changes are stored, and sent by themselves when it answers again.',
  mappingFaults: 'Correct the names in the mapping, or create what they name in the travel service.',
  staleLookups: 'Look at what the travel API answers to them.',
  restoreSuspected: '',
  fileDescriptors: '',
  signIns: 'Look at who tried, and from which address.',
  hold: 'Approve or discard the changes.',
  unclearAnswer: 'Look at the answers, and whether a gateway gives them.',
  notArchived: 'Archive these travelers in the travel service by hand.',
  importFailed:
    'Changes of identity providers are sent as always; travelers that are new or were edited are found later.',
  importIncomplete: 'Look at the answers to the import. If the others are gone, the command says so.',
  importMaximum: 'Raise import.maximum in the settings if there are more travelers.',
  proposedRules: 'Accept or discard the rules.',
  missingGroups: 'Have the identity provider send these groups, or correct the mapping.',
  restoredPeople: 'Start a full synchronization in the identity provider, and look at who differs then.',
  refusedPeople: 'Look at the reasons, and correct the values or the mapping.',
  findings: 'Look at the values, and correct them in the identity provider or the mapping.',
  certificateEnds: 'Replace the certificate and restart the server.',
  tokenEnds: 'Make another token, paste it in the identity provider, and revoke this one.',
  adminTokenEnds: 'Make another token for the script, and revoke this one.',
};

/** Returns the next step for the cause of a condition. `keyEnv`: the variable with the credential of the connection. */
export function nextStepFor({ kind }: Pick<Condition, 'kind'>, keyEnv: string | undefined): string {
  if (kind !== 'credentialRefused') return nextSteps[kind];
  const variable = keyEnv ?? 'the variable that travelApi.keyEnv names';
  return `Replace the credential in ${variable} and restart the server. Nothing is lost: changes are stored, and sent then.`;
}

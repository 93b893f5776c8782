import type { Settings } from '../config/settings.ts';
import { type Condition, type ConditionKind, localKinds } from '../model/conditions.ts';
import { oauthClients, scimTokens } from '../store/credentials/credentials.ts';
import { encryption, existingEncryptionKey, KeyFileFault } from '../store/credentials/encryption.ts';
import type { Database } from '../store/sql/database.ts';
import { countUnreadableSecrets, hasSecrets } from '../store/travel/travel-secrets.ts';
import { type DoctorResult, type Finding, fault, ok, toResults } from './doctor-findings.ts';

interface DatabaseCheckContext {
  settings: Settings;
  database: Database;
  now: number;
  conditions: Condition[];
}

/** Checks what the database has, and the conditions that it shows. */
export async function databaseResults(context: DatabaseCheckContext): Promise<DoctorResult[]> {
  return [
    ...toResults('encryption key', await checkKey(context)),
    ...toResults('tokens', await checkTokens(context)),
    ...conditionResults(context.conditions),
  ];
}

async function checkKey({ settings, database, now }: DatabaseCheckContext): Promise<Finding[]> {
  const { db } = database;
  const key = readKey(settings);
  if (key instanceof KeyFileFault) return [fault(key.problem, key.remedy)];
  if (!key) {
    const file = `${settings.data}/jetbridge.key`;
    if (!(await hasSecrets(db))) return [ok(`nothing is encrypted yet; the next start creates ${file}`)];
    const text = `${file} is missing, so that the secrets of webhooks cannot be read`;
    return [fault(text, 'Restore it from a backup, or set JETBRIDGE_KEY.')];
  }
  const count = await countUnreadableSecrets(db, encryption(key), now);
  if (count === 0) return [ok('decrypts all stored secrets')];
  const text = `decrypts not all stored secrets of webhooks: ${count} ${count === 1 ? 'was' : 'were'} encrypted with another key`;
  const remedy = 'Set JETBRIDGE_KEY_PREVIOUS to that key for one start, or give these webhooks new secrets.';
  return [fault(text, remedy)];
}

/** Returns a fault of the key file instead of throwing it, so that the other checks are made. */
function readKey(settings: Settings): Uint8Array | KeyFileFault | undefined {
  try {
    return existingEncryptionKey(settings);
  } catch (error) {
    if (error instanceof KeyFileFault) return error;
    throw error;
  }
}

async function checkTokens(context: DatabaseCheckContext): Promise<Finding[]> {
  const { settings, database, now, conditions } = context;
  const tokens = (await scimTokens(database).list()).filter(({ revokedAt }) => revokedAt === undefined);
  const clients = (await oauthClients(database).list()).filter(({ revokedAt }) => revokedAt === undefined);
  const findings = settings.connections.flatMap(({ id, scimToken }): Finding[] => {
    const own = tokens.filter(({ connection }) => connection === id);
    const isActive = own.some(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > now);
    const hasClient = clients.some(({ grant }) => grant.kind === 'scim' && grant.connection === id);
    const remedy = `Run: npx jetbridge tokens create --connection ${id}`;
    if (scimToken === undefined && !isActive && !hasClient)
      return [fault(`no valid credential opens the connection ${id}`, remedy)];
    return [];
  });
  findings.push(...conditionFindings(conditions, tokenKinds));
  return findings.length > 0 ? findings : [ok('no token ends within 30 days')];
}

/** The checks that have nothing but conditions, and what each says without any. The others are in the checks of the same subject. */
const conditionChecks: { check: string; kinds: readonly ConditionKind[]; otherwise: string }[] = [
  {
    check: 'held changes',
    kinds: ['hold', 'restoredPeople'],
    otherwise: 'no change waits for an approval',
  },
  {
    check: 'imports',
    kinds: ['importFailed', 'importIncomplete', 'importMaximum'],
    otherwise: 'the last ones have ended well',
  },
  {
    check: 'groups of mappings',
    kinds: ['missingGroups'],
    otherwise: 'all that the mappings in force name exist',
  },
  {
    check: 'people',
    kinds: ['notArchived', 'unclearAnswer', 'refusedPeople', 'findings'],
    otherwise: 'no fault concerns many of them',
  },
  { check: 'running servers', kinds: localKinds, otherwise: 'none has reported a fault' },
];

function conditionResults(conditions: Condition[]): DoctorResult[] {
  return conditionChecks.flatMap(({ check, kinds, otherwise }) => {
    const found = conditionFindings(conditions, kinds);
    return toResults(check, found.length > 0 ? found : [ok(otherwise)]);
  });
}

/** Returns the conditions of some kinds as findings. */
export function conditionFindings(conditions: Condition[], kinds: readonly ConditionKind[]): Finding[] {
  const meant = conditions.filter(({ kind }) => kinds.includes(kind));
  return meant.map(({ kind, severity, text, subject, command }) => ({
    state: severity === 'failing' ? 'fault' : 'warning',
    // The names of tokens are in no other sentence.
    text:
      subject !== undefined && tokenKinds.includes(kind) ? `${text.replace(/\.$/, '')} ("${subject}")` : text,
    ...(command === undefined || command === 'npx jetbridge doctor' ? {} : { remedy: `Run: ${command}` }),
  }));
}

const tokenKinds: ConditionKind[] = ['tokenEnds', 'adminTokenEnds'];

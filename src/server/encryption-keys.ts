import type { Logger } from 'pino';
import { SettingsFault } from '../config/faults.ts';
import type { Settings } from '../config/settings.ts';
import {
  encryption,
  parseEncryptionKey,
  readKeyFile,
  readOrCreateKeyFile,
} from '../store/credentials/encryption.ts';
import type { Database } from '../store/sql/database.ts';
import { hasSecrets, reencryptStoredSecrets } from '../store/travel/travel-secrets.ts';

type KeySettings = Pick<Settings, 'key' | 'previousKey' | 'data'>;

/** Returns the key that encrypts secrets: JETBRIDGE_KEY, else the key file in the data folder, which is created if missing. */
export function currentEncryptionKey({ key, data }: KeySettings): Uint8Array {
  return (key && parseEncryptionKey(key)) || readOrCreateKeyFile(data);
}

/** Returns the same key, but creates none: undefined if JETBRIDGE_KEY is not set and there is no key file. */
export function existingEncryptionKey({ key, data }: KeySettings): Uint8Array | undefined {
  return (key && parseEncryptionKey(key)) || readKeyFile(data);
}

/**
 * Decrypts secrets with JETBRIDGE_KEY_PREVIOUS and encrypts them with the current key, so that the variable can be unset. Throws a
 * SettingsFault if the variable is set and does not decrypt all of them. Without the variable, unreadable secrets are only logged:
 * provisioning does not need them, and an admin can give their webhooks new ones.
 */
export async function reencryptSecrets(
  settings: KeySettings,
  { database, log, now }: { database: Database; log: Logger; now: number },
): Promise<void> {
  if (!(await hasSecrets(database.db))) return;
  const previousKey = settings.previousKey && parseEncryptionKey(settings.previousKey);
  const keys = {
    current: encryption(currentEncryptionKey(settings)),
    previous: previousKey ? encryption(previousKey) : undefined,
  };
  const { resealed, unreadable } = await reencryptStoredSecrets(database, keys, now);
  if (unreadable > 0 && previousKey) throw previousKeyFault(unreadable);
  if (unreadable > 0)
    log.error(
      { secrets: unreadable },
      'secrets of webhooks were encrypted with another key than JETBRIDGE_KEY or jetbridge.key: set JETBRIDGE_KEY_PREVIOUS to it, or make new secrets',
    );
  if (previousKey)
    log.info(
      { secrets: resealed },
      'secrets were encrypted with the new key; JETBRIDGE_KEY_PREVIOUS can be unset',
    );
}

function previousKeyFault(count: number): SettingsFault {
  const secrets = count === 1 ? 'the secret of a webhook' : `${count} secrets of webhooks`;
  return new SettingsFault([
    {
      file: 'environment',
      path: 'JETBRIDGE_KEY_PREVIOUS',
      problem: `does not open ${secrets}, and neither does the present key`,
      remedy:
        'Set it to the key they were encrypted with; if that is lost, unset it, start, and make new secrets.',
    },
  ]);
}

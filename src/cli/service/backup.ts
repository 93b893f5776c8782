import { statSync } from 'node:fs';
import { readSettings, type Settings } from '../../config/settings.ts';
import { backUp } from '../../store/backup/backup.ts';
import type { Backup } from '../../store/backup/backup-file.ts';
import { restoreBackup } from '../../store/backup/restore.ts';
import { existingEncryptionKey, keyId } from '../../store/credentials/encryption.ts';
import { displayLocation } from '../../store/sql/open-database.ts';
import { type CliCommand, type JsonFlag, readVersion } from '../command.ts';
import { withDatabase } from '../database.ts';
import { countText, formatMinute, type Shell } from '../terminal/output.ts';
import { printResult } from '../terminal/printers.ts';

/** Defines the command `backup`. */
export function defineBackupCommand(command: CliCommand): void {
  command
    .argument('<file>', 'the new file; it has personal data and hashes of secrets')
    .option('--json', 'one JSON object')
    .examples('backup jetbridge-2026-11-29.backup')
    .runs((shell, file: string, flags: JsonFlag) =>
      withDatabase(shell, async ({ database, settings }) => {
        const maker = { jetbridge: readVersion(shell.home), madeAt: new Date().toISOString() };
        const backup = await backUp(database, file, { ...maker, key: keyOf(settings) });
        printResult(shell, flags, resultOf(file, backup), () => backupText(file, backup, settings));
      }),
    );
}

/** Defines the command `restore`. */
export function defineRestoreCommand(command: CliCommand): void {
  command
    .argument('<file>', 'the file that the command backup has written')
    .option('--json', 'one JSON object')
    .examples('restore jetbridge-2026-11-29.backup')
    .runs(async (shell: Shell, file: string, flags: JsonFlag) => {
      const settings = readSettings(shell.environment, shell.home);
      const backup = await restoreBackup(settings, file);
      printResult(shell, flags, resultOf(file, backup), () => restoreText(backup, settings));
      return 0;
    });
}

/** The id of the key that decrypts the secrets of the database; null if there is none. */
function keyOf(settings: Settings): string | null {
  const key = existingEncryptionKey(settings);
  return key ? keyId(key) : null;
}

/** Where the key stands: with PostgreSQL it is always in the environment. */
const keyPlace = ({ key, data }: Settings) => (key === undefined ? `${data}/jetbridge.key` : 'JETBRIDGE_KEY');

function resultOf(file: string, { header, tables }: Backup) {
  const { tables: _columns, format: _format, ...facts } = header;
  return { file, bytes: statSync(file).size, ...facts, tables: tables.length, rows: countRows(tables) };
}

const countRows = (tables: Backup['tables']) => tables.reduce((sum, { rows }) => sum + rows, 0);

/** What a backup has, in words. */
function contentText({ header: { people, connections }, tables }: Backup): string {
  const parts = [countText(people, 'person', 'people'), countText(connections.length, 'connection')];
  return `${parts.join(' of ')}, ${countText(countRows(tables), 'row')} in ${tables.length} tables`;
}

function backupText(file: string, backup: Backup, settings: Settings): string {
  const megabytes = (statSync(file).size / 1_000_000).toFixed(1);
  const { key } = backup.header;
  return [
    `${file}: ${contentText(backup)}, ${megabytes} MB. It was read again, and is whole.`,
    'It has personal data, and hashes of passwords and tokens: keep it where only you can read it.',
    key === null
      ? 'There is no encryption key yet. The settings file and mapping files are not in it.'
      : `Not in it: the key ${key} (${keyPlace(settings)}), without which secrets of webhooks are lost, and the settings and mapping files. Keep them in another place.`,
  ].join('\n');
}

function restoreText(backup: Backup, settings: Settings): string {
  const { key, madeAt } = backup.header;
  const when = formatMinute(Date.parse(madeAt));
  const steps = [
    ...(key === null || key === keyOf(settings)
      ? []
      : [
          `Put the key with the id ${key} into ${keyPlace(settings)}: it is not here, and secrets of webhooks cannot be read without it.`,
        ]),
    'Start the server. The travelers stay as they are until the identity provider states people again.',
    `Revoke again what was revoked after ${when} UTC: tokens, API keys and OAuth clients of the backup are valid, and so is its admin password.`,
    'Start a full synchronization in the identity provider.',
    'Look at who still differs: npx jetbridge people list --finding restored',
  ];
  return [
    `${displayLocation(settings)} is as it was at ${when} UTC: ${contentText(backup)}.`,
    ...steps.map((step, index) => `${index + 1}. ${step}`),
  ].join('\n');
}

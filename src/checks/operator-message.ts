import { types } from 'node:util';
import { SettingsFault } from '../config/faults.ts';
import { StoreUnavailable } from '../model/unavailable.ts';
import { BackupFault } from '../store/backup/backup-file.ts';
import { KeyFileFault } from '../store/credentials/encryption.ts';
import { ForeignTables, NoDatabase, UnknownSchema } from '../store/sql/migrate.ts';
import { DatabaseFault } from '../store/sql/postgres-faults.ts';
import { DatabaseInUse } from '../store/sql/sqlite.ts';

/**
 * Returns one line about an error that the operator can fix, with the remedy; undefined for every other error. `folder` is the place of
 * the embedded database.
 */
export function operatorMessage(error: unknown, folder = 'JETBRIDGE_DATA'): string | undefined {
  if (!types.isNativeError(error)) return undefined;
  if (
    [
      SettingsFault,
      DatabaseInUse,
      DatabaseFault,
      NoDatabase,
      UnknownSchema,
      ForeignTables,
      KeyFileFault,
      BackupFault,
    ].some((known) => error instanceof known)
  )
    return error.message;
  if (error instanceof StoreUnavailable && error.operatorText !== undefined) return error.operatorText;
  const { message } = error;
  const inDatabase = databaseRemedies.find(([part]) => message.includes(part));
  if (inDatabase) return `The database in ${folder} cannot be used: ${message}. ${inDatabase[1]}`;
  if (error instanceof StoreUnavailable)
    return `The database cannot be used: ${error.reason}. Try again when it can.`;
  if (!('syscall' in error) || !('code' in error)) return undefined;
  const remedies = error.syscall === 'listen' ? { ...systemRemedies, ...listenRemedies } : systemRemedies;
  const cure = remedies[String(error.code)];
  return cure === undefined ? `${message}.` : `${message}. ${cure}`;
}

const systemRemedies: Record<string, string> = {
  EADDRINUSE: 'Another program serves there: stop it, or set PORT to another port.',
  EADDRNOTAVAIL: 'This machine has no such address: correct HOST.',
  ENOTFOUND: 'This machine has no such address: correct HOST.',
  EACCES:
    'Run the command as the user of the server, or give that user the right to it, or set JETBRIDGE_DATA to a folder of its own.',
  EISDIR:
    'There must be a file and not a folder: restore it from a backup, or set JETBRIDGE_DATA to another folder.',
  ENOTDIR: 'JETBRIDGE_DATA must be a folder.',
  EEXIST: 'JETBRIDGE_DATA must be a folder.',
  EROFS: 'JETBRIDGE_DATA must be a folder that can be written.',
  EPERM: 'JETBRIDGE_DATA must be a folder that can be written.',
  ENOSPC: 'Make room on the disk.',
};

/** Remedies for the same codes if a port cannot be opened. */
const listenRemedies: Record<string, string> = {
  EACCES: 'Set PORT above 1023, or give Jetbridge the right to it.',
};

/** Remedies for errors of the database, by a part of their message: some errors of SQLite have no code. */
const databaseRemedies: [part: string, cure: string][] = [
  ['jetbridge.lock cannot be used: file is not a database', 'Delete it while no Jetbridge runs.'],
  ['file is not a database', 'Restore a backup, or point JETBRIDGE_DATA at another folder.'],
  ['disk image is malformed', 'Restore a backup.'],
  ['unable to open database file', 'Give Jetbridge the right to write in that folder.'],
  ['attempt to write a readonly database', 'Give Jetbridge the right to write in that folder.'],
  ['database or disk is full', 'Make room on the disk.'],
  ['disk I/O error', 'Make room on the disk, and see whether it works.'],
];

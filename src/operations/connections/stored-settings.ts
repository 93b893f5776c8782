import { z } from 'zod';
import type { Fault } from '../../config/faults.ts';
import { readStoredConnection } from '../../config/stored-connections.ts';
import {
  readStoredSettings,
  replaceStoredSettings,
  type StoredSettings,
} from '../../store/stored-connections.ts';
import type { OperationDeps, ServiceDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';

const writtenSettings = z.looseObject({ policies: z.record(z.string(), z.unknown()).default({}) });

/** Returns what the database has of a connection. Throws 409 for one of the settings file. */
export async function findStored(id: string, deps: OperationDeps): Promise<StoredSettings> {
  const served = deps.connections.find(({ settings }) => settings.id === id)?.settings;
  if (served?.source === 'file')
    throw new OperationError(
      'conflict',
      `The settings file has the connection ${id}. Change it there, and restart.`,
    );
  const stored = (await readStoredSettings(deps.database)).find((one) => one.id === id);
  if (!stored) throw new OperationError('notFound', `There is no connection ${id}.`);
  return stored;
}

/** Changes the settings of a stored connection. They take effect at once. */
export async function changeStored(
  id: string,
  deps: ServiceDeps,
  change: (before: z.output<typeof writtenSettings>) => object,
): Promise<void> {
  const stored = await findStored(id, deps);
  const after = change(writtenSettings.parse(stored.settings));
  requireNoFaults(id, readStoredConnection(deps.settings, { id, settings: after }).faults);
  if (!(await replaceStoredSettings(deps.database, stored, after))) throw new OperationError('conflict');
  await deps.storedConnections.sync();
}

/** Throws 422 if the settings of a connection have faults. The paths of the faults are those of the settings file. */
export function requireNoFaults(id: string, faults: Fault[]): void {
  if (faults.length === 0) return;
  throw new OperationError('invalid', 'The connection has faults. Nothing was changed.', {
    faults: faults.map(({ path, problem, remedy }) => ({
      field: path.replace(`connections.${id}.`, '').replaceAll(/\[(\d+)\]/g, '.$1'),
      message: `${problem}. ${remedy}`,
    })),
  });
}

import { resolve } from 'node:path';
import type { Mapping } from '../translator/mapping/mapping-file.ts';
import type { Fault } from './faults.ts';
import { readMapping, type Settings } from './settings.ts';

interface MappingFilesDeps {
  /** Puts the mapping in force that the file of a connection has now. */
  applyMapping(
    connection: string,
    mapping: Mapping,
  ): Promise<{ outcome: keyof typeof outcomeTexts; version: number }>;
  log: { info(fields: object, message: string): void; error(fields: object, message: string): void };
}

/**
 * Reads the mapping files of the settings again and puts those that have changed in force. A faulty file is refused as
 * a whole. Logs the result of each file in one line.
 */
export async function reloadMappingFiles(
  { connections }: Pick<Settings, 'connections'>,
  deps: MappingFilesDeps,
): Promise<void> {
  for (const { id, mappingFile } of connections)
    if (mappingFile !== undefined) await reloadMappingFile(deps, { id, file: mappingFile });
}

async function reloadMappingFile(
  { applyMapping, log }: MappingFilesDeps,
  { id, file }: { id: string; file: string },
): Promise<void> {
  const about = { connection: id, file };
  const faults: Fault[] = [];
  const mapping = readMapping(resolve(file), faults);
  if (!mapping) {
    const places = faults.map(({ path, problem, remedy }) => `${path}: ${problem}. ${remedy}`);
    log.error({ ...about, faults: places }, 'the mapping file has faults; the mapping in force stays');
    return;
  }
  try {
    const { outcome, version } = await applyMapping(id, mapping);
    log.info({ ...about, version }, outcomeTexts[outcome]);
  } catch (err) {
    log.error({ ...about, err }, 'the mapping file could not be applied; send SIGHUP again');
  }
}

const outcomeTexts = {
  applied: 'the mapping file has come into force',
  unchanged: 'the mapping file has not changed',
  proposed: 'the mapping file is proposed; it comes into force unless it would change more than 100 people',
  replaced: 'the mapping file has not changed; the mapping that has replaced it stays in force',
};

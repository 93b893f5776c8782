import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Fault } from '../config/faults.ts';
import { readMapping, type Settings } from '../config/settings.ts';
import type { Connection } from '../provisioning/connection.ts';
import type { ProvisioningService } from '../provisioning/service.ts';
import { parseMappingOfAnySize } from '../translator/mapping-file.ts';

interface MappingFilesDeps {
  settings: Pick<Settings, 'connections'>;
  log: Logger;
  provisioning: Pick<ProvisioningService, 'applyMappingFile'>;
  connectionNamed(id: string): Connection;
}

/**
 * Reads the mapping files of the settings again and puts those that have changed in force. A faulty file is refused as
 * a whole. Logs the result of each file in one line.
 */
export async function reloadMappingFiles(deps: MappingFilesDeps): Promise<void> {
  for (const { id, mappingFile } of deps.settings.connections)
    if (mappingFile !== undefined) await reloadMappingFile(deps, { id, file: mappingFile });
}

async function reloadMappingFile(
  { log, provisioning, connectionNamed }: MappingFilesDeps,
  { id, file }: { id: string; file: string },
): Promise<void> {
  const about = { connection: id, file };
  const faults: Fault[] = [];
  const mapping = readMapping(resolve(file), faults, parseMappingOfAnySize);
  if (!mapping) {
    const places = faults.map(({ path, problem, remedy }) => `${path}: ${problem}. ${remedy}`);
    log.error({ ...about, faults: places }, 'the mapping file has faults; the mapping in force stays');
    return;
  }
  try {
    const { outcome, generation } = await provisioning.applyMappingFile(connectionNamed(id), mapping);
    log.info({ ...about, generation }, outcomeTexts[outcome]);
  } catch (err) {
    log.error({ ...about, err }, 'the mapping file could not be applied; send SIGHUP again');
  }
}

const outcomeTexts = {
  applied: 'the mapping file has come into force',
  unchanged: 'the mapping file has not changed',
  replaced: 'the mapping file has not changed; the mapping that has replaced it stays in force',
};

import type { Connection } from '../../model/connection.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';

/** The mapping file that the settings of a connection name. */
export interface ConfiguredMapping {
  /** Its mapping as read at the start; undefined if the settings name no file. */
  mapping: Mapping | undefined;
  /** Its path. */
  mappingFile?: string | undefined;
}

/** A connection as a process serves it. */
export interface ConnectionWithMapping extends Connection, ConfiguredMapping {}

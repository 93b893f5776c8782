import type { ColumnTypes } from './column-types.ts';
import { addColumns, type Columns } from './columns.ts';

export const connectionSettingsColumns = {
  /** The settings of a connection that was added on the admin page, as JSON; null for one of the settings file. */
  settings: 'text?',
} as const satisfies Columns;

/** Adds the settings of connections that are stored in the database. */
export function addConnectionSettings(types: ColumnTypes): string[] {
  return addColumns(types, 'connection', connectionSettingsColumns);
}

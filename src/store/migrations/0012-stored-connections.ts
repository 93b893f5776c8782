import type { Columns } from './columns.ts';

export const connectionSettingsColumns = {
  /** The settings of a connection that was added on the admin page, as JSON; null for one of the settings file. */
  settings: 'text?',
} as const satisfies Columns;

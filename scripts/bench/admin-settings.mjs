import { readSettings } from '../../dist/config/settings.js';
import { CONNECTIONS } from './admin-rows.mjs';
import { home } from './program.mjs';

/** The token of the admin API with which the views are read. */
export const scriptToken = 'the-token-that-the-bench-uses-for-admin';

/** The content of the settings file: connections that share the embedded travel service. */
export const settingsText = JSON.stringify({
  connections: Object.fromEntries(CONNECTIONS.map((id) => [id, { travelApi: { feed: false } }])),
  requestLog: { keepDays: 90 },
});

/** Reads the settings of the environment, for a service on a free port that logs nothing. */
export function readBenchSettings() {
  return { ...readSettings(process.env, home), port: 0, host: '127.0.0.1', logLevel: 'silent' };
}

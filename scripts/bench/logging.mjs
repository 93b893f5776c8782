// Serves two travel services, one with the log of exchanges and one without, in one process on one database: node logging.mjs FOLDER.
// They are mounted as in production. The message to the bench has their URLs and the id of a user.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { httpApp } from '../../src/http/app.ts';
import { createLog } from '../../src/http/log.ts';
import { httpMetrics } from '../../src/http/monitoring.ts';
import { exchangeStore } from '../../src/log/exchange-store.ts';
import { exchangeRecorder } from '../../src/log/recorder.ts';
import { createEmbeddedTravel } from '../../src/server/embedded.ts';
import { systemRuntime } from '../../src/server/runtime.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { travelKey } from './data.mjs';

const database = await openEmbedded(process.argv[2], true);
const log = createLog('silent');
const { wallClock: now, wait } = systemRuntime(log);
const recorder = exchangeRecorder({
  store: exchangeStore(database),
  ...{ clock: { now, wait }, log, keep: { keepDays: 14, keepEntries: 2_000_000 } },
  onLoss: () => {},
});
const bases = [await serve(undefined), await serve(recorder)];
const traveler = {
  email: 'ada.lovelace@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  lang: 'en',
  phoneNumber: '+33 612345678',
  address: { city: 'Paris', countryCode: 'FR', postalCode: '75001', streetAddress: '1 rue de la Paix' },
};
const answer = await fetch(`${bases[0]}/users`, {
  method: 'POST',
  headers: { authorization: `Bearer ${travelKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({ data: traveler }),
});
const { data } = await answer.json();
process.send({ logging: { bases, id: data.id } });

async function serve(usedRecorder) {
  const secrets = { chosenKey: travelKey, encryptionKey: new Uint8Array(32) };
  const travel = await createEmbeddedTravel({
    ...secrets,
    database,
    log,
    recorder: usedRecorder,
    onChange: () => {},
  });
  const deps = { log, metrics: httpMetrics(), newId: randomUUID, now: () => performance.now() };
  const server = createServer(httpApp(deps, (app) => app.use('/api', travel.app))).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${server.address().port}/api`;
}

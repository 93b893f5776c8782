// Fills the travel service of a data folder with travelers: node seed.mjs FOLDER COUNT. It calls the service's code without HTTP,
// with many travelers in one transaction.
import { travelResourceId } from '../../src/server/ids.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { ensureFirstAdmin } from '../../src/travel/authentication/api-keys.ts';
import { indexKeys } from '../../src/travel/declaration/resource.ts';
import { parseDocument } from '../../src/travel/requests/validation.ts';
import { user } from '../../src/travel/resources/user.ts';

const IN_ONE_TRANSACTION = 5_000;

const [folder, text] = process.argv.slice(2);
const count = Number(text);
const database = await openEmbedded(folder, true);
const store = travelStore(database);
const now = Date.now();
await ensureFirstAdmin({ store, now: () => now - count - 1, newId: travelResourceId });
for (let first = 0; first < count; first += IN_ONE_TRANSACTION) {
  const end = Math.min(count, first + IN_ONE_TRANSACTION);
  await store.write([user.type], async (within) => {
    for (let n = first; n < end; n += 1) {
      const made = traveler(n);
      await within.insert(made, indexKeys(user, made));
    }
  });
  process.send({ seeded: end });
}
await database.close();
process.send({ done: true });

/** Each traveler has another creation time in the past, so that their order is unique. */
function traveler(n) {
  const doc = parseDocument(user, {
    address: { city: 'Paris', countryCode: 'FR', postalCode: '75002', streetAddress: `${n} rue de la Paix` },
    email: `traveler${n}@example.com`,
    firstName: `Ada${n}`,
    lang: 'en',
    lastName: 'Lovelace',
    phoneNumber: '+33 612345678',
  });
  return {
    type: user.type,
    id: travelResourceId(user.idForm),
    parentId: '',
    createdAt: now - count + n,
    doc,
  };
}

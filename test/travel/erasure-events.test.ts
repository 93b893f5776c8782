import { randomUUID } from 'node:crypto';
import { nameMatcher, redactNames } from '../../src/store/erasure/names.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { indexKeys } from '../../src/travel/declaration/resource.ts';
import { eraseTravelers, findErasable } from '../../src/travel/deletion/erasure.ts';
import { event } from '../../src/travel/resources/event.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

test('one run removes the name and the email from an event of a trip with several travelers', async () => {
  const place = temporaryFolder();
  const database = await openTestDatabase(place.path, true);
  const store = travelStore(database);
  const data = {
    ...{ id: 'trip1', type: 'tripProject', createdAt: 1, travelerIds: ['u1', 'u2'] },
    carRentals: [{ renterName: 'Ann Smith' }, { renterName: 'Ben Smith' }],
    hotelStays: [{ place: { name: 'Guests of ann@corp.example' } }],
  };
  const told = { type: event.type, id: 'e1', parentId: '', createdAt: 0 };
  const stored = { ...told, doc: { kind: 'tripProject.created', data } };
  await store.write([event.type], (within) => within.insert(stored, indexKeys(event, stored)));
  const ann = nameMatcher({ unique: ['ann@corp.example'], whole: ['Ann Smith'] });
  const annsAddress = nameMatcher({ unique: ['ann@corp.example'], whole: [] });
  // The store runs a work again if another transaction of the same commit fails.
  const writeAgain: typeof store.write = async (types, work) => {
    const rolledBack = new Error('another transaction failed');
    const first = store.write(types, async (within) => {
      await work(within);
      throw rolledBack;
    });
    await expect(first).rejects.toBe(rolledBack);
    return store.write(types, work);
  };
  const travelers = {
    ids: ['u1'],
    isName: ann.matchesValue,
    redact: (doc: object) =>
      redactNames(JSON.parse(JSON.stringify(doc)), annsAddress.matchesValue) as typeof stored.doc, // An object stays one.
  };
  const deps = {
    ...{ store: { ...store, write: writeAgain }, now: Date.now },
    ...{ newId: () => randomUUID(), domain: 'jetbridge.invalid' },
  };
  await eraseTravelers(deps, travelers, await findErasable(store, travelers));
  const [after] = await store.read([told]);
  expect(after?.doc['data']).toEqual({
    ...data,
    carRentals: [{ renterName: 'Erased traveler' }, { renterName: 'Ben Smith' }],
    hotelStays: [{ place: { name: 'erased' } }],
  });
  await database.close();
  place.remove();
});

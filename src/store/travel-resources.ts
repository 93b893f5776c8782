import type { TravelStore } from '../travel/ports.ts';
import type { Database } from './database.ts';
import { DELIVERY, deliveryPage, deliveryPageFrom } from './delivery-page.ts';
import type { Encryption } from './encryption.ts';
import { travelPage, travelPageFrom } from './travel-queries.ts';
import { travelReading } from './travel-rows.ts';
import { Turns } from './travel-turns.ts';
import { expire, travelWriting } from './travel-writes.ts';

/** Keeps no secret. */
const unsealed: Encryption = {
  seal: () => {
    throw new Error('there is no key to encrypt a secret with');
  },
  open: () => undefined,
};

/** The travel service's resources in the database; the deliveries of webhooks are read like resources, too. */
export function travelResources({ db }: Database, sealed: Encryption = unsealed): TravelStore {
  return {
    ...travelReading(db),
    page: (query) => (query.type === DELIVERY ? deliveryPage(db, query) : travelPage(db, query)),
    pageFrom: (query, edge) =>
      query.type === DELIVERY ? deliveryPageFrom(db, query, edge) : travelPageFrom(db, query, edge),
    write: (types, work) =>
      db.transaction().execute(async (tx) => {
        const turns = new Turns(tx);
        await turns.await(types);
        return work(travelWriting(tx, turns, sealed));
      }),
    deleteOlderThan: (type, before, limit) =>
      db.transaction().execute((tx) => expire(tx, { type, before, limit })),
  };
}

import type { TravelStore } from '../travel/ports.ts';
import type { Database } from './database.ts';
import { expire } from './travel-expiry.ts';
import { travelPage, travelPageFrom } from './travel-page.ts';
import { travelReading } from './travel-rows.ts';
import { Turns } from './travel-turns.ts';
import { travelWriting } from './travel-writing.ts';

/** The travel service's resources in the database. */
export function travelResources({ db }: Database): TravelStore {
  return {
    ...travelReading(db),
    page: (query) => travelPage(db, query),
    pageFrom: (query, edge) => travelPageFrom(db, query, edge),
    write: (types, work) =>
      db.transaction().execute(async (tx) => {
        const turns = new Turns(tx);
        await turns.await(types);
        return work(travelWriting(tx, turns));
      }),
    expire: (type, before, limit) => db.transaction().execute((tx) => expire(tx, { type, before, limit })),
  };
}

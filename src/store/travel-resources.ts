import type { TravelStore } from '../travel/ports.ts';
import type { Database } from './database.ts';
import { travelPage } from './travel-page.ts';
import { travelReading } from './travel-rows.ts';
import { takeTurn, travelWriting } from './travel-writing.ts';

/** The travel service's resources in the database. */
export function travelResources({ db }: Database): TravelStore {
  return {
    ...travelReading(db),
    page: (query) => travelPage(db, query),
    write: (type, work) =>
      db.transaction().execute(async (tx) => {
        await takeTurn(tx, type);
        return work(travelWriting(tx));
      }),
  };
}

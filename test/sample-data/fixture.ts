import type { JsonObject } from '../../src/travel/json.ts';
import { type BookingTransaction, bookingTransactions } from '../fixtures/bookings.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

/** The travel service with a ledger that writes into it. */
export interface BookingFixture {
  fixture: Fixture;
  transact: BookingTransaction;
  /** The `data` at a path. */
  get(path: string): Promise<JsonObject>;
  /** All pages of a list. */
  all(path: string): Promise<JsonObject[]>;
  /** The kinds, ids and changed attributes of the events since the last call. */
  newEvents(): Promise<unknown[]>;
  profile(data?: JsonObject): Promise<string>;
  traveler(data?: JsonObject): Promise<string>;
}

export async function openBookingFixture(): Promise<BookingFixture> {
  const fixture = await openFixture();
  const onChange = (type: string, id: string) => fixture.changes.push(`${type} ${id}`);
  const all = async (path: string) => {
    const found: JsonObject[] = [];
    for (let offset = 0; ; offset += 100) {
      const { body } = await fixture.send('get', `${path}?limit=100&offset=${offset}`).expect(200);
      found.push(...body.data);
      if (body.data.length < 100) return found;
    }
  };
  let seen = (await all('/events')).length;
  let number = 0;
  return {
    fixture,
    transact: bookingTransactions({ ...fixture.runtime, onChange }),
    get: async (path) => (await fixture.send('get', path).expect(200)).body.data,
    all,
    newEvents: async () => {
      const fresh = (await all('/events')).slice(seen);
      seen += fresh.length;
      return fresh.map(({ kind, data, previousAttributes }) => {
        const { id } = data as JsonObject;
        return previousAttributes ? [kind, id, previousAttributes] : [kind, id];
      });
    },
    profile: async (data = {}) => {
      const body = { email: 'billing@example.com', lang: 'en', name: 'Headquarters', ...data };
      return (await fixture.make('/billing-profiles', body)).id;
    },
    traveler: async (data = {}) => {
      number += 1;
      const body = { email: `t${number}@example.com`, firstName: 'Ada', lastName: `No. ${number}`, ...data };
      return (await fixture.make('/users', body)).id;
    },
  };
}

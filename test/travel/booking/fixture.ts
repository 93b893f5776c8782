import type { TripOutcome } from '../../../src/travel/booking/book-trip.ts';
import type { Quote } from '../../../src/travel/booking/prices.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type BookingTransaction, bookingTransactions } from '../../fixtures/bookings.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

/** The travel service with its booking operations. */
export interface BookingFixture {
  fixture: Fixture;
  transact: BookingTransaction;
  /** The `data` at a path. */
  get(path: string): Promise<JsonObject>;
  /** All pages of a list. */
  all(path: string): Promise<JsonObject[]>;
  /** The events since the last call. */
  newEvents(): Promise<EventSummary[]>;
  profile(data?: JsonObject): Promise<string>;
  traveler(data?: JsonObject): Promise<string>;
  /** A completely booked trip of the given travelers, by default one. */
  bookTrip(offers: Quote[], travelerIds?: string[]): Promise<TripOutcome>;
}

/** An event without its own id and time. */
export interface EventSummary {
  kind: string;
  data: JsonObject;
  previousAttributes?: JsonObject;
}

export async function openBookingFixture(): Promise<BookingFixture> {
  const fixture = await openFixture();
  const onChange = (type: string, id: string) => fixture.changes.push(`${type} ${id}`);
  const transact = bookingTransactions({ ...fixture.runtime, onChange });
  const get = async (path: string) => {
    const { status, body } = await fixture.send('get', path);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return body.data;
  };
  const all = async (path: string) => {
    const found: JsonObject[] = [];
    for (let offset = 0; ; offset += 100) {
      const { body } = await fixture.send('get', `${path}?limit=100&offset=${offset}`);
      found.push(...body.data);
      if (body.data.length < 100) return found;
    }
  };
  let seen = (await all('/events')).length;
  let number = 0;
  const profile = async (data: JsonObject = {}) => {
    const body = { email: 'billing@example.com', lang: 'en', name: 'Headquarters', ...data };
    return (await fixture.make('/billing-profiles', body)).id;
  };
  const traveler = async (data: JsonObject = {}) => {
    number += 1;
    const body = { email: `t${number}@example.com`, firstName: 'Ada', lastName: `No. ${number}`, ...data };
    return (await fixture.make('/users', body)).id;
  };
  return {
    fixture,
    transact,
    get,
    all,
    newEvents: async () => {
      const events = await all('/events');
      const fresh = events.slice(seen).map(({ kind, data, previousAttributes }) => ({
        kind: String(kind),
        data: data as JsonObject,
        ...(previousAttributes === undefined ? {} : { previousAttributes: previousAttributes as JsonObject }),
      }));
      seen = events.length;
      return fresh;
    },
    profile,
    traveler,
    bookTrip: async (offers, travelerIds) => {
      const ids = travelerIds ?? [await traveler({ billingProfileId: await profile() })];
      const search = { kind: 'roundTripWithHotel' };
      return transact(async (service) => {
        const { id } = await service.searchTrip({ travelerIds: ids, search, quotes: offers });
        return service.bookTrip({ tripProjectId: id });
      });
    },
  };
}

/** Events in short: the kind, the id of the resource, and the changed attributes. */
export function summarizeEvents(events: EventSummary[]): unknown[] {
  return events.map(({ kind, data, previousAttributes }) =>
    previousAttributes ? [kind, data['id'], previousAttributes] : [kind, data['id']],
  );
}

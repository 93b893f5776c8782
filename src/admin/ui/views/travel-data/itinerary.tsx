import type { ReactNode } from 'react';
import { Rows } from '../../components/rows.tsx';
import { Dim, Section } from '../../components/text.tsx';
import type { TravelResource } from '../../requests/travel.ts';
import { localText, moneyText } from './texts.ts';

/** The members of a trip that the itinerary shows. */
export const itineraryMembers = ['bookings', 'carRentals', 'hotelStays', 'rates', 'search', 'transportLegs'];

interface Stop {
  localeDateTime: string;
  place: { name: string };
}

interface Segment {
  id: string;
  departure: Stop;
  arrival: Stop;
  operatingCarrier?: { name: string };
  transportNumber?: string;
  rateId: string;
  bookingId?: string;
  canceled: boolean;
  exchanged: boolean;
}

/** A trip, as far as the itinerary shows it. */
interface Trip {
  transportLegs?: { kind: string; segments: Segment[] }[];
  hotelStays?: ({ checkinLocaleDate: string; checkoutLocaleDate: string } & Booked & Pick<Stop, 'place'>)[];
  carRentals?: ({
    car: { name?: string; acriss: string };
    pickupLocaleDateTime: string;
    returnLocaleDateTime: string;
    pickupPlace: { name: string };
  } & Booked)[];
  rates?: { id: string; price: { total: number; currency: string } }[];
  bookings?: { id: string; reference?: string; status: string; canceled: boolean; exchanged: boolean }[];
}

interface Booked {
  rateId: string;
  bookingId?: string;
}

/** A part of a trip: a journey, a stay or a car. */
interface Part extends Booked {
  what: string;
  from: string;
  until: string;
  where: ReactNode;
  isOff?: string | undefined;
}

/** The journeys, stays and cars of a trip in their order, each with its booking and price. */
export function Itinerary({ trip }: { trip: TravelResource }) {
  // The API's own description says what a trip has.
  const { bookings = [], rates = [], ...parts } = trip as unknown as Trip;
  const bookingOf = ({ bookingId }: Booked) => bookings.find(({ id }) => id === bookingId);
  return (
    <Section title="Itinerary">
      <Rows
        label="Itinerary"
        rows={partsOf(parts)}
        keyOf={({ from, what, rateId }) => `${from} ${what} ${rateId}`}
        empty="Nothing is chosen yet."
        columns={[
          { label: 'What', width: '22%', cell: ({ what }) => what },
          { label: 'From', width: '19%', cell: ({ from }) => localText(from) },
          { label: 'Until', width: '19%', cell: ({ until }) => localText(until) },
          { label: 'Where', width: '22%', cell: ({ where }) => where },
          {
            label: 'Booking and price',
            cell: (part) => {
              const { reference, status, canceled, exchanged } = bookingOf(part) ?? {};
              const price = rates.find(({ id }) => id === part.rateId)?.price;
              const state = part.isOff ?? (canceled ? 'canceled' : exchanged ? 'exchanged' : status);
              return (
                <>
                  {reference} <Dim>{state ?? 'not booked'}</Dim> {price && moneyText(price)}
                </>
              );
            },
          },
        ]}
      />
    </Section>
  );
}

function partsOf({ transportLegs = [], hotelStays = [], carRentals = [] }: Trip): Part[] {
  const journeys = transportLegs.flatMap(({ kind, segments }) =>
    segments.map((segment): Part => {
      const { departure, arrival, operatingCarrier, transportNumber, canceled, exchanged } = segment;
      return {
        ...segment,
        what: [kind, operatingCarrier?.name, transportNumber].filter(Boolean).join(' '),
        ...{ from: departure.localeDateTime, until: arrival.localeDateTime },
        where: `${departure.place.name} → ${arrival.place.name}`,
        isOff: canceled ? 'canceled' : exchanged ? 'exchanged' : undefined,
      };
    }),
  );
  const stays = hotelStays.map(
    ({ checkinLocaleDate: from, checkoutLocaleDate: until, place, ...stay }): Part => ({
      ...{ ...stay, what: 'hotel', from, until, where: place.name },
    }),
  );
  const cars = carRentals.map(
    ({ car, pickupLocaleDateTime: from, returnLocaleDateTime: until, pickupPlace, ...rental }): Part => ({
      ...{ ...rental, what: `car ${car.name ?? car.acriss}`, from, until, where: pickupPlace.name },
    }),
  );
  return [...journeys, ...stays, ...cars].toSorted((one, other) => (one.from < other.from ? -1 : 1));
}

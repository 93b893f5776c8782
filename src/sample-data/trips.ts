import type { Faker } from '@faker-js/faker';
import type { Price } from '../travel/resources/amounts.ts';
import { startTransfer } from './billing.ts';
import { bookTrip, cancelBooking, exchangeBooking, type Quote, saveTrip, searchTrip } from './bookings.ts';
import { MAX_PRICE, projects, reasons } from './company.ts';
import { type City, cities, kilometers, localDateTime, localeOf, stationOf } from './reference-data.ts';
import { DAY, HOUR, LENGTH, later, type Process, type Simulation } from './simulation.ts';

/** Starts all trips, from the fourth day on: the first people are hired by then. */
export async function* startTrips(simulation: Simulation): Process {
  const { options, progress, random, start } = simulation;
  const period = { from: options.now - LENGTH + 4 * DAY, to: options.now - HOUR };
  for (const time of random.date.betweens({ ...period, count: options.trips })) {
    yield time.getTime();
    start(makeTrip(simulation));
    progress();
  }
}

/** What becomes of a trip, in percent. At most one change happens to it. */
const outcomes = { traveled: 72, canceled: 10, exchanged: 8, 'only searched': 6, 'failed at first': 4 };
/** The decisions about a trip that needs an approval. An admin can allow one that the approver has declined. */
const decisions = { approved: 85, declined: 10, bookingAllowed: 5 };

/** The search, the approval, the booking and perhaps a change of a trip. */
async function* makeTrip(simulation: Simulation): Process {
  const { draw, examples, now, random } = simulation;
  const { trip, journey } = await search(simulation);
  const outcome = draw(outcomes);
  if (outcome === 'only searched') return;
  if (trip.doc.approvalStatus === 'awaitApproval') {
    yield later(simulation, 2 * HOUR, 24 * HOUR);
    trip.doc.approvalStatus = draw(decisions);
    if (trip.doc.approvalStatus === 'declined') return saveTrip(simulation, trip);
  }
  yield later(simulation, HOUR / 12, 5 * HOUR);
  const rateIds = trip.doc.rates.map(({ id }) => id);
  if (outcome === 'failed at first') {
    await bookTrip(simulation, trip, rateIds, 'failed');
    yield now() + HOUR;
  }
  const bookings = await bookTrip(simulation, trip, rateIds);
  examples.tripProjectId = trip.stored.id;
  if (outcome !== 'canceled' && outcome !== 'exchanged') return;
  yield later(simulation, HOUR, Math.max(2 * HOUR, journey.departsAt - 12 * HOUR - now()));
  const refundPercentage = random.helpers.arrayElement([100, 100, 80, 50, 0]);
  const [departsAt, returnsAt] = [journey.departsAt + DAY, journey.returnsAt + DAY];
  const quote = transportQuote(random, { ...journey, departsAt, returnsAt });
  const [ticket] = bookings;
  if (outcome === 'exchanged' && ticket)
    return startTransfer(simulation, await exchangeBooking(simulation, trip, ticket, quote));
  for (const booking of bookings)
    startTransfer(simulation, await cancelBooking(simulation, trip, booking, refundPercentage));
}

/** Searches a trip for one of the people. The travel policy decides whether it needs an approval. */
async function search(simulation: Simulation) {
  const { company, now, random, travelers } = simulation;
  const { home, policy, user } = random.helpers.arrayElement(travelers);
  const journey = drawJourney(random, home, now());
  const { kind, to, departsAt, returnsAt } = journey;
  const [name, furtherQuotes] = random.helpers.objectEntry(kinds);
  const quotes = [transportQuote, ...furtherQuotes].map((quote) => quote(random, journey));
  // There is no exchange rate for prices in other currencies.
  const euros = quotes.map(({ price }) => (price.currency === MAX_PRICE.currency ? price.total : 0));
  const isTooHigh = euros.reduce((sum, one) => sum + one, 0) > MAX_PRICE.amount;
  const isHeld = policy === 'guests and interns' || (policy === 'standard' && isTooHigh);
  const reason = { customFieldOptionId: company.idOf(random.helpers.arrayElement(reasons)) };
  const isOfProject = random.datatype.boolean(0.25);
  const trip = await searchTrip(simulation, user, quotes, {
    approvalStatus: isHeld ? 'awaitApproval' : 'bookingAllowed',
    customFields: [{ customFieldId: company.idOf('reason for travel'), values: [reason] }],
    projectCodeId: isOfProject ? company.idOf(random.helpers.arrayElement(projects)) : undefined,
    search: {
      ...{ kind: name, arrivalPlace: stationOf(to, kind), departurePlace: stationOf(home, kind) },
      departureLocaleDateTime: localDateTime(departsAt, home),
      returnLocaleDateTime: localDateTime(returnsAt, to),
    },
    travelerIds: [user.id],
  });
  return { trip, journey };
}

/** The kinds of trips, with the quotes besides that for the journey. */
const kinds = { roundTrip: [], roundTripWithHotel: [hotelQuote], roundTripWithCar: [carQuote] };

/** A journey from one city to another and back. Times are in epoch milliseconds. */
interface Journey {
  kind: 'flight' | 'rail';
  from: City;
  to: City;
  /** The duration of each way, in milliseconds. */
  duration: number;
  departsAt: number;
  returnsAt: number;
}

/** Draws a journey for a person who lives in a city; `time` is the time of the search, in epoch milliseconds. */
function drawJourney(random: Faker, from: City, time: number): Journey {
  const to = random.helpers.arrayElement(cities.filter((city) => city !== from));
  const distance = kilometers(from, to);
  // People travel by train for up to 650 km.
  const kind = distance < 650 ? 'rail' : 'flight';
  const hours = kind === 'flight' ? 0.6 + distance / 780 : 0.3 + distance / 150;
  const duration = Math.round(hours * 12) * (HOUR / 12);
  // The square makes near days more frequent than far ones.
  const leadDays = 4 + Math.floor(55 * random.number.float() ** 2);
  const halfHours = (min: number, max: number) => random.number.int({ min, max }) * (HOUR / 2);
  const departsAt = (Math.floor(time / DAY) + leadDays) * DAY + halfHours(13, 22);
  const stay = random.number.int({ min: 1, max: 4 }) * DAY + halfHours(6, 16);
  return { kind, from, to, duration, departsAt, returnsAt: departsAt + duration + stay };
}

/** The approximate value of one euro in each currency. */
const rates: Record<string, number> = { EUR: 1, GBP: 0.85, SEK: 11 };

/** Converts an amount in euros to a price in the traveler's currency that is up to 20 % lower or 30 % higher. */
function priceOf(random: Faker, euros: number, { from }: Journey, taxRate?: number): Price {
  const { currency } = localeOf(from);
  const factor = random.number.float({ min: 0.8, max: 1.3 }) * (rates[currency] ?? 1);
  return { currency, total: Math.round(euros * factor * 100) / 100, taxRate };
}

/** Quotes the flights or trains of a journey. */
function transportQuote(random: Faker, journey: Journey): Quote {
  const { kind, from, to, duration, departsAt, returnsAt } = journey;
  const carrier = { id: from.iataCode, name: `${from.name} ${kind === 'rail' ? 'Rail' : 'Airways'}` };
  const stop = (time: number, city: City) => {
    return { localeDateTime: localDateTime(time, city), place: stationOf(city, kind) };
  };
  const leg = (start: City, end: City, time: number) => {
    const stops = { departure: stop(time, start), arrival: stop(time + duration, end) };
    const transportNumber = `${carrier.id}${random.string.numeric(4)}`;
    const segment = { ...stops, duration: duration / 60_000, operatingCarrier: carrier, transportNumber };
    return { summary: `${start.name} – ${end.name}`, segments: [segment] };
  };
  const classes = kind === 'rail' ? ['first', 'second'] : ['economy', 'premiumEco', 'business'];
  const euros = 70 + 0.2 * kilometers(from, to);
  return {
    ...{ kind, price: priceOf(random, euros, journey, kind === 'rail' ? 10 : undefined) },
    legs: [leg(from, to, departsAt), leg(to, from, returnsAt)],
    description: `${kind === 'rail' ? 'Train' : 'Flight'} from ${from.name} to ${to.name}`,
    snapshot: {
      supplierName: carrier.name,
      transport: {
        cabinClass: random.helpers.arrayElement(classes),
        ...{ departure: spotOf(from), destination: spotOf(to), itineraryType: 'roundTrip' },
        departureLocaleDate: localDateTime(departsAt, from).slice(0, 10),
        returnLocaleDate: localDateTime(returnsAt, to).slice(0, 10),
      },
    },
  };
}

function spotOf({ name: city, country: countryCode }: City) {
  return { city, countryCode };
}

/** Quotes the nights in a hotel between the arrival and the return. */
function hotelQuote(random: Faker, journey: Journey): Quote {
  const { to: city, duration, departsAt, returnsAt } = journey;
  const name = `${random.helpers.arrayElement(['Central', 'Grand', 'Park', 'Riverside'])} Hotel ${city.name}`;
  const checkinLocaleDate = localDateTime(departsAt + duration, city).slice(0, 10);
  const checkoutLocaleDate = localDateTime(returnsAt, city).slice(0, 10);
  const nights = (Date.parse(checkoutLocaleDate) - Date.parse(checkinLocaleDate)) / DAY;
  const dates = { checkinLocaleDate, checkoutLocaleDate };
  const place = { country: { code: city.country }, name, type: 'hotel' };
  return {
    ...{ kind: 'hotel', price: priceOf(random, 125 * nights, journey, 10), description: name },
    stay: { ...dates, hotelId: name.toLowerCase().replaceAll(' ', '-'), place },
    snapshot: { hotel: { ...dates, place: spotOf(city) }, supplierName: name },
  };
}

/** Quotes a car between the arrival and the return. */
function carQuote(random: Faker, journey: Journey): Quote {
  const { to, duration, departsAt, returnsAt } = journey;
  const [arrivesAt, place] = [departsAt + duration, stationOf(to, 'flight')];
  const price = priceOf(random, 55 * Math.ceil((returnsAt - arrivesAt) / DAY), journey, 20);
  return {
    ...{ kind: 'car', price, description: `Car from ${place.name}`, snapshot: {} },
    rental: {
      car: { acriss: 'CDMR', name: 'Volkswagen Golf' },
      ...{ pickupLocaleDateTime: localDateTime(arrivesAt + HOUR, to), pickupPlace: place },
      ...{ returnLocaleDateTime: localDateTime(returnsAt - 2 * HOUR, to), returnpPlace: place },
    },
  };
}

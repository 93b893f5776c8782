import type { Faker } from '@faker-js/faker';
import type { Place } from '../travel/fields.ts';

/** A city where people live, or to which they travel. */
export interface City {
  name: string;
  country: string;
  airport: { iataCode: string; name: string };
  station?: string;
  lat: number;
  lng: number;
  /** Its time zone in the tz database. */
  zone: string;
  /** The beginning of its postal codes, where people live. */
  postal?: string;
}

/** Cities of the offices come first. */
export const cities: City[] = [
  city('Paris', 'FR', 'CDG Charles de Gaulle', [48.86, 2.35, 'Europe/Paris'], {
    station: 'Gare de Lyon',
    postal: '750',
  }),
  city('Lyon', 'FR', 'LYS Saint-Exupéry', [45.76, 4.84, 'Europe/Paris'], {
    station: 'Part-Dieu',
    postal: '6900',
  }),
  city('Toulouse', 'FR', 'TLS Blagnac', [43.6, 1.44, 'Europe/Paris'], { station: 'Matabiau', postal: '310' }),
  city('Berlin', 'DE', 'BER Brandenburg', [52.52, 13.4, 'Europe/Berlin'], {
    station: 'Hauptbahnhof',
    postal: '101',
  }),
  city('Munich', 'DE', 'MUC Franz Josef Strauss', [48.14, 11.58, 'Europe/Berlin'], {
    station: 'Hauptbahnhof',
    postal: '803',
  }),
  city('Hamburg', 'DE', 'HAM Helmut Schmidt', [53.55, 9.99, 'Europe/Berlin'], {
    station: 'Hauptbahnhof',
    postal: '203',
  }),
  city('London', 'GB', 'LHR Heathrow', [51.51, -0.13, 'Europe/London'], {
    station: 'St Pancras',
    postal: 'EC1A',
  }),
  city('Manchester', 'GB', 'MAN Manchester', [53.48, -2.24, 'Europe/London'], {
    station: 'Piccadilly',
    postal: 'M1',
  }),
  city('Madrid', 'ES', 'MAD Barajas', [40.42, -3.7, 'Europe/Madrid'], { station: 'Atocha', postal: '280' }),
  city('Barcelona', 'ES', 'BCN El Prat', [41.39, 2.17, 'Europe/Madrid'], { station: 'Sants', postal: '080' }),
  city('Milan', 'IT', 'LIN Linate', [45.46, 9.19, 'Europe/Rome'], { station: 'Centrale', postal: '201' }),
  city('Rome', 'IT', 'FCO Fiumicino', [41.9, 12.5, 'Europe/Rome'], { station: 'Termini', postal: '001' }),
  city('Stockholm', 'SE', 'ARN Arlanda', [59.33, 18.07, 'Europe/Stockholm'], {
    station: 'Centralstation',
    postal: '11',
  }),
  city('Gothenburg', 'SE', 'GOT Landvetter', [57.71, 11.97, 'Europe/Stockholm'], {
    station: 'Centralstation',
    postal: '41',
  }),
  city('Amsterdam', 'NL', 'AMS Schiphol', [52.37, 4.9, 'Europe/Amsterdam'], { station: 'Centraal' }),
  city('Brussels', 'BE', 'BRU Zaventem', [50.85, 4.35, 'Europe/Brussels'], { station: 'Midi' }),
  city('Zurich', 'CH', 'ZRH Kloten', [47.38, 8.54, 'Europe/Zurich'], { station: 'Hauptbahnhof' }),
  city('Vienna', 'AT', 'VIE Schwechat', [48.21, 16.37, 'Europe/Vienna'], { station: 'Hauptbahnhof' }),
  city('Lisbon', 'PT', 'LIS Humberto Delgado', [38.72, -9.14, 'Europe/Lisbon']),
  city('Copenhagen', 'DK', 'CPH Kastrup', [55.68, 12.57, 'Europe/Copenhagen']),
  city('New York', 'US', 'JFK John F. Kennedy', [40.71, -74.01, 'America/New_York']),
  city('Singapore', 'SG', 'SIN Changi', [1.35, 103.82, 'Asia/Singapore']),
];

/** Where a plane or a train stops. */
export function stopIn({ name, country, airport, station, lat, lng }: City, kind: 'flight' | 'rail'): Place {
  const spot = { country: { code: country }, geoloc: { lat, lng } };
  if (kind === 'rail' && station !== undefined)
    return { ...spot, name: `${name} ${station}`, type: 'station' };
  const { iataCode } = airport;
  const full = airport.name === name ? name : `${name} ${airport.name}`;
  return { airport: { iataCode }, ...spot, name: full, type: 'airport' };
}

/** Kilometers by air, near enough (the haversine formula). */
export function kilometers(one: City, other: City): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (a: number, b: number) => Math.sin(radians(b - a) / 2) ** 2;
  const across = Math.cos(radians(one.lat)) * Math.cos(radians(other.lat)) * half(one.lng, other.lng);
  return 2 * 6371 * Math.asin(Math.sqrt(half(one.lat, other.lat) + across));
}

function city(
  name: string,
  country: string,
  airport: string,
  [lat, lng, zone]: [number, number, string],
  more: Pick<City, 'station' | 'postal'> = {},
): City {
  const [iataCode, airportName] = [airport.slice(0, 3), airport.slice(4)];
  return { name, country, airport: { iataCode, name: airportName }, lat, lng, zone, ...more };
}

/** The time of a local clock that is written as if it were UTC, from a time in epoch milliseconds. */
export function localTime(time: number, zone: string): number {
  return time + aheadOfUtc(time, zone);
}

/** The time in epoch milliseconds at which the clocks of a zone show a local time that is written as if it were UTC. */
export function timeOf(local: number, zone: string): number {
  // The offset of a time near by is that of the time itself, but within hours of a change of the clocks.
  const near = local - aheadOfUtc(local, zone);
  return local - aheadOfUtc(near, zone);
}

/** How far the clocks of a zone are ahead of UTC at a time, in milliseconds. */
function aheadOfUtc(time: number, zone: string): number {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return shown - Math.floor(time / 1000) * 1000;
}

/** Making one takes longer than a thousand uses of it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  clocks.set(timeZone, made);
  return made;
}

/** A country where the company has people: how they are called, and where they live. */
export interface Population {
  country: string;
  /** Its language, as far as the service speaks it. */
  lang: 'en' | 'fr';
  currency: string;
  /** The form of a company there. */
  form: string;
  /** Its name as part of a company's. */
  name: string;
  weight: number;
  /** The numbers that its authority keeps for films and books: nobody has them, so nobody is ever called. */
  phone?: { prefix: string; digits: number };
}

/** The countries of the company, the largest first. */
export const populations: Population[] = [
  {
    ...{ country: 'FR', lang: 'fr', currency: 'EUR', form: 'SAS', name: 'France', weight: 40 },
    phone: { prefix: '+33 63998', digits: 4 },
  },
  {
    ...{ country: 'DE', lang: 'en', currency: 'EUR', form: 'GmbH', name: 'Deutschland', weight: 20 },
    phone: { prefix: '+49 17139200', digits: 2 },
  },
  {
    ...{ country: 'GB', lang: 'en', currency: 'GBP', form: 'Ltd', name: 'UK', weight: 15 },
    phone: { prefix: '+44 7700900', digits: 3 },
  },
  { country: 'ES', lang: 'en', currency: 'EUR', form: 'S.L.', name: 'España', weight: 10 },
  { country: 'IT', lang: 'en', currency: 'EUR', form: 'S.r.l.', name: 'Italia', weight: 8 },
  { country: 'SE', lang: 'en', currency: 'SEK', form: 'AB', name: 'Sverige', weight: 7 },
];

/** Who gives names, by country, and who throws the dice. */
export interface Names {
  of(country: string): Faker;
  /** Numbers from 0 up to 1, the same for the same seed and purpose. */
  source(purpose: number): { next(): number };
}

/** Loads the lists of names, which are large: only here, so that nobody else pays for them. */
export async function loadNames(seed: number): Promise<Names> {
  const { Faker, base, de, en, en_GB, es, fr, generateMersenne53Randomizer, it, sv } = await import(
    '@faker-js/faker'
  );
  const source = (purpose: number) => {
    const randomizer = generateMersenne53Randomizer();
    randomizer.seed([seed, purpose]);
    return randomizer;
  };
  const randomizer = source(0);
  const locales = { DE: de, ES: es, FR: fr, GB: en_GB, IT: it, SE: sv };
  const fakers = new Map(
    Object.entries(locales).map(([country, locale]) => {
      return [country, new Faker({ locale: [locale, en, base], randomizer })];
    }),
  );
  return {
    of: (country) => {
      const faker = fakers.get(country);
      if (!faker) throw new Error(`there are no names for ${country}`);
      return faker;
    },
    source: (purpose) => source(purpose),
  };
}

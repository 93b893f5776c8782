import type { Place } from '../travel/fields.ts';

/** A city in which people live or to which they travel. */
export interface City {
  name: string;
  country: string;
  airport: { iataCode: string; name: string };
  station?: string;
  lat: number;
  lng: number;
  /** The time zone, by its name in the tz database. */
  zone: string;
  /** The first digits of the postal codes; set for the cities in which people live. */
  postal?: string;
}

/** The cities, those with an office first. */
export const cities: City[] = [
  city('Paris', 'FR', 'CDG Charles de Gaulle', [48.86, 2.35, 'Europe/Paris'], ['Gare de Lyon', '750']),
  city('Lyon', 'FR', 'LYS Saint-Exupéry', [45.76, 4.84, 'Europe/Paris'], ['Part-Dieu', '6900']),
  city('Toulouse', 'FR', 'TLS Blagnac', [43.6, 1.44, 'Europe/Paris'], ['Matabiau', '310']),
  city('Berlin', 'DE', 'BER Brandenburg', [52.52, 13.4, 'Europe/Berlin'], ['Hauptbahnhof', '101']),
  city('Munich', 'DE', 'MUC Franz Josef Strauss', [48.14, 11.58, 'Europe/Berlin'], ['Hauptbahnhof', '803']),
  city('Hamburg', 'DE', 'HAM Helmut Schmidt', [53.55, 9.99, 'Europe/Berlin'], ['Hauptbahnhof', '203']),
  city('London', 'GB', 'LHR Heathrow', [51.51, -0.13, 'Europe/London'], ['St Pancras', 'EC1A']),
  city('Manchester', 'GB', 'MAN Manchester', [53.48, -2.24, 'Europe/London'], ['Piccadilly', 'M1']),
  city('Madrid', 'ES', 'MAD Barajas', [40.42, -3.7, 'Europe/Madrid'], ['Atocha', '280']),
  city('Barcelona', 'ES', 'BCN El Prat', [41.39, 2.17, 'Europe/Madrid'], ['Sants', '080']),
  city('Milan', 'IT', 'LIN Linate', [45.46, 9.19, 'Europe/Rome'], ['Centrale', '201']),
  city('Rome', 'IT', 'FCO Fiumicino', [41.9, 12.5, 'Europe/Rome'], ['Termini', '001']),
  city('Stockholm', 'SE', 'ARN Arlanda', [59.33, 18.07, 'Europe/Stockholm'], ['Centralstation', '11']),
  city('Gothenburg', 'SE', 'GOT Landvetter', [57.71, 11.97, 'Europe/Stockholm'], ['Centralstation', '41']),
  city('Amsterdam', 'NL', 'AMS Schiphol', [52.37, 4.9, 'Europe/Amsterdam'], ['Centraal']),
  city('Brussels', 'BE', 'BRU Zaventem', [50.85, 4.35, 'Europe/Brussels'], ['Midi']),
  city('Zurich', 'CH', 'ZRH Kloten', [47.38, 8.54, 'Europe/Zurich'], ['Hauptbahnhof']),
  city('Vienna', 'AT', 'VIE Schwechat', [48.21, 16.37, 'Europe/Vienna'], ['Hauptbahnhof']),
  city('Lisbon', 'PT', 'LIS Humberto Delgado', [38.72, -9.14, 'Europe/Lisbon']),
  city('Copenhagen', 'DK', 'CPH Kastrup', [55.68, 12.57, 'Europe/Copenhagen']),
  city('New York', 'US', 'JFK John F. Kennedy', [40.71, -74.01, 'America/New_York']),
  city('Singapore', 'SG', 'SIN Changi', [1.35, 103.82, 'Asia/Singapore']),
];

/** Returns the airport of a city, or its main station for a train. */
export function stationOf(
  { name, country, airport, station, lat, lng }: City,
  kind: 'flight' | 'rail',
): Place {
  const location = { country: { code: country }, geoloc: { lat, lng } };
  if (kind === 'rail' && station !== undefined)
    return { ...location, name: `${name} ${station}`, type: 'station' };
  const { iataCode } = airport;
  const full = airport.name === name ? name : `${name} ${airport.name}`;
  return { airport: { iataCode }, ...location, name: full, type: 'airport' };
}

/** The distance by air between two cities in kilometers, by the haversine formula. */
export function kilometers(one: City, other: City): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const haversine = (a: number, b: number) => Math.sin(radians(b - a) / 2) ** 2;
  const across = Math.cos(radians(one.lat)) * Math.cos(radians(other.lat)) * haversine(one.lng, other.lng);
  return 2 * 6371 * Math.asin(Math.sqrt(haversine(one.lat, other.lat) + across));
}

function city(
  name: string,
  country: string,
  airport: string,
  [lat, lng, zone]: [number, number, string],
  [station, postal]: [station?: string, postal?: string] = [],
): City {
  const [iataCode, airportName] = [airport.slice(0, 3), airport.slice(4)];
  return {
    ...{ name, country, airport: { iataCode, name: airportName }, lat, lng, zone },
    ...(station === undefined ? {} : { station }),
    ...(postal === undefined ? {} : { postal }),
  };
}

/**
 * Converts a time in epoch milliseconds to a local time: the epoch milliseconds at which a clock in UTC shows what the clocks of
 * the zone show.
 */
export function toLocalTime(time: number, zone: string): number {
  return time + utcOffset(time, zone);
}

/** Converts a local time (as `toLocalTime` returns it) to epoch milliseconds. */
export function fromLocalTime(local: number, zone: string): number {
  // Near a change between standard and summer time, the first estimate of the offset may be wrong; a second step
  // corrects it.
  const estimate = local - utcOffset(local, zone);
  return local - utcOffset(estimate, zone);
}

/** The offset of a zone from UTC at a time, in milliseconds; positive to the east. */
function utcOffset(time: number, zone: string): number {
  const [, sign = '+', hours = 0, minutes = 0] =
    /GMT([+-])(\d+):(\d+)/.exec(formatFor(zone).format(time)) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Cached formatters by time zone, because creating one takes a thousand times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  formats.set(timeZone, format);
  return format;
}

/** A country in which the company has a branch. */
export interface Country {
  country: string;
  /** The language of the branch; one that the travel service supports. */
  lang: 'en' | 'fr';
  currency: string;
  /** The legal form of companies in the country, which is appended to the company's name. */
  form: string;
  /** The name of the country, which is appended to the company's name. */
  name: string;
  /** The share of the people who work there, relative to the other countries. */
  weight: number;
  /** Phone numbers that the national authority reserves for films and books, so that they belong to no subscriber. */
  phone?: { prefix: string; digits: number };
}

/** The countries of the company, the largest first. */
export const countries: Country[] = [
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

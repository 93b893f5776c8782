import type { Place } from '../travel/declaration/fields.ts';

/** A city in which people live or to which they travel. */
export interface City {
  name: string;
  country: string;
  /** The time zone, by its name in the tz database. */
  zone: string;
  iataCode: string;
  lat: number;
  lng: number;
}

/** The cities. The company has branches in the first ones. */
export const cities: City[] = [
  { name: 'Paris', country: 'FR', zone: 'Europe/Paris', iataCode: 'CDG', lat: 48.86, lng: 2.35 },
  { name: 'Berlin', country: 'DE', zone: 'Europe/Berlin', iataCode: 'BER', lat: 52.52, lng: 13.4 },
  { name: 'London', country: 'GB', zone: 'Europe/London', iataCode: 'LHR', lat: 51.51, lng: -0.13 },
  { name: 'Madrid', country: 'ES', zone: 'Europe/Madrid', iataCode: 'MAD', lat: 40.42, lng: -3.7 },
  { name: 'Milan', country: 'IT', zone: 'Europe/Rome', iataCode: 'LIN', lat: 45.46, lng: 9.19 },
  { name: 'Stockholm', country: 'SE', zone: 'Europe/Stockholm', iataCode: 'ARN', lat: 59.33, lng: 18.07 },
  { name: 'Amsterdam', country: 'NL', zone: 'Europe/Amsterdam', iataCode: 'AMS', lat: 52.37, lng: 4.9 },
  { name: 'Brussels', country: 'BE', zone: 'Europe/Brussels', iataCode: 'BRU', lat: 50.85, lng: 4.35 },
  { name: 'Zurich', country: 'CH', zone: 'Europe/Zurich', iataCode: 'ZRH', lat: 47.38, lng: 8.54 },
  { name: 'Vienna', country: 'AT', zone: 'Europe/Vienna', iataCode: 'VIE', lat: 48.21, lng: 16.37 },
  { name: 'Lisbon', country: 'PT', zone: 'Europe/Lisbon', iataCode: 'LIS', lat: 38.72, lng: -9.14 },
  { name: 'Copenhagen', country: 'DK', zone: 'Europe/Copenhagen', iataCode: 'CPH', lat: 55.68, lng: 12.57 },
  { name: 'New York', country: 'US', zone: 'America/New_York', iataCode: 'JFK', lat: 40.71, lng: -74.01 },
  { name: 'Singapore', country: 'SG', zone: 'Asia/Singapore', iataCode: 'SIN', lat: 1.35, lng: 103.82 },
];

/** The language and the currency of a branch. The travel service supports English and French. */
export function localeOf({ country }: City): { lang: 'en' | 'fr'; currency: string } {
  const currency = { GB: 'GBP', SE: 'SEK' }[country] ?? 'EUR';
  return { lang: country === 'FR' ? 'fr' : 'en', currency };
}

/** Returns the airport of a city, or its station. */
export function stationOf({ name, country, iataCode, lat, lng }: City, kind: 'flight' | 'rail'): Place {
  const location = { country: { code: country }, geoloc: { lat, lng } };
  if (kind === 'rail') return { ...location, name: `${name} station`, type: 'station' };
  return { airport: { iataCode }, ...location, name: `${name} ${iataCode}`, type: 'airport' };
}

/** The distance by air between two cities in kilometers, by the haversine formula. */
export function kilometers(one: City, other: City): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const haversine = (a: number, b: number) => Math.sin(radians(b - a) / 2) ** 2;
  const across = Math.cos(radians(one.lat)) * Math.cos(radians(other.lat)) * haversine(one.lng, other.lng);
  return 2 * 6371 * Math.asin(Math.sqrt(haversine(one.lat, other.lat) + across));
}

/** Cached formatters by time zone, because creating one takes a thousand times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns what the clocks of a city show at a time in epoch milliseconds, such as `2026-11-20T08:00:00`. */
export function localDateTime(time: number, { zone: timeZone }: City): string {
  // Swedish dates and times are written like those of ISO 8601.
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(timeZone, format);
  return format.format(time).replace(' ', 'T');
}

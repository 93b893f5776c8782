import type { Place } from '../resources/place.ts';

/** A city where people live, or to which they travel. */
export interface City {
  name: string;
  country: string;
  airport: { iataCode: string; name: string };
  station?: string;
  lat: number;
  lng: number;
  /** Hours before UTC, in winter. */
  zone: number;
  /** The beginning of its postal codes, where people live. */
  postal?: string;
}

/** Cities of the offices come first. */
export const cities: City[] = [
  city('Paris', 'FR', 'CDG Charles de Gaulle', [48.86, 2.35, 1], { station: 'Gare de Lyon', postal: '750' }),
  city('Lyon', 'FR', 'LYS Saint-Exupéry', [45.76, 4.84, 1], { station: 'Part-Dieu', postal: '6900' }),
  city('Toulouse', 'FR', 'TLS Blagnac', [43.6, 1.44, 1], { station: 'Matabiau', postal: '310' }),
  city('Berlin', 'DE', 'BER Brandenburg', [52.52, 13.4, 1], { station: 'Hauptbahnhof', postal: '101' }),
  city('Munich', 'DE', 'MUC Franz Josef Strauss', [48.14, 11.58, 1], {
    station: 'Hauptbahnhof',
    postal: '803',
  }),
  city('Hamburg', 'DE', 'HAM Helmut Schmidt', [53.55, 9.99, 1], { station: 'Hauptbahnhof', postal: '203' }),
  city('London', 'GB', 'LHR Heathrow', [51.51, -0.13, 0], { station: 'St Pancras', postal: 'EC1A' }),
  city('Manchester', 'GB', 'MAN Manchester', [53.48, -2.24, 0], { station: 'Piccadilly', postal: 'M1' }),
  city('Madrid', 'ES', 'MAD Barajas', [40.42, -3.7, 1], { station: 'Atocha', postal: '280' }),
  city('Barcelona', 'ES', 'BCN El Prat', [41.39, 2.17, 1], { station: 'Sants', postal: '080' }),
  city('Milan', 'IT', 'LIN Linate', [45.46, 9.19, 1], { station: 'Centrale', postal: '201' }),
  city('Rome', 'IT', 'FCO Fiumicino', [41.9, 12.5, 1], { station: 'Termini', postal: '001' }),
  city('Stockholm', 'SE', 'ARN Arlanda', [59.33, 18.07, 1], { station: 'Centralstation', postal: '11' }),
  city('Gothenburg', 'SE', 'GOT Landvetter', [57.71, 11.97, 1], { station: 'Centralstation', postal: '41' }),
  city('Amsterdam', 'NL', 'AMS Schiphol', [52.37, 4.9, 1], { station: 'Centraal' }),
  city('Brussels', 'BE', 'BRU Zaventem', [50.85, 4.35, 1], { station: 'Midi' }),
  city('Zurich', 'CH', 'ZRH Kloten', [47.38, 8.54, 1], { station: 'Hauptbahnhof' }),
  city('Vienna', 'AT', 'VIE Schwechat', [48.21, 16.37, 1], { station: 'Hauptbahnhof' }),
  city('Lisbon', 'PT', 'LIS Humberto Delgado', [38.72, -9.14, 0]),
  city('Copenhagen', 'DK', 'CPH Kastrup', [55.68, 12.57, 1]),
  city('New York', 'US', 'JFK John F. Kennedy', [40.71, -74.01, -5]),
  city('Singapore', 'SG', 'SIN Changi', [1.35, 103.82, 8]),
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
  [lat, lng, zone]: [number, number, number],
  more: Pick<City, 'station' | 'postal'> = {},
): City {
  const [iataCode, airportName] = [airport.slice(0, 3), airport.slice(4)];
  return { name, country, airport: { iataCode, name: airportName }, lat, lng, zone, ...more };
}

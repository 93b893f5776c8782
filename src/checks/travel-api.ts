import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { TravelAnswer } from '../model/travel-ports.ts';
import type { TravelUser } from '../model/traveler.ts';
import { withConnection } from './with-connection.ts';

/** The answer of a travel API to the question for the bridge's own user. */
export interface TravelProbe {
  answer: TravelAnswer<TravelUser>;
  latencyMs: number;
  /** The travel API's clock minus the clock of this machine; undefined if its response has no date. */
  clockDifferenceMs: number | undefined;
}

/** Makes one call to the travel API of a connection and measures it. */
export function probeTravel(settings: Settings, connection: ConnectionSettings): Promise<TravelProbe> {
  return withConnection({ settings, connection }, async ({ connection: { lookups }, serverTime }) => {
    const begun = performance.now();
    const answer = await lookups.readOwnUser();
    const latencyMs = Math.round(performance.now() - begun);
    const time = serverTime();
    return { answer, latencyMs, clockDifferenceMs: time === undefined ? undefined : time - Date.now() };
  });
}

/** An id that no traveler has. */
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/**
 * The error responses about travelers: `coded` has an error code, `bare` has none; `gateway`: a 403 or 404 without an
 * error code, and the bridge's own user cannot be read either; `unknown`: another failure.
 */
export type ErrorResponses = 'coded' | 'bare' | 'gateway' | 'unknown';

/** Reads a traveler that does not exist, and looks whether the response has an error code. */
export function probeErrorResponses(
  settings: Settings,
  connection: ConnectionSettings,
): Promise<ErrorResponses> {
  return withConnection({ settings, connection }, async ({ connection: opened }) => {
    const answer = await opened.travel.read(UNKNOWN_ID);
    if (answer.kind === 'notFound') return 'coded';
    if (answer.kind !== 'unavailable' || answer.bareStatus === undefined) return 'unknown';
    const own = await opened.lookups.readOwnUser();
    if (own.kind !== 'ok') return 'unknown';
    return (await opened.travel.read(own.value.id)).kind === 'ok' ? 'bare' : 'gateway';
  });
}

import type { TravelFailure } from '../../src/model/travel-ports.ts';

/** Answers that are given in place of carrying the call out. */
export const failures = {
  down: { kind: 'unavailable', text: 'the connection was refused', isUnanswered: true },
  status500: { kind: 'unavailable', text: '500' },
  status502: { kind: 'unavailable', text: '502' },
  status503: { kind: 'unavailable', text: '503', retryAfterMs: 2_000, isThrottled: true, isDoubtful: true },
  status429: { kind: 'unavailable', text: '429', retryAfterMs: 3_000, isThrottled: true },
  bare403: { kind: 'unavailable', text: '403', isRejected: true, bareStatus: 403 },
  bare404: { kind: 'unavailable', text: '404', bareStatus: 404 },
} as const satisfies Record<string, TravelFailure>;

/**
 * The faults of one call to the travel API: an answer of `failures`; `slow`: it takes long; `lost`: it is carried out, and its answer is lost;
 * `hang`: it is neither carried out nor answered; `late`: it is not answered, and carried out some time later; `twice`: something in between
 * sends it twice; `noEffect`: it is answered as if it had been carried out.
 */
export type Fault = keyof typeof failures | 'slow' | 'lost' | 'hang' | 'late' | 'twice' | 'noEffect';

export const allFaults = [
  'down',
  'status500',
  'status502',
  'status503',
  'status429',
  'bare403',
  'bare404',
  'slow',
  'lost',
  'hang',
  'late',
  'twice',
  'noEffect',
] as const satisfies readonly Fault[];

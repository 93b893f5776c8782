import type { TravelFailure } from '../bridge/ports.ts';
import { inLine } from './escape.ts';

/** Why the travel API could not be read, with what would help. */
export function failureText(failure: TravelFailure): string {
  switch (failure.kind) {
    case 'unauthorized':
      return 'it refuses the credential (401); check TRAVEL_API_KEY';
    case 'forbidden':
      return 'the credential may not read this (403); check what it may do';
    case 'notFound':
      return 'there is nothing at that path (404); check TRAVEL_API_URL and travelApi.paths';
    case 'unavailable':
      return `${inLine(failure.text)}; check TRAVEL_API_URL, or try again later`;
    case 'conflict':
    case 'invalid':
      return `it does not take the question (${failure.kind}); check TRAVEL_API_URL and travelApi.paths`;
  }
}

import type { TripProject } from '../resources/trip-project.ts';
import type { Offer } from './offer.ts';

/** When the first of the offers begins, as a local date-time. */
export function startOf(offers: Offer[]): string | undefined {
  return offers.flatMap((offer) => start(offer) ?? []).sort()[0];
}

/** The countries to which a trip leads. */
export function countriesOf({ arrivalPlace }: TripProject['search'], offers: Offer[]): string[] {
  const codes = [arrivalPlace, ...offers.flatMap(places)].flatMap((place) => place?.country?.code ?? []);
  return [...new Set(codes)];
}

function start(offer: Offer): string | undefined {
  switch (offer.kind) {
    case 'hotel':
      return `${offer.stay.checkinLocaleDate}T00:00:00`;
    case 'car':
      return offer.rental.pickupLocaleDateTime;
    case 'flight':
    case 'rail':
      return offer.legs[0]?.segments[0]?.departure.localeDateTime;
  }
}

/** The last leg of a return leads home, where nobody needs to be allowed to go: the first counts. */
function places(offer: Offer) {
  switch (offer.kind) {
    case 'hotel':
      return [offer.stay.place];
    case 'car':
      return [offer.rental.pickupPlace, offer.rental.returnpPlace];
    case 'flight':
    case 'rail': {
      const out = offer.legs.length > 1 ? offer.legs.slice(0, -1) : offer.legs;
      return out.flatMap(({ segments }) => segments.slice(-1).map(({ arrival }) => arrival.place));
    }
  }
}

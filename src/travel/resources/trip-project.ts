import { z } from 'zod';
import { oneOf, text } from '../fields.ts';
import { defineResource } from '../resource.ts';
import { customFieldReferences } from './custom-field-check.ts';
import { customFieldValues, presentCustomFields, valuesOf } from './custom-field-values.ts';
import { booking, rate } from './trip-bookings.ts';
import { carRental, hotelStay, search, transportLeg } from './trip-itinerary.ts';
import { tripProjectExample } from './trip-project-example.ts';

const schema = z
  .strictObject({
    approvalStatus: oneOf(['approved', 'awaitApproval', 'bookingAllowed', 'declined']).optional(),
    bookings: z.array(booking).optional(),
    carRentals: z.array(carRental).optional(),
    customFields: customFieldValues.optional(),
    hotelStays: z.array(hotelStay).optional(),
    projectCodeId: text.optional(),
    rates: z.array(rate),
    search,
    transportLegs: z.array(transportLeg).optional(),
    travelerIds: z.array(text),
  })
  .meta({ description: 'A travel booking file: the search, what it found, and what was booked' });

/** The document of a trip project. */
export type TripProject = z.infer<typeof schema>;

/** "A trip project is a travel booking file." */
export const tripProject = defineResource({
  type: 'tripProject',
  path: 'trip-projects',
  idForm: 'B',
  schema,
  operations: ['list', 'retrieve'],
  events: ['created'],
  sortBy: [],
  filters: [],
  references: [{ field: 'projectCodeId', to: 'projectCode' }],
  rules: {
    references: (doc) => [
      ...travelerIds(doc).map((id) => ({ type: 'user', id })),
      ...customFieldReferences(valuesOf(doc)),
    ],
    present: presentCustomFields,
  },
  example: tripProjectExample,
});

function travelerIds({ travelerIds: ids }: { travelerIds?: unknown }): string[] {
  return Array.isArray(ids) ? ids.map(String) : [];
}

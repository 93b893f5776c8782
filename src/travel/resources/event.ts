import { z } from 'zod';
import { oneOf, text } from '../declaration/fields.ts';
import { defineResource } from '../declaration/resource.ts';

/** All kinds of events (specification, "Event kinds"). */
export const eventKinds = [
  'billingOperation.created',
  'billingOperation.updated',
  'billingProfile.created',
  'billingProfile.updated',
  'billingProfile.deleted',
  'bookingCancellation.created',
  'bookingModification.created',
  'costCenter.created',
  'costCenter.updated',
  'costCenter.deleted',
  'dispute.created',
  'dispute.updated',
  'invoice.created',
  'invoice.updated',
  'projectCode.created',
  'projectCode.updated',
  'projectCode.deleted',
  'refund.created',
  'refund.updated',
  'travelPolicy.created',
  'travelPolicy.updated',
  'travelPolicy.deleted',
  'tripProject.created',
  'tripProject.booking.succeeded',
  'tripProject.booking.failed',
  'user.created',
  'user.updated',
  'user.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
] as const;

const resource = z.looseObject({ id: text, type: text, createdAt: text });

/** The resource of events: "An event records that the state of another resource changed" (specification). */
export const event = defineResource({
  type: 'event',
  path: 'events',
  idForm: 'A',
  schema: z
    .strictObject({
      data: resource,
      kind: oneOf(eventKinds),
      previousAttributes: z.looseObject({}).optional(),
    })
    .meta({ description: 'A change of the state of another resource, kept for 30 days' }),
  isReadOnly: true,
  filterBy: { kind: 'kind' },
  cursor: true,
  example: {
    data: {
      id: '5d3b0a1c9e8f7a6b5c4d3e2f',
      type: 'costCenter',
      createdAt: '2026-11-20T12:00:00Z',
      archived: false,
      name: 'Research',
    },
    kind: 'costCenter.updated',
    previousAttributes: { name: 'Laboratory' },
  },
});

/**
 * Events are deleted after this time: "Access to events through the API is guaranteed only for 30 days"
 * (specification).
 */
export const EVENT_DAYS = 30;

import { z } from 'zod';
import { exampleOf } from '../../contract/code-samples.ts';
import type { ApiOperation } from '../../contract/openapi.ts';
import type { JsonObject } from '../json.ts';
import { event, eventKinds } from '../resources/event.ts';
import { booking, bookingCancellation, bookingModification } from '../resources/trip-project.ts';
import { capitalize, type Documented, idText } from './bodies.ts';

/** What an event keeps of a user who was erased. */
const erasedUser = z
  .object({ id: idText('B'), type: z.literal('user'), createdAt: z.string().meta({ format: 'date-time' }) })
  .meta({ id: 'ErasedUser', description: 'What an event keeps of a user who was erased' });

/** The schema of what events of a kind embed: `tripProject.booking.failed` embeds a booking, `user.created` a user. */
function eventData(kind: string, documented: Documented[]): z.ZodType {
  const type = kind.split('.').at(-2) ?? '';
  const partsOfTrips = new Map<string, z.ZodType>(
    Object.entries({ booking, bookingCancellation, bookingModification }),
  );
  const found = partsOfTrips.get(type) ?? documented.find(({ resource }) => resource.type === type)?.answered;
  return type === 'user' ? z.union([found ?? erasedUser, erasedUser]) : (found ?? erasedUser);
}

/** Describes the data of an event as the union of what the kinds embed. */
export function withEventData(documented: Documented[]): Documented[] {
  const embedded = new Set(eventKinds.map((kind) => eventData(kind, documented)));
  const types = [...embedded].flatMap((one) => (one instanceof z.ZodUnion ? one.options : [one]));
  const data = z.union([...new Set(types)] as z.ZodType[]);
  return documented.map((one) => {
    if (one.resource.type !== event.type) return one;
    const about = one.answered.meta() ?? {};
    return { ...one, answered: one.answered.extend({ data }).meta(about) };
  });
}

/** The request that webhooks receive for a kind of event. */
export function eventRequest(kind: string, documented: Documented[]): ApiOperation {
  const name = kind.split('.').map(capitalize).join('');
  const any = documented.find(({ resource }) => resource.type === event.type)?.answered;
  const data = eventData(kind, documented);
  const example = { ...Object(any && exampleOf(any)), ...exampleEvent(kind, documented) };
  return {
    id: `on${name}`,
    ...{ method: 'post', path: kind, summary: kind, others: { security: [] } },
    parameters: { header: webhookHeaders },
    body: any?.extend({ kind: z.literal(kind), data }).meta({
      id: `${name}Event`,
      description: `What a webhook receives for \`${kind}\``,
      examples: [example],
    }),
    responses: {
      '2XX': { description: 'The event was received' },
      default: { description: 'Delivered again later; 410 disables the webhook' },
    },
  };
}

/** An example of what an event of a kind says. */
export function exampleEvent(kind: string, documented: Documented[]): JsonObject {
  const previous = kind.endsWith('.updated') ? { previousAttributes: {} } : {};
  return { data: exampleOf(eventData(kind, documented)) ?? null, kind, ...previous };
}

const webhookHeaders = {
  'webhook-id': z.string().describe('The id of the event, the same at each attempt'),
  'webhook-timestamp': z.string().describe('When this attempt was made, in seconds since 1970'),
  'webhook-signature': z.string().describe('Signatures of the id, the time and the body (Standard Webhooks)'),
};

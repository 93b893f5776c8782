import { isObject, type Json, type JsonObject } from '../json.ts';
import { eventKinds } from '../resources/event.ts';
import { answeredExample } from './examples.ts';
import { type Documented, jsonContent, reference } from './operation.ts';
import { capitalized } from './words.ts';

/** What webhooks are sent, by kind of event; undefined where there are none. */
export function eventWebhooks(documented: Documented[], schemas: JsonObject): JsonObject | undefined {
  if (!documented.some(({ resource }) => resource.type === 'webhook')) return undefined;
  const answered = documented.map(({ resource, shape }) => answeredExample(resource, shape));
  const examples = [...answered, ...Object.values(schemas).flatMap(ownExamples)];
  return Object.fromEntries(eventKinds.map((kind) => [kind, { post: delivery(kind, examples) }]));
}

function delivery(kind: string, examples: Json[]): JsonObject {
  // `tripProject.booking.failed` embeds a booking, `user.created` a user.
  const embedded = kind.split('.').at(-2) ?? '';
  const parts = { kind: { const: kind }, data: reference(capitalized(embedded)) };
  return {
    operationId: `on${kind.split('.').map(capitalized).join('')}`,
    summary: kind,
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: jsonContent(
        { allOf: [reference('Event'), { properties: parts }] },
        exampleOf(kind, embedded, examples),
      ),
    },
    responses: {
      '2XX': { description: 'Received' },
      default: { description: 'Delivered again later; 410 disables the webhook' },
    },
  };
}

const headers = [
  { name: 'webhook-id', about: 'The id of the event, the same at each attempt' },
  { name: 'webhook-timestamp', about: 'When this attempt was made, in seconds since 1970' },
  { name: 'webhook-signature', about: 'Signatures of the id, the time and the body (Standard Webhooks)' },
].map(({ name, about }) => ({
  ...{ name, in: 'header', required: true, description: about },
  schema: { type: 'string' },
}));

/** The event with what an example has of this type; none where no example has it. */
function exampleOf(kind: string, type: string, examples: Json[]): Record<string, JsonObject> {
  const event = partOf(examples, 'event');
  const data = partOf(examples, type);
  if (!event || !data) return {};
  const { id, createdAt } = event;
  return { example: { id: id ?? '', type: 'event', createdAt: createdAt ?? '', data, kind } };
}

function ownExamples(schema: Json): Json[] {
  const { examples } = isObject(schema) ? schema : {};
  return Array.isArray(examples) ? examples : [];
}

/** The first object of this type anywhere in a value. */
function partOf(value: Json, type: string): JsonObject | undefined {
  if (isObject(value) && value['type'] === type && 'id' in value) return value;
  const parts = typeof value === 'object' && value !== null ? Object.values(value) : [];
  for (const part of parts) {
    const found = partOf(part, type);
    if (found) return found;
  }
  return undefined;
}

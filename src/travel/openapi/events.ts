import type { JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { eventKinds } from '../resources/event.ts';
import { jsonContent, reference } from './operation.ts';
import { shapeNames } from './shapes.ts';

/** What webhooks are sent, by kind of event; undefined where there are none. */
export function eventWebhooks(catalog: Resource[]): JsonObject | undefined {
  if (!catalog.some(({ type }) => type === 'webhook')) return undefined;
  return Object.fromEntries(eventKinds.map((kind) => [kind, { post: delivery(kind, catalog) }]));
}

function delivery(kind: string, catalog: Resource[]): JsonObject {
  const embedded = catalog.find(({ type }) => kind === `${type}.${kind.split('.').at(-1)}`);
  const data = embedded ? { data: reference(shapeNames(embedded).answered) } : {};
  return {
    summary: kind,
    requestBody: {
      required: true,
      content: jsonContent(
        { allOf: [reference('Event'), { properties: { kind: { const: kind }, ...data } }] },
        {},
      ),
    },
    responses: { '2XX': { description: 'Received; anything else is delivered again.' } },
  };
}

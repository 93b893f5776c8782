import { withRecorder } from '../../src/travel/changes.ts';
import { indexKeys, type Resource } from '../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { parseDocument } from '../../src/travel/requests/validation.ts';
import { invoice } from '../../src/travel/resources/billing.ts';
import { customField } from '../../src/travel/resources/custom-field.ts';
import { webhookDelivery } from '../../src/travel/resources/webhook.ts';
import type { Fixture } from '../fixtures/travel.ts';
import { partAt } from './contract.ts';

/** The example of a type in the OpenAPI document. */
export function answeredExample({ type }: Resource): JsonObject & { id: string } {
  const { examples } = partAt(`#/components/schemas/${type.charAt(0).toUpperCase()}${type.slice(1)}`);
  const [example] = examples as (JsonObject & { id: string })[];
  if (!example) throw new Error(`there is no example of a ${type}`);
  return example;
}

/** A stored resource and its path. */
export interface StoredExample {
  /** The path of the collection. */
  path: string;
  id: string;
}

/** Stores the documented example of a type that clients cannot create, without checking its references. */
export async function storeExample(fixture: Fixture, resource: Resource): Promise<StoredExample> {
  if (resource === webhookDelivery) return deliver(fixture);
  const example = answeredExample(resource);
  const isKept = ([name]: [string, unknown]) => Object.hasOwn(resource.schema.shape, name);
  const doc = Object.fromEntries(Object.entries(example).filter(isKept));
  await keep(fixture, { resource, id: example.id, doc });
  for (const { customFieldId, name } of (doc['customFields'] ?? []) as JsonObject[]) {
    const field = parseDocument(customField, { ...customField.example, name: name ?? '' });
    await keep(fixture, { resource: customField, id: String(customFieldId), doc: field });
  }
  return { path: `/${resource.path}`, id: example.id };
}

async function keep(
  { runtime: { store, now } }: Fixture,
  { resource, id, doc }: { resource: Resource; id: string; doc: JsonObject },
): Promise<void> {
  const stored = { type: resource.type, id, parentId: '', createdAt: now(), doc };
  const keys = { ...indexKeys(resource, stored), references: [] };
  await store.write([resource.type], (within) => within.insert(stored, keys));
}

/** Delivers an event as the example of a delivery describes. */
async function deliver({ make, runtime, queue }: Fixture): Promise<StoredExample> {
  const webhook = await make('/webhooks', { url: 'https://example.com', events: ['invoice.created'] });
  const data = answeredExample(invoice);
  await withRecorder({ ...runtime, onChange: () => {} }, [invoice.type], async ({ appendEvent: tell }) =>
    tell('invoice.created', data),
  );
  const lease = { webhookId: webhook.id, token: 'example', ms: 1000 };
  await queue.acquireLease(lease, runtime.now());
  const { id = '' } = (await queue.nextDelivery(webhook.id, runtime.now())) ?? {};
  const { attempts } = webhookDelivery.example as { attempts: { at: string; latencyMs: number }[] };
  const kept = attempts.map((attempt) => ({ ...attempt, at: Date.parse(attempt.at) }));
  await queue.saveOutcome(lease, { id, outcome: { status: 'succeeded', attempts: kept } }, runtime.now());
  await queue.releaseLeases(lease, runtime.now());
  return { path: `/webhooks/${webhook.id}/deliveries`, id };
}

import { withRecorder } from '../../../src/travel/changes.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { costCenter } from '../../../src/travel/resources/lookups.ts';
import { type Fixture, type FixtureOptions, openFixture } from '../../fixtures/travel.ts';
import { openReceiver, type Receiver } from './receiver.ts';

/** A travel service with webhook receivers. */
export interface WebhookFixture {
  readonly fixture: Fixture;
  /** Starts a receiver. */
  openReceiver(): Promise<Receiver>;
  /** Creates a webhook and returns it with its secret. */
  createWebhook(fields: JsonObject): Promise<JsonObject & { id: string; secret: string }>;
  /** Creates a cost center with this name, and so an event. */
  createEvent(name: string): Promise<JsonObject & { id: string }>;
  /** Creates cost centers in one transaction. */
  createEvents(names: string[]): Promise<void>;
  listDeliveries(webhookId: string, query?: string): Promise<Delivery[]>;
  /** Delivers until nothing is due. */
  deliverAll(): Promise<void>;
}

export interface Delivery {
  id: string;
  type: string;
  createdAt: string;
  eventId: string;
  kind: string;
  status: string;
  nextAttemptAt?: string;
  attempts: { at: string; status?: number; latencyMs: number; error?: string }[];
}

/** Gives every test of a file its own fixture. */
export function webhookFixture(options: FixtureOptions = {}): WebhookFixture {
  let fixture: Fixture;
  let receivers: Receiver[] = [];
  beforeEach(async () => {
    fixture = await openFixture(options);
  });
  afterEach(async () => {
    for (const receiver of receivers) await receiver.close();
    receivers = [];
    await fixture.close();
  });
  return {
    get fixture() {
      return fixture;
    },
    openReceiver: async () => {
      const receiver = await openReceiver();
      receivers.push(receiver);
      return receiver;
    },
    createWebhook: async (fields) => {
      const made = await fixture.make('/webhooks', fields);
      return { ...made, secret: String(made['secret']) };
    },
    createEvent: (name) => fixture.make('/cost-centers', { name }),
    createEvents: async (names) => {
      const { now, newId } = fixture.runtime;
      await withRecorder({ ...fixture.runtime, onChange: () => {} }, ['costCenter'], async (recorder) => {
        for (const name of names) {
          const doc = { archived: false, name };
          const made = { type: 'costCenter', id: newId('A'), parentId: '', createdAt: now(), doc };
          await recorder.insert(costCenter, made);
        }
      });
    },
    listDeliveries: async (webhookId, query = 'limit=100') =>
      (await fixture.send('get', `/webhooks/${webhookId}/deliveries?${query}`)).body.data,
    deliverAll: () => fixture.webhooks.deliverAllDue(),
  };
}

/** The names of the cost centers in the received events, in order of the requests. */
export function receivedNames({ received }: Pick<Receiver, 'received'>): unknown[] {
  return received.map(({ event }) => (event['data'] as JsonObject)['name']);
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

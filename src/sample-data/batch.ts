import type {
  EventTopic,
  IndexKeys,
  ResourceRef,
  StoredResource,
  TravelStore,
  TravelTransaction,
} from '../travel/ports.ts';

/** The types that the simulation writes: each comes after those to which it refers. */
const TYPES = [
  ...[
    'travelPolicy',
    'billingProfile',
    'costCenter',
    'projectCode',
    'customField',
    'customFieldOption',
    'user',
  ],
  ...['tripProject', 'invoice', 'refund', 'dispute', 'billingOperation'],
];

/** The types from which the responses of other resources are derived. They are few, and stay in memory. */
const READ_TYPES = new Set(['customField', 'customFieldOption', 'invoice', 'refund', 'dispute']);

/** Thrown if sample data cannot be created in this account. The message tells the operator why. */
export class SampleDataRefused extends Error {}

interface PendingWrite {
  resource: StoredResource;
  keys: IndexKeys;
  /** The keys that are stored; undefined for a new resource. */
  before: IndexKeys | undefined;
}

/**
 * Collects the writes of the simulation and stores them in few transactions. A resource that changes several times before it
 * is stored is written once. The store may run a transaction again, because the writes are data.
 */
export class Batch {
  readonly #store: TravelStore;
  readonly #known = new Map<string, StoredResource>();
  #writes = new Map<string, PendingWrite>();
  #events: [StoredResource, EventTopic | undefined][] = [];
  /** The number of resources and events that were created, by type. */
  readonly created = new Map<string, number>();

  constructor(store: TravelStore) {
    this.#store = store;
  }

  get size(): number {
    return this.#writes.size + this.#events.length;
  }

  /** The transaction into which a recorder writes. It finds only what the responses of the simulated resources need. */
  readonly transaction: TravelTransaction = {
    read: async (refs) => refs.flatMap((ref) => this.#known.get(keyOf(ref)) ?? []),
    insert: async (resource, keys) => this.#add(resource, keys, undefined),
    replace: async (resource, keys, before) => this.#add(resource, keys, before),
    append: (event, topic) => {
      this.#count(event.type);
      this.#events.push([event, topic]);
    },
    ...{ find: unsupported, lock: unsupported, remove: unsupported },
    ...{ saveSecret: unsupported, isReferenced: unsupported },
  };

  /** Stores everything in one transaction. Throws a `SampleDataRefused` if a name of the company is taken. */
  async store(): Promise<void> {
    const writes = [...this.#writes.values()];
    await this.#store.write([], async (within) => {
      for (const type of TYPES)
        for (const { resource, keys, before } of writes.filter((write) => write.resource.type === type)) {
          const clash = before
            ? await within.replace(resource, keys, before)
            : await within.insert(resource, keys);
          if (clash) throw new SampleDataRefused(`There is a ${type} with this ${clash.taken} already.`);
        }
      for (const [event, topic] of this.#events) within.append(event, topic);
    });
    this.#writes = new Map();
    this.#events = [];
  }

  #add(resource: StoredResource, keys: IndexKeys, before: IndexKeys | undefined): undefined {
    const key = keyOf(resource);
    const pending = this.#writes.get(key);
    if (!before) this.#count(resource.type);
    this.#writes.set(key, { resource, keys, before: pending ? pending.before : before });
    if (READ_TYPES.has(resource.type)) this.#known.set(key, resource);
  }

  #count(type: string): void {
    this.created.set(type, (this.created.get(type) ?? 0) + 1);
  }
}

function keyOf({ type, id }: ResourceRef): string {
  return `${type} ${id}`;
}

function unsupported(): Promise<never> {
  return Promise.reject(new Error('the simulation only inserts, changes and appends'));
}

import { checkNames } from '../translator/check-names.ts';
import type { Mapping } from '../translator/mapping.ts';
import { type Bases, type Basis, basisOf } from './basis.ts';
import type { Connection } from './connection.ts';
import { type Difference, difference } from './difference.ts';
import type { Identity } from './identity.ts';
import { outlooks, type Records } from './outlook.ts';
import type { Identities, Surroundings, TravelFailure } from './ports.ts';
import { type Rehearsal, tally } from './rehearsed.ts';

const BATCH = 100;
/** How long others wait for their turn. */
const PAUSE_MS = 5;

/** Tells what other rules would do, without doing it. */
export interface Rehearser {
  run(connection: Connection, wish: Wish): Promise<Rehearsal | TravelFailure>;
}

/** What is to be told. */
export interface Wish {
  /** The mapping that would take the place of the connection's; without it, the connection's own is compared with what was sent. */
  mapping?: Mapping | undefined;
  /** How many examples at most. */
  examples: number;
  /** Called after each batch of people. */
  onBatch?(looked: number, total: number): void;
}

interface Shop extends Records {
  identities: Records['identities'] & Pick<Identities, 'page'>;
  bases: Pick<Bases, 'current'>;
  surroundings: Pick<Surroundings, 'now'>;
}

/**
 * Goes through everybody of a connection and tells how many would change, in which fields, and how. Nothing is written,
 * and the travel API is asked for nothing but lookups. Batch by batch, in bounded memory, and others get their turn in
 * between. Everybody is judged alone: by the addresses that others hold now, and by the managers that others have now.
 */
export function rehearser(shop: Shop): Rehearser {
  return {
    run: async (connection, wish) => {
      const basis = await shop.bases.current(connection);
      if ('kind' in basis) return basis;
      const { mapping } = wish;
      const change = mapping
        ? { from: basis, to: basisOf({ mapping }, basis.lookups) }
        : { from: undefined, to: basis };
      return rehearse(shop, { connection, ...change }, wish);
    },
  };
}

interface Change {
  connection: Connection;
  from: Basis | undefined;
  to: Basis;
}

async function rehearse(shop: Shop, change: Change, { examples, onBatch }: Wish): Promise<Rehearsal> {
  const sum = tally(examples, change.to.lookups.customFields);
  const rest = rests(shop.surroundings.now);
  for (let offset = 0; ; offset += BATCH) {
    const { identities, total } = await shop.identities.page(change.connection.id, offset, BATCH);
    for (const identity of identities) {
      // Who is shown as the travel service has them is never written, whatever the rules.
      if (identity.claimed) sum.add(identity, await differenceFor(shop, change, identity));
      await rest();
    }
    onBatch?.(Math.min(offset + BATCH, total), total);
    if (identities.length < BATCH) return { ...sum.total(), ...faultsOf(change.to) };
  }
}

function faultsOf({ rules, lookups }: Basis): Pick<Rehearsal, 'mappingFaults'> {
  const mappingFaults = checkNames(rules, lookups);
  return mappingFaults.length > 0 ? { mappingFaults } : {};
}

async function differenceFor(
  shop: Shop,
  { connection, from, to }: Change,
  identity: Identity,
): Promise<Difference> {
  const ahead = outlooks(shop, { connection, identity });
  return difference(identity, from && (await ahead(from)), await ahead(to));
}

/** Lets others in when it has gone on for a while: what the embedded database answers comes without any waiting. */
export function rests(now: () => number): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < PAUSE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    since = now();
  };
}

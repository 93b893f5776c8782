import { addressKey } from './address.ts';
import type { Connection } from './connection.ts';
import type { Identity, Outcome } from './identity.ts';
import { valuesOf } from './names.ts';
import type { Agenda, Identities, References, Surroundings } from './ports.ts';
import { rouse } from './rouse.ts';

/** What spreading the news of an outcome takes. */
interface Neighbourhood {
  identities: Pick<Identities, 'find' | 'holder'>;
  agenda: Pick<Agenda, 'touch' | 'touchWaiting'>;
  references: Pick<References, 'of' | 'referrers'>;
  wake(): void;
  surroundings: Pick<Surroundings, 'now'>;
}

/**
 * Makes those dirty who waited for what this outcome changed: an address that is free now, be it a traveler's or that of
 * a create that came to nothing; a traveler to refer to.
 */
export async function spread(
  shop: Neighbourhood,
  connection: Connection,
  { before, after, announced }: { before: Identity; after: Outcome; announced: string[] },
): Promise<void> {
  const now = shop.surroundings.now();
  // One that it announced in vain, and now waits for itself, is not free.
  const { observed, creating, waitingFor } = after;
  const has = [observed?.email, creating].filter((one) => one !== undefined).map(addressKey);
  if (waitingFor !== undefined) has.push(waitingFor);
  // What was answered last stands in for what was seen, where that is not known.
  const answered = before.travelId === undefined ? undefined : before.applied.email?.answered;
  const had = [before.observed?.email, answered, ...announced].filter((one) => typeof one === 'string');
  // By key, so that an address in two spellings is touched once.
  const freed = new Map(had.map((email) => [addressKey(email), email]));
  for (const key of has) freed.delete(key);
  for (const email of freed.values()) {
    await shop.agenda.touchWaiting(connection.account, email, now);
    shop.wake();
  }
  if (before.travelId !== after.travelId || freed.size > 0)
    await touchReferrers(shop, before, [after.travelId, after.observed?.email, ...had]);
}

/** Those whom a circle through this identity kept from their manager may have one now. */
export async function touchLeftOut(shop: Neighbourhood, { connection, id }: Identity): Promise<void> {
  const leftOut: string[] = [];
  const referrers = await shop.references.referrers(connection, id, []);
  for (const referrer of referrers.filter((one) => one !== id)) {
    const rows = await shop.references.of(connection, referrer);
    if (rows.some(({ target, travelId }) => target === id && travelId === undefined)) leftOut.push(referrer);
  }
  await rouse(shop, connection, leftOut);
}

async function touchReferrers(
  shop: Neighbourhood,
  before: Identity,
  others: (string | undefined)[],
): Promise<void> {
  const values = [...valuesOf(before), before.travelId, ...others].filter((value) => value !== undefined);
  const all = await shop.references.referrers(before.connection, before.id, values);
  // Who names itself has just looked.
  const referrers = all.filter((id) => id !== before.id);
  await rouse(shop, before.connection, referrers);
}

/** Whoever took the traveler over meanwhile waits for what was under way here; that is over now. */
export async function handOver(
  shop: Neighbourhood,
  connection: Connection,
  identity: Identity,
): Promise<void> {
  const { travelId, desired } = identity;
  const heirs = travelId
    ? [await shop.identities.holder(connection.account, { travelId })]
    : await shop.identities.find(connection.id, { by: 'userName', value: String(desired.userName) });
  for (const heir of heirs) {
    if (heir && heir.id !== identity.id && heir.deletedAt === undefined)
      await rouse(shop, heir.connection, [heir.id]);
  }
}

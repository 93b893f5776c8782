import type { Agenda, Surroundings } from './ports.ts';

/** Makes identities of a connection dirty, and wakes whoever works them off. */
export async function rouse(
  shop: { agenda: Pick<Agenda, 'touch'>; wake(): void; surroundings: Pick<Surroundings, 'now'> },
  connection: string,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  await shop.agenda.touch(connection, ids, shop.surroundings.now());
  shop.wake();
}

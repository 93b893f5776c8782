import { makeNewlyImported } from '../../src/store/restore/restored-people.ts';
import { listGroups } from './groups.ts';
import { noteForeign, noteStatement } from './knowledge.ts';
import { connections, NoAnswer } from './people.ts';
import type { Player } from './play.ts';
import { readIdentities } from './rest.ts';
import { fields, fieldValue } from './travelers.ts';

const BACKUP = 'backup';

/** Keeps the database as it is. */
export async function keepBackup(player: Player): Promise<void> {
  const { database, time } = player.world;
  // No transaction is open at a turn of time.
  await time.wait(1);
  database.keep(BACKUP);
  player.backup = { mapping: player.knowledge.mapping };
}

/** Puts the database back to the backup, while no process runs. The IdPs then read what the bridge knows, and go on from there. */
export async function restore(player: Player): Promise<void> {
  const { world, knowledge, providers, call, backup } = player;
  const { database, time, store, shadowSince } = world;
  if (backup === undefined) return;
  await world.replaceDatabase(async () => {
    // A restore takes longer than a call may be on its way.
    while (world.travel.areCallsOpen()) await time.wait(1_000);
    database.putBack(BACKUP);
    await database.transaction((tx) => makeNewlyImported(tx, time.now()));
  });
  for (const connection of connections) {
    const isInShadow = (await store.modes.readShadow(connection)) !== undefined;
    knowledge.shadow[isInShadow ? 'add' : 'delete'](connection);
    if (isInShadow) shadowSince.set(connection, time.now());
    else shadowSince.delete(connection);
  }
  await forgetTravelers(player);
  for (const person of knowledge.people) {
    while (!(await isAnswered(providers.readAgain(person)))) await time.wait(500);
  }
  knowledge.groups = (await Promise.all(connections.map((one) => listGroups(call, one)))).flat();
  Object.assign(knowledge, { mapping: backup.mapping, isRestored: true });
  for (const { current } of knowledge.people) if (current) noteStatement(knowledge, current);
  player.erased.length = 0;
  player.handChanges = -1;
}

/** The travelers are the truth: the bridge does not know that it has sent their values, and whose they are by their links alone. */
async function forgetTravelers({ knowledge, world }: Player): Promise<void> {
  const linked = new Set((await readIdentities(world)).map(({ travelId }) => travelId));
  for (const traveler of world.travel.fake.travelers.values()) {
    for (const field of fields)
      noteForeign(knowledge, traveler.id, field, fieldValue(traveler, field, knowledge.catalog));
    if (!linked.has(traveler.id)) knowledge.owners.delete(traveler.id);
  }
  for (const known of [knowledge.news, knowledge.outside]) known.clear();
}

async function isAnswered(request: Promise<void>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

import { type Identity, isInactive } from '../../src/model/identity.ts';
import { decide } from '../../src/provisioning/holds/decide.ts';
import { goLive } from '../../src/provisioning/shadow/go-live.ts';
import { summarizeShadow } from '../../src/provisioning/shadow/report.ts';
import { deletePerson } from '../../src/store/erasure/delete-person.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { changeForEverybody, noteNews } from './knowledge.ts';
import { type MappingName, toMappingFile } from './mappings.ts';
import type { AdminMove } from './moves.ts';
import { type ConnectionName, connections } from './people.ts';
import type { Player } from './play.ts';
import { readIdentities } from './rest.ts';

/** An admin of the bridge does something, or an IdP cleans up. */
export async function moveAdmin(
  player: Player,
  move: Exclude<AdminMove, { kind: 'backup' | 'restore' }>,
): Promise<void> {
  switch (move.kind) {
    case 'mapping':
      return applyMapping(player, move.name);
    case 'decide':
      return decideHolds(player);
    case 'erase':
      return erase(player, move.who);
    case 'shadow':
      return enterShadow(player, move.connection);
    case 'goLive':
      await leaveShadow(player, move.connection);
      break;
    case 'purge':
      await purge(player, move.connection);
  }
}

/** Puts a mapping in force for both connections. */
async function applyMapping({ world, knowledge }: Player, name: MappingName): Promise<void> {
  const { store, story } = world;
  const parsed = parseMapping(toMappingFile(name, knowledge.catalog));
  if (!('mapping' in parsed)) throw new Error(`the mapping ${name} is faulty: ${JSON.stringify(parsed)}`);
  const { mapping } = parsed;
  changeForEverybody(knowledge, () => Object.assign(knowledge, { mapping: name }));
  for (const connection of connections) {
    const [version] = await store.rules.listMappings(connection, 1);
    const replica = await world.runningReplica();
    const expected = version?.generation ?? 0;
    const change = { mapping, expected, source: 'page', author: 'admin' } as const;
    await Promise.race([replica.service.applyMapping({ id: connection }, change), replica.death]);
  }
  story.tell(`  the mapping ${name} is in force`);
}

/** An admin approves or discards what is held at this moment. */
async function decideHolds({ world, knowledge }: Player): Promise<void> {
  const { random, story, store, time, replicas } = world;
  for (const { connection, id, userName, hold, version } of await store.holds.findHeldPeople({
    limit: 100,
  })) {
    const answer = random.pick(['approved', 'discarded'] as const);
    const identity = await store.identities.findById(connection, id);
    if (identity?.travelId) knowledge.decided.add(identity.travelId);
    if (identity?.travelId && answer === 'discarded') knowledge.discarded.add(identity.travelId);
    story.tell(`  an admin answers the hold ${hold.cause} of ${userName} (${id}): ${answer}`);
    const subject = { connection, cause: hold.cause, people: [{ id, version }] };
    await decide(store.holds, subject, { answer, by: 'admin', now: time.now() });
  }
  for (const { current } of knowledge.people)
    if (current) noteNews(knowledge, current.wanted.familyName, ['*']);
  for (const { service } of replicas()) service.wake();
}

/** Erases a person who has left, if nothing is left to do for the person. */
async function erase(player: Player, who: number): Promise<void> {
  const { world, knowledge } = player;
  const { database, time } = world;
  const person = knowledge.people[who];
  if (!person || person.current || person.unanswered) return;
  const all = await readIdentities(world);
  const [first, ...rest] = all.filter(({ desired }) => desired.userName === person.lastWanted.userName);
  const { travelId } = first ?? {};
  const identities = all.filter(
    (one) => one === first || rest.includes(one) || (travelId && one.travelId === travelId),
  );
  const travelIds = [...new Set(identities.flatMap((one) => one.travelId ?? []))];
  const isActive = travelIds.some((id) => world.travel.fake.travelers.get(id)?.archived === false);
  if (isActive || identities.length === 0 || identities.some(isUnfinished)) return;
  const scopes = connections.map(database.scopeOf);
  const unique = [...identities.map(({ id }) => id), ...travelIds];
  const whole = [person.lastWanted.userName].filter((name) => !name.includes('@'));
  const work = (within: Database) =>
    deletePerson(within, { scopes, identities, travelIds, unique, whole }, time.now());
  const isErased = await database.transaction(
    (tx) => work({ ...database, db: tx, transaction: (inner) => inner(tx) }),
    { commitIf: (isDone) => isDone },
  );
  if (isErased) {
    player.erased.push(
      ...identities.map(({ id, connection }) => ({ id, connection: connection as ConnectionName })),
    ); // One of both.
    for (const { current } of knowledge.people)
      if (current && [...unique, ...whole].includes(current.wanted.manager ?? ''))
        delete current.wanted.manager;
    world.story.tell(`  p${who} is erased: ${unique.join()}`);
  }
  for (const { service } of world.replicas()) service.wake();
}

function isUnfinished(identity: Identity): boolean {
  const { state, creating, readAgainAt } = identity;
  const isCalled = creating !== undefined || readAgainAt !== undefined;
  return !isInactive(identity) || state === 'dirty' || state === 'held' || isCalled;
}

async function enterShadow({ world, knowledge }: Player, connection: ConnectionName): Promise<void> {
  const { store, time, story } = world;
  if (!(await store.modes.change(connection, { to: 'shadow', now: time.now() }))) return;
  knowledge.shadow.add(connection);
  world.shadowSince.set(connection, Math.max(time.now(), world.standStillUntil));
  story.tell(`  ${connection} is in shadow mode`);
}

/** An admin goes live with the plan of the moment. Returns false if the connection is not in shadow mode, or not planned yet. */
export async function leaveShadow(
  { world, knowledge }: Player,
  connection: ConnectionName,
): Promise<boolean> {
  const { store, time, story } = world;
  const shadow = await store.modes.readShadow(connection);
  if (!shadow) return false;
  const { digest } = await summarizeShadow(store.shadowPlans.findPage, shadow, time.now());
  const request = {
    connection,
    digest,
    acceptedChanges: Number.MAX_SAFE_INTEGER,
    by: 'admin',
    now: time.now(),
  };
  const { outcome } = await goLive(store, request);
  story.tell(`  ${connection} goes live: ${outcome}`);
  if (outcome === 'live') {
    knowledge.shadow.delete(connection);
    world.shadowSince.delete(connection);
  }
  // The report shows departures: who goes live has approved them.
  for (const { travelId, decision } of await readIdentities(world))
    if (travelId !== undefined && decision?.answer === 'approved') knowledge.decided.add(travelId);
  for (const { service } of world.replicas()) service.wake();
  return outcome === 'live';
}

/** An IdP lists all users and deletes those without an externalId, whom no IdP has sent. */
async function purge({ call, world }: Player, connection: ConnectionName): Promise<void> {
  const listed = await call(connection, 'GET', '/Users');
  for (const resource of listed?.body.Resources ?? []) {
    if (resource.externalId !== undefined) continue;
    const answer = await call(connection, 'DELETE', `/Users/${resource.id}`);
    world.story.tell(`  ${connection} deletes ${resource.userName}: ${answer?.status}`);
  }
}

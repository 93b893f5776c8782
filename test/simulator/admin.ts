import { findPredecessor, joinPeople } from '../../src/provisioning/people/join-people.ts';
import { isObject } from '../../src/schema/resource.ts';
import { makeNewlyImported } from '../../src/store/restore/restored-people.ts';
import { type Mapping, parseMapping as parseMappingFile } from '../../src/translator/mapping/mapping-file.ts';
import type { HistoryContext } from '../histories/execute.ts';
import { type ConnectionName, connections } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import { type MappingName, toMappingFile } from '../histories/mappings.ts';
import { type HistoryRecord, recordRules } from '../histories/record.ts';
import { decideOnce } from './holds.ts';
import { previewViolations } from './previews.ts';
import { MODES_MS } from './replica.ts';
import { enterShadow, followRestoredModes, leaveShadow } from './shadow.ts';
import type { SentInPause, World } from './world.ts';

/** What admins of the bridge do. */
export type AdminAct =
  /** Another mapping comes into force. If it is large, it concerns more people than may change without an approval. */
  | { kind: 'mapping'; name: MappingName }
  /**
   * A process is started again with another mapping file, whose content was never in force. The other processes keep theirs. Only short
   * histories play it.
   */
  | { kind: 'mappingFile'; replica: number; name: MappingName }
  /** An admin approves or discards what is held at this moment. */
  | { kind: 'decide' }
  /** An admin says that a person is the leaver in whose place the person is. */
  | { kind: 'sayIsSame'; who: number }
  | { kind: 'backup' }
  /** The database becomes what it was at the backup, while no process runs. */
  | { kind: 'restore' }
  /** The command that tells that the database was restored. */
  | { kind: 'pause' }
  | { kind: 'resume'; connection: ConnectionName }
  | { kind: 'shadow'; connection: ConnectionName }
  /** An admin goes live with the plan of the moment. */
  | { kind: 'goLive'; connection: ConnectionName };

const BACKUP = 'backup';
export const MAPPING_FILE = 'mapping.json';

/** Carries out what an admin does at once. A change of the mapping and a restore have functions of their own. */
export async function actAsAdmin(
  world: World,
  context: HistoryContext,
  act: Exclude<AdminAct, { kind: 'mapping' | 'restore' }>,
): Promise<void> {
  const { database, time } = world;
  switch (act.kind) {
    case 'decide':
      await decideOnce(world, context.record);
      break;
    case 'mappingFile':
      // The file of the last process that got one stays in force, as long as that process runs.
      world.restartWithFile(act.replica, {
        mapping: parseMapping(act.name, context.record),
        mappingFile: MAPPING_FILE,
      });
      recordRules(context.record, { mapping: act.name });
      break;
    case 'sayIsSame':
      await sayIsSame(world, context, act.who);
      break;
    case 'backup':
      // No transaction is open at a turn of time.
      await time.wait(1);
      database.keep(BACKUP);
      world.backupMapping = context.record.rules.mapping;
      break;
    case 'pause':
      context.record.isPaused = true;
      await becomeRestored(world);
      break;
    case 'resume':
      await resume(world, act.connection);
      break;
    case 'shadow':
      await enterShadow(world, act.connection);
      break;
    case 'goLive':
      await leaveShadow(world, act.connection);
  }
}

/** Everybody becomes newly imported, as after a restore. */
function becomeRestored({ database, time }: Pick<World, 'database' | 'time'>): Promise<void> {
  return database.transaction((tx) => makeNewlyImported(tx, time.now()));
}

/** An admin has everything that only the backup says sent again. Returns false if there is nothing. */
async function resume(world: World, connection: ConnectionName): Promise<boolean> {
  if ((await world.store.restored.sendAgain(connection, undefined, world.time.now())) === 0) return false;
  world.pauseWatch.isOn = false;
  world.story.tell(`connection ${connection} sends everything again`);
  for (const { service } of world.replicas()) service.wake();
  return true;
}

/** An admin has everybody sent again. Returns what was sent before for people whom no IdP had written since the restore. */
export async function endPause(world: World, record: HistoryRecord): Promise<string[]> {
  const { pauseWatch } = world;
  const unasked: string[] = [];
  for (const [traveler, sent] of pauseWatch.sent) {
    const names = new Set([...sent.names, ...(await namesOf(world, sent.causes))]);
    // Two people may have had the traveler: the one who was written has it now, or gives it up.
    const isAsked = [...names].some((name) => record.written.has(Number(name.slice(1))));
    if (!isAsked && !record.purged.has(traveler)) unasked.push(`${traveler} (${[...names].join(', ')})`);
  }
  const resumed: boolean[] = [];
  for (const connection of connections) resumed.push(await resume(world, connection));
  if (resumed.includes(true)) await world.time.run(MODES_MS);
  Object.assign(pauseWatch, { isOn: false, sent: new Map() });
  record.written.clear();
  record.isPaused = false;
  return unasked.map((line) => `${line} was changed after a restore [${promises.pauseHolds}]`);
}

/** The family names of the users who were reconciled. */
async function namesOf({ store }: World, causes: SentInPause['causes']): Promise<string[]> {
  const identities = await Promise.all(
    causes.map(({ connection, id }) => store.identities.findById(connection, id)),
  );
  return identities.flatMap((identity) => {
    const { name } = identity?.desired ?? {};
    return isObject(name) && typeof name.familyName === 'string' ? [name.familyName] : [];
  });
}

/** Puts the database back to the backup. The processes start again, and find everybody newly imported. */
export async function restore(world: World, record: HistoryRecord): Promise<void> {
  const { database, time, pauseWatch } = world;
  await world.replaceDatabase(async () => {
    database.putBack(BACKUP);
    // The backup may be one that was made while the processes ended. Its mapping is read when it is put back, not before.
    recordRules(record, { mapping: world.backupMapping ?? 'defaults' });
    world.restoredAt = time.now();
    await becomeRestored(world);
    await followRestoredModes(world);
  });
  Object.assign(pauseWatch, { isOn: true, sent: new Map() });
  record.written.clear();
}

/** Puts a mapping in force for both connections, after a look at its preview. */
export async function applyMapping(
  world: World,
  context: HistoryContext,
  { name }: { name: MappingName },
): Promise<void> {
  const { store } = world;
  const { record } = context;
  const mapping = parseMapping(name, record);
  const untold = await previewViolations(world, context, { name, mapping });
  if (untold.length > 0) throw new Error(untold.join('\n'));
  for (const connection of connections) {
    const [version] = await store.rules.listMappings(connection, 1);
    const replica = await world.runningReplica();
    const expected = version?.generation ?? 0;
    const change = { mapping, expected, source: 'page', author: 'admin' } as const;
    await Promise.race([replica.service.applyMapping({ id: connection }, change), replica.death]);
  }
  recordRules(record, { mapping: name });
}

function parseMapping(name: MappingName, { catalog }: Pick<HistoryRecord, 'catalog'>): Mapping {
  const parsed = parseMappingFile(toMappingFile(name, catalog));
  if (!('mapping' in parsed)) throw new Error(`the mapping ${name} is faulty: ${JSON.stringify(parsed)}`);
  return parsed.mapping;
}

async function sayIsSame(world: World, { people, record }: HistoryContext, who: number): Promise<void> {
  const { current } = people[who] ?? {};
  const { identities } = world.store;
  const newcomer = current && (await identities.findById(current.connection, current.id));
  const leaver = newcomer && (await findPredecessor({ identities }, newcomer));
  if (!newcomer || !leaver?.travelId) return;
  const result = await joinPeople({ identities, runtime: world.runtime }, { leaver, newcomer });
  if (result === 'joined') {
    record.given.add(leaver.travelId);
    // What stays of the traveler depends on what was done when the admin said it.
    record.uncertain.add(leaver.travelId);
    // The addresses that the leaver wanted are those of the same person: the traveler keeps one of them while the wanted one is taken.
    const former = record.emails.get(record.memory.get(leaver.travelId)?.owner?.person ?? who) ?? [];
    record.emails.set(who, new Set([...(record.emails.get(who) ?? []), ...former]));
  }
  world.story.tell(`  p${who} is said to be who had ${leaver.travelId}: ${JSON.stringify(result)}`);
  for (const { service } of world.replicas()) service.wake();
}

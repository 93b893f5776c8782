import { leaveShadow, moveAdmin } from './admin-moves.ts';
import { groupSlots, listGroups, moveGroup } from './groups.ts';
import { idpCalls, quietReads } from './idp-calls.ts';
import { hasNews, type Knowledge, newsOf, noteNews, noteStatement, scopeOfUser } from './knowledge.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { type Event, eventAt, type Move, toEventLine } from './moves.ts';
import {
  type Call,
  type ConnectionName,
  type CurrentUser,
  connections,
  type IdentityProviders,
  identityProviders,
  NoAnswer,
} from './people.ts';
import { brokenAtRest, findingsAbout, type Rest, sentences } from './promises.ts';
import { MODES_MS } from './replica.ts';
import { comeToRest, readIdentities } from './rest.ts';
import { keepBackup, restore } from './restore.ts';
import { type Setup, toSetupLine } from './setup.ts';
import { moveTravel, mustWaitForRest } from './travel-moves.ts';
import { fields, findingField } from './travelers.ts';
import { moveUser } from './user-moves.ts';
import { openWorld, type World } from './world.ts';

/** A history: what happens, on what, and the seed of everything that chance decides. */
export interface History {
  seed: number;
  setup: Setup;
  people: number;
  events: Event[];
}

/** What became of a history. */
export interface Played {
  /** The promises that were broken, in words; empty if all were kept. */
  broken: string[];
  story: string[];
  /** Every port call; empty unless it was asked for. */
  transcript: string[];
  /** The number of events until the check that ended the history. */
  events: number;
}

/** What moves work on. */
export interface Player {
  world: World;
  knowledge: Knowledge;
  call: Call;
  providers: IdentityProviders;
  /** The number of values that were entered by hand, so that each is another one. */
  edits: number;
  /** The users that were erased: they are never read again. */
  erased: Pick<CurrentUser, 'id' | 'connection'>[];
  /** Moves that wait for the next rest. */
  deferred: (() => Promise<void>)[];
  failures: unknown[];
  /** Begins something after the earlier moves of the same people or groups. */
  begin(who: readonly string[], act: () => Promise<void>): void;
  isAnswered(): boolean;
  /** The number of events so far. */
  begun: number;
  /** The number of changes by hand at the last rest; -1 after a restore, so that an import follows. */
  handChanges: number;
  /** What was so at the backup; undefined if there is no backup. */
  backup: Pick<Knowledge, 'mapping'> | undefined;
}

const PEOPLE = 7;
/** The number of events between two rests. */
const STRETCH = 25;
/** The longest time that the answers to writes take once no trouble is left, in milliseconds. */
const ANSWER_MS = 30 * 60_000;
/** The time in which nothing may be sent at rest, in milliseconds. */
const QUIET_MS = 10 * 60_000;
/** Planning under new rules begins within a minute. */
const PLANNING_MS = 90_000;

/** The history of a seed. */
export function historyOf(seed: number, setup: Setup, operations: number): History {
  const events = Array.from({ length: operations }, (_, position) => {
    const event = eventAt(seed, position, PEOPLE);
    const rest: Event = { what: { kind: 'rest' }, pause: 0 };
    return position % STRETCH === STRETCH - 1 ? [event, rest] : [event];
  });
  return { seed, setup, people: PEOPLE, events: events.flat() };
}

/** Plays a history on an empty database. The same history has the same story and the same transcript. */
export async function play(
  database: MemoryDatabase,
  { seed, setup, people, events }: History,
  { isDetailed = false }: { isDetailed?: boolean } = {},
): Promise<Played> {
  const world = await openWorld(database, { seed, setup, people, isDetailed });
  const { story } = world;
  story.tell(`seed ${seed}: ${toSetupLine(setup)}`);
  const player = newPlayer(world);
  const broken = await playEvents(player, events, setup).catch((error: unknown) => [
    String((error as Error).stack ?? error),
  ]);
  await world.close();
  return { broken, story: story.lines(), transcript: story.transcript(), events: player.begun };
}

function newPlayer(world: World): Player {
  const { knowledge, story } = world;
  const call = idpCalls(world);
  const chains = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  let open = 0;
  const providers = identityProviders({
    ...{ call, people: knowledge.people },
    onSent: (person, { connection, wanted, verb }) => {
      const before = person.current?.wanted;
      // A new user is in no group yet, and one who is deleted is in none any more.
      const id = wanted && verb !== 'POST' ? (person.current?.id ?? '') : '';
      const stated = wanted ?? before;
      if (stated) noteStatement(knowledge, { connection, id, wanted: stated });
      for (const name of [before?.familyName, wanted?.familyName])
        if (name !== undefined)
          noteNews(knowledge, name, knowledge.isRestored ? ['*'] : newsOf(before, wanted));
    },
    onAcknowledged: ({ slot, current }, before, verb) => {
      if (current) noteStatement(knowledge, current);
      story.tell(`  p${slot}: ${verb} is answered (${current?.id ?? before?.id})`);
    },
    isGuarded: ({ emails, lastWanted }) =>
      [...world.travel.fake.travelers.values()]
        .filter(({ id }) => knowledge.guarded.has(id))
        .some(
          ({ id, email, lastName }) =>
            emails.has(email.toLowerCase()) ||
            [knowledge.owners.get(id), lastName].includes(lastWanted.familyName),
        ),
  });
  return {
    ...{
      world,
      knowledge,
      call,
      providers,
      failures,
      edits: 0,
      erased: [],
      deferred: [],
      begun: 0,
      handChanges: 0,
      backup: undefined,
    },
    isAnswered: () => open === 0,
    begin: (who, act) => {
      open += 1;
      const after = Promise.all(who.map((one) => chains.get(one)))
        .then(act)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          open -= 1;
        });
      for (const one of who) chains.set(one, after);
    },
  };
}

/** Returns the promises that were broken at the first check that finds any. */
async function playEvents(player: Player, events: Event[], { hasFeed }: Setup): Promise<string[]> {
  const { world, knowledge } = player;
  for (const [place, event] of events.entries()) {
    player.begun = place + 1;
    world.story.tell(`${place}. ${toEventLine(event)}`);
    if (event.what.kind === 'rest') {
      const broken = await restAndCheck(player, hasFeed);
      if (broken.length > 0) return broken;
      for (const act of player.deferred.splice(0)) await during(world.time, act());
    } else begin(player, event.what);
    await world.time.run(event.pause);
    if (knowledge.broken.length > 0) return knowledge.broken;
  }
  await endShadow(player);
  return restAndCheck(player, hasFeed);
}

function begin(player: Player, move: Exclude<Move, { kind: 'rest' }>): void {
  const { world, knowledge } = player;
  const slotOf = (who: number) => `p${who}`;
  switch (move.kind) {
    case 'faults':
      world.travel.faults.push(...move.next.map((fault) => (fault === 'pass' ? undefined : fault)));
      if (move.kill) world.killAt(move.kill.replica, move.kill.at);
      break;
    case 'kill':
      world.killAt(move.replica, move.at);
      break;
    case 'freeze':
      world.freeze(move.replica, move.ms);
      delayShadow(world, move.ms);
      break;
    case 'sleep':
      world.time.jump(move.ms);
      delayShadow(world, move.ms);
      break;
    case 'wallClock':
      world.shiftWallClock(move.ms);
      break;
    case 'import':
      world.replicas()[0]?.importAgain();
      break;
    case 'edit':
    case 'vanish':
    case 'stranger':
    case 'promote':
    case 'costCenter':
      // Edits come first, because people are tried at once after a change of the mapping.
      if (mustWaitForRest(move))
        player.deferred[move.kind === 'edit' ? 'unshift' : 'push'](() => moveTravel(player, move));
      else player.begin('who' in move ? [slotOf(move.who)] : [], () => moveTravel(player, move));
      break;
    case 'group':
      player.begin([`g${move.place}`], () => moveGroup(player, move));
      break;
    case 'mapping':
    case 'erase':
      player.deferred.push(() => moveAdmin(player, move));
      break;
    case 'purge':
      player.begin(
        knowledge.people.map(({ slot }) => slotOf(slot)),
        () => moveAdmin(player, move),
      );
      break;
    case 'backup':
    case 'restore':
      player.begin(
        [...knowledge.people.map(({ slot }) => slotOf(slot)), ...groupSlots.map((_, place) => `g${place}`)],
        () => (move.kind === 'backup' ? keepBackup(player) : restore(player)),
      );
      break;
    case 'decide':
    case 'shadow':
    case 'goLive':
      player.begin([], () => moveAdmin(player, move));
      break;
    default:
      player.begin((move.kind === 'swap' ? move.ring : [move.who]).map(slotOf), async () => {
        for (const who of move.kind === 'swap' ? move.ring : [move.who]) await readUnanswered(player, who);
        await moveUser(player, move);
      });
  }
}

/** While processes stand still, so do the attempts that have begun before shadow mode. */
function delayShadow(world: World, ms: number): void {
  world.standStillUntil = Math.max(world.standStillUntil, world.time.now() + ms);
  for (const [connection, since] of world.shadowSince) world.shadowSince.set(connection, since + ms);
}

/** An IdP that got no answer reads the user before the next write. */
async function readUnanswered({ knowledge, providers, world }: Player, who: number): Promise<void> {
  const person = knowledge.people[who];
  while (person?.unanswered) {
    await world.time.wait(500);
    await providers.readBack(person).catch((error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error;
    });
  }
}

/** An admin goes live with all connections. */
async function endShadow(player: Player): Promise<void> {
  const { world } = player;
  for (const connection of connections)
    for (let tries = 0; tries < 2 && world.shadowSince.has(connection); tries += 1)
      if (!(await leaveShadow(player, connection))) await world.time.run(PLANNING_MS);
  await world.time.run(MODES_MS);
}

async function restAndCheck(player: Player, hasFeed: boolean): Promise<string[]> {
  const { world, knowledge, failures, isAnswered } = player;
  const { time, travel } = world;
  travel.faults.length = 0;
  await world.recover();
  for (const { slot } of knowledge.people) player.begin([`p${slot}`], () => readUnanswered(player, slot));
  if (!(await time.runUntil(isAnswered, ANSWER_MS)))
    return [`a write is never answered [6. ${sentences[6]}]`];
  if (failures.length > 0) return failures.map((error) => String((error as Error).stack ?? error));
  const withImport = !hasFeed && travel.handChanges() > player.handChanges;
  player.handChanges = travel.handChanges();
  const left = await comeToRest(world, { withImport });
  const endless = world.attempts.endless().map((id) => `${id} is tried again and again`);
  const unending = [
    ...endless,
    ...(left === undefined ? [] : [`the work never ends: ${left}`]),
    ...world.story.errors(),
  ];
  if (unending.length > 0) return unending.map((line) => `${line} [6. ${sentences[6]}]`);
  const broken = [...knowledge.broken, ...brokenAtRest(await observe(player))];
  if (broken.length > 0) return broken;
  for (const person of knowledge.people) await during(time, player.providers.readBack(person));
  for (const { connection, id } of player.erased) {
    const answer = await during(time, player.call(connection, 'GET', `/Users/${id}`));
    if (answer?.status !== 404) return [`${id} was erased, and is read as ${answer?.status}`];
  }
  const writes = travel.writes();
  time.jump(QUIET_MS);
  await comeToRest(world, { withImport: true });
  if (travel.writes() > writes) return [`at rest, something was sent [6. ${sentences[6]}]`];
  const settled = await observe(player);
  forgetNews(settled);
  return brokenAtRest(settled);
}

/** What was stated before is no news any more for people who have what was stated, and whoever is linked to a traveler owns it. */
function forgetNews({ knowledge, identities }: Rest): void {
  const { people, news, doubtful, shadow, owners, catalog } = knowledge;
  // In shadow mode a call without an answer is not settled before the connection goes live.
  const open = new Set(identities.flatMap(({ readAgainAt, travelId }) => (readAgainAt ? [travelId] : [])));
  for (const id of doubtful) if (!open.has(id)) doubtful.delete(id);
  for (const { current } of people) {
    if (!current || shadow.has(current.connection)) continue;
    const identity = identities.find(({ id }) => id === current.id);
    const human = current.wanted.familyName;
    if (identity?.state !== 'synced') continue;
    if (identity.travelId !== undefined && !owners.has(identity.travelId))
      owners.set(identity.travelId, human);
    const { verdict } = scopeOfUser(knowledge, current);
    if (verdict === 'out' && current.wanted.active) knowledge.outside.add(human);
    if (verdict !== 'in') continue;
    // What a finding says was not sent is sent once it can be.
    const waiting = fields.filter(
      (field) =>
        hasNews(knowledge, human, field) &&
        findingsAbout(identity, findingField(field, catalog)).some(
          (code) => code !== 'drift' && code !== 'restored',
        ),
    );
    news.set(human, new Set(identity.waitingFor ? [...waiting, 'email'] : waiting));
  }
}

async function observe({ world, knowledge }: Player): Promise<Rest> {
  const reads = quietReads(world.reader);
  const listed = { default: await listOf(reads, 'default'), second: await listOf(reads, 'second') };
  const travelers = [...world.travel.fake.travelers.values()];
  return { knowledge, travelers, identities: await readIdentities(world), listed };
}

/** So few that a list has several pages. */
const PAGE = 3;

async function listOf(call: Call, connection: ConnectionName): Promise<Rest['listed'][ConnectionName]> {
  const users: string[] = [];
  for (let start = 1; start === users.length + 1; start += PAGE) {
    const answer = await call(connection, 'GET', `/Users?startIndex=${start}&count=${PAGE}`);
    users.push(...(answer?.body.Resources ?? []).map(({ id }: { id: string }) => id));
  }
  return { users, groups: await listGroups(call, connection) };
}

/** Lets time pass until something has ended. */
async function during<T>(time: World['time'], work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  if (!(await time.runUntil(() => isOver, ANSWER_MS)))
    throw new Error(`a request is never answered [6. ${sentences[6]}]`);
  return work;
}

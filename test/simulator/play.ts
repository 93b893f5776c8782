import type { TravelUser } from '../../src/translator/traveler.ts';
import { beginOperation, executeDeferred, type HistoryContext } from '../histories/execute.ts';
import { NoAnswer, newPerson } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import { newHistoryRecord, type ObservedState, recordLateCalls } from '../histories/record.ts';
import { recordedProviders } from '../histories/recorded-providers.ts';
import { rememberState } from '../histories/remember.ts';
import { recordGroups } from '../histories/standing.ts';
import { endOfMemberships, withoutEnded } from '../histories/stated-groups.ts';
import { type ActContext, beginAct } from './acts.ts';
import { endPause } from './admin.ts';
import { type Event, eventAt, type Trouble, toEventLine } from './events.ts';
import { explanationViolations } from './explanations.ts';
import { simulatedGroups } from './groups.ts';
import { decideHolds } from './holds.ts';
import { idpCalls, quietReads } from './idp-calls.ts';
import { brokenPromises, readDecided } from './invariants.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { ownUserViolations } from './own-user.ts';
import { comeToRest } from './rest.ts';
import { listViolations, strangerViolations } from './scim-lists.ts';
import { secondUserViolations } from './second-user.ts';
import { type Setup, toSetupLine } from './setup.ts';
import { delayShadowWatch, endShadow } from './shadow.ts';
import { removalViolations, travelAdmin, travelersOf } from './travel-admin.ts';
import { openWorld, type World } from './world.ts';

/** A history: what happens, on what, and the seed of everything that chance decides. */
export interface History {
  seed: number;
  setup: Setup;
  people: number;
  events: Event[];
}

/** The numbers of calls about travelers, of those that change one, and of all effects of the processes. */
export interface Counts {
  calls: number;
  changingCalls: number;
  effects: number;
}

/** What became of a history. */
export interface Played {
  /** The promises that were broken, in words; empty if all were kept. */
  broken: string[];
  story: string[];
  /** Every port call; empty unless it was asked for. */
  transcript: string[];
  /** What was done between the last rest and the end of the events. */
  sinceRest: Counts;
  /** The number of events until the check that ended the history. */
  events: number;
}

const PEOPLE = 6;
/** The number of events between two checks. The checks judge a traveler by its owner at the last one, and cannot see those in between. */
const STRETCH = 25;
/** The longest time that the answers to writes take once no trouble is left, in milliseconds. */
const ANSWER_MS = 30 * 60_000;

/** The history of a seed. */
export function historyOf(seed: number, setup: Setup, operations: number): History {
  const events = Array.from({ length: operations }, (_, position) => {
    const event = eventAt(seed, position, PEOPLE);
    return position % STRETCH === STRETCH - 1
      ? [event, { what: { kind: 'rest' }, pause: 0 } as const]
      : [event];
  });
  return { seed, setup, people: PEOPLE, events: events.flat() };
}

/** Plays a history on an empty database. The same history has the same story and the same transcript. */
export async function play(
  database: MemoryDatabase,
  history: History,
  { isDetailed = false }: { isDetailed?: boolean } = {},
): Promise<Played> {
  const { seed, setup } = history;
  const world = await openWorld(database, { seed, setup, isDetailed });
  world.story.tell(`seed ${seed}: ${toSetupLine(setup)}`);
  const player = newPlayer(world, history);
  const broken = await playEvents(player, history).catch((error: unknown) => [
    String((error as Error).stack ?? error),
  ]);
  await world.close();
  const { story } = world;
  return {
    broken,
    story: story.lines(),
    transcript: story.transcript(),
    events: player.begun,
    sinceRest: player.sinceRest,
  };
}

interface Player extends ActContext {
  isAnswered(): boolean;
  failures: unknown[];
  /** The number of events so far. */
  begun: number;
  sinceRest: Counts;
  /** The number of changes by hand at the last rest. */
  handChanges: number;
}

function newPlayer(world: World, { setup, people: count }: History): Player {
  const { story, travel } = world;
  const admin = travelAdmin(travel);
  const record = newHistoryRecord(admin.catalog, setup.policies, setup.habits.hasDate);
  const people = Array.from({ length: count }, (_, index) => newPerson(index, 'default'));
  const call = idpCalls(world);
  const note = story.tell;
  const providers = recordedProviders({ call, record, people, note });
  const context = { travel: admin, providers, record, people, note, deferred: [], edits: 0 };
  const chains = new Map<number, Promise<void>>();
  const failures: unknown[] = [];
  let open = 0;
  return {
    ...{ world, context, call, failures, isAnswered: () => open === 0, begun: 0 },
    ...{ groups: simulatedGroups({ call, people, record, story, time: world.time }), deferredActs: [] },
    sinceRest: { calls: 0, changingCalls: 0, effects: 0 },
    handChanges: 0,
    begin: (who, act) => {
      open += 1;
      const before = Promise.all(who.map((one) => chains.get(one)));
      const after = before
        .then(async () => {
          for (const one of who) await readBackUnanswered(context, people[one], world);
          await act();
        })
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          open -= 1;
        });
      for (const one of who) chains.set(one, after);
    },
  };
}

/** An IdP that got no answer reads the user before the next write. */
async function readBackUnanswered(
  { providers }: HistoryContext,
  person: HistoryContext['people'][number] | undefined,
  { time }: World,
): Promise<void> {
  while (person?.unanswered) {
    await time.wait(500);
    try {
      await providers.readBack(person);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
  }
}

/** Returns the promises that were broken at the first check that finds any. */
async function playEvents(player: Player, { events, setup }: History): Promise<string[]> {
  const { world, context } = player;
  let atRest = countsOf(world);
  let rests = 0;
  for (const [place, event] of events.entries()) {
    player.begun = place + 1;
    world.story.tell(`${place}. ${toEventLine(event)}`);
    endMemberships(player);
    if (event.what.kind === 'rest') {
      rests += 1;
      const broken = await restAndCheck(player, { hasFeed: setup.hasFeed, isRepeated: rests % 2 === 0 });
      if (broken.length > 0) return broken;
      await during(world.time, executeDeferred(context));
      for (const act of player.deferredActs.splice(0)) await during(world.time, act());
      atRest = countsOf(world);
    } else beginEvent(player, event);
    await world.time.run(event.pause);
  }
  const { calls, changingCalls, effects } = countsOf(world);
  player.sinceRest = {
    calls: calls - atRest.calls,
    changingCalls: changingCalls - atRest.changingCalls,
    effects: effects - atRest.effects,
  };
  return restAndCheck(player, { hasFeed: setup.hasFeed, isRepeated: true });
}

function countsOf({ travel, replicas }: World): Counts {
  const effects = replicas().reduce((sum, replica) => sum + replica.effects(), 0);
  return { calls: travel.calls(), changingCalls: travel.writes(), effects };
}

function beginEvent(player: Player, { what }: Event): void {
  const { world, context, begin } = player;
  switch (what.kind) {
    case 'faults':
    case 'kill':
    case 'freeze':
    case 'sleep':
    case 'wallClock':
    case 'import':
    case 'rest':
      makeTrouble(world, what);
      break;
    case 'group':
    case 'purge':
    case 'ownUser':
    case 'misspell':
    case 'secondUser':
    case 'mapping':
    case 'mappingFile':
    case 'decide':
    case 'sayIsSame':
    case 'backup':
    case 'restore':
    case 'pause':
    case 'resume':
    case 'shadow':
    case 'goLive':
      beginAct(player, what);
      break;
    default:
      beginOperation(context, what, begin);
  }
}

function makeTrouble(world: World, trouble: Trouble): void {
  switch (trouble.kind) {
    case 'faults':
      world.travel.faults.push(...trouble.next.map((fault) => (fault === 'pass' ? undefined : fault)));
      break;
    case 'kill':
      world.killAt(trouble.replica, trouble.at);
      break;
    case 'freeze':
      world.freeze(trouble.replica, trouble.ms);
      delayShadowWatch(world.shadowWatch, trouble.ms);
      break;
    case 'sleep':
      world.time.jump(trouble.ms);
      delayShadowWatch(world.shadowWatch, trouble.ms);
      break;
    case 'wallClock':
      world.shiftWallClock(trouble.ms);
      break;
    case 'import':
      world.replicas()[0]?.importAgain();
  }
}

async function restAndCheck(
  player: Player,
  { hasFeed, isRepeated }: { hasFeed: boolean; isRepeated: boolean },
): Promise<string[]> {
  const { world, context, failures, isAnswered } = player;
  const { time, travel } = world;
  const reads = quietReads(world.reader);
  travel.faults.length = 0;
  await world.recover();

  for (const person of context.people) player.begin([person.index], async () => {});
  if (!(await time.runUntil(isAnswered, ANSWER_MS))) return ['a write of the IdP is never answered'];
  const endless = world.attempts.endless();
  if (endless.length > 0) return [`tried again and again: ${endless.join()} [${promises.attemptsEnd}]`];
  if (failures.length > 0) return failures.map((error) => String((error as Error).stack ?? error));
  const sent = [...(await endPause(world, context.record)), ...(await endShadow(world))];
  if (sent.length > 0) return sent;
  // The bridge finds out by itself what has become of its calls. Only changes by hand, and a restored database, need a feed or an import.
  const isForeign = travel.handChanges() > player.handChanges || context.record.isRestored;
  const withImport = isForeign && !hasFeed;
  player.handChanges = travel.handChanges();
  do {
    await letMembershipsEnd(player);
    const left = (await comeToRest(world, { withImport })) ?? (await decideHolds(world, context.record));
    if (left !== undefined) return [`the work never ends: ${left} [${promises.holdsEnd}]`];
  } while (isMembershipEnding(player, CHECK_MS));
  const errors = world.story.errors();
  if (errors.length > 0) return errors.map((line) => `${line} [${promises.noErrors}]`);
  for (const traveler of travel.disobedient) context.record.disobedient.add(traveler);
  travel.disobedient.clear();
  // A person who has got the own traveler back from another one has lost what that one was not to see.
  for (const [id, times] of travel.passedOn) if (times > 1) context.record.uncertain.add(id);
  travel.passedOn.clear();
  recordLateCalls(context.record, { changed: travel.late, made: madeByForgottenCreates(world) });
  travel.late.clear();
  const state = await observe(player);
  const broken = [
    ...(await brokenPromises(world, state)),
    ...(await secondUserViolations(world, context.people)),
    ...ownUserViolations(world),
    ...removalViolations(travel, context.record),
  ];
  if (broken.length > 0) return broken;
  const groups = await during(time, player.groups.violations(reads));
  const listed = await listViolations(reads, state);
  const lost = [...groups, ...listed];
  if (lost.length > 0) return lost.map((line) => `${line} [${promises.nothingLost}]`);
  for (const person of context.people) await during(time, context.providers.readBack(person));
  rememberState(state);
  if (!isRepeated) return [];
  const writes = world.travel.fake.writes().length;
  time.jump(10 * 60_000);
  await comeToRest(world, { withImport: true });
  // A membership that has ended meanwhile is a reason to write.
  if (isMembershipEnding(player, 0)) return [];
  if (world.travel.fake.writes().length > writes)
    return [`at rest, a write was sent [${promises.noNeedlessCall}]`];
  const shown = [...(await listViolations(reads, state)), ...(await strangerViolations(reads, state))];
  const told = await explanationViolations(world, state);
  return [
    ...shown.map((line) => `${line} [${promises.nothingLost}]`),
    ...told.map((line) => `${line} [${promises.toldTruly}]`),
  ];
}

/** The time within which a check is over, and the time in which a former membership must end to be waited for, in milliseconds. */
const CHECK_MS = 10 * 60_000;
const AWAITED_MS = 75 * 60_000;
/** The time in which the end of a membership is noticed, in milliseconds. */
const END_NOTICED_MS = 65_000;

/** Lets those memberships in deleted and emptied groups end that do so soon: while one ends, the contract does not decide about it. */
async function letMembershipsEnd(player: Player): Promise<void> {
  const { world, context } = player;
  const { time } = world;
  const end = endOfMemberships(context.record.groups, time.now(), AWAITED_MS);
  if (end === undefined) return;
  time.jump(Math.max(0, end - time.now()));
  endMemberships(player);
  await time.run(END_NOTICED_MS);
}

function isMembershipEnding({ world: { time }, context }: Player, withinMs: number): boolean {
  return endOfMemberships(context.record.groups, time.now(), withinMs) !== undefined;
}

/** Records the memberships that do not count any more. Returns true if there are any. */
function endMemberships({ world: { time }, context: { record, people } }: Player): boolean {
  const next = withoutEnded(record.groups, time.now());
  if (next === record.groups) return false;
  recordGroups(record, people, next);
  return true;
}

/** Reads the links of the people, and the travelers. */
async function observe({ world, context }: Player): Promise<ObservedState> {
  const { providers, people, record } = context;
  const links = new Map<number, string>();
  for (const person of people) {
    const id = await during(world.time, providers.travelId(person));
    if (id !== undefined) links.set(person.index, id);
  }
  const decided = await readDecided(world, { people, record });
  return { people, links, travelers: travelersOf(world.travel), record, decided };
}

/** The travelers of creates that were sent before the database was restored last, as they were made. */
function madeByForgottenCreates({ travel, restoredAt = 0 }: World): TravelUser[] {
  return travel.made.filter(({ sentAt }) => sentAt < restoredAt).map(({ traveler }) => traveler);
}

/** Lets time pass until something has ended. */
async function during<T>(time: World['time'], work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  if (!(await time.runUntil(() => isOver, ANSWER_MS)))
    throw new Error('a request of the IdP is never answered');
  return work;
}

import type { HistoryContext } from '../histories/execute.ts';
import { type Call, NoAnswer } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import { recordPurge, recordRestore } from '../histories/record.ts';
import { travelIdOf } from '../histories/wanted-user.ts';
import { type AdminAct, actAsAdmin, applyMapping, restore } from './admin.ts';
import type { ProviderAct } from './events.ts';
import { type Groups, groupSlots } from './groups.ts';
import { endOwnUser } from './own-user.ts';
import { sendSecondUser } from './second-user.ts';
import { travelersOf } from './travel-admin.ts';
import type { World } from './world.ts';

/** What the acts of admins and IdPs work on. */
export interface ActContext {
  world: World;
  context: HistoryContext;
  call: Call;
  groups: Groups;
  /** Acts that wait for the next check. */
  deferredActs: (() => Promise<void>)[];
  /** Begins something after the earlier operations of these people, or of a group. */
  begin(who: readonly number[], act: () => Promise<void>): void;
}

/** The operations of a group follow each other as those of a person with this number and that of the group do. */
const GROUPS = 1_000;
/** The same for the person whose credential the bridge uses. */
const OWN_USER = 2_000;

/** Begins an act of an admin or of an IdP. */
export function beginAct(acts: ActContext, act: AdminAct | ProviderAct): void {
  const { world, context, groups, begin } = acts;
  const everybody = [
    ...context.people.map(({ index }) => index),
    ...groupSlots.map((_, place) => GROUPS + place),
  ];
  switch (act.kind) {
    case 'group':
      begin([GROUPS + act.slot], () => groups.act(act));
      break;
    case 'purge':
      begin(everybody, () => purge(acts, act.connection));
      break;
    case 'mapping':
      // As with the rules of the travel service, the outcome would depend on which of several calls comes first.
      acts.deferredActs.push(() => applyMapping(world, context, act));
      break;
    case 'restore':
      if (world.backupMapping !== undefined) begin(everybody, () => restoreBackup(acts));
      break;
    case 'ownUser':
      begin([OWN_USER], () => endOwnUser(acts.call, act));
      break;
    case 'misspell':
      begin([act.who], () => misspell(acts, act.who));
      break;
    case 'secondUser':
      begin([act.who, act.of], () => sendSecondUser(context, act));
      break;
    case 'sayIsSame':
      begin([act.who], () => actAsAdmin(world, context, act));
      break;
    default:
      begin([], () => actAsAdmin(world, context, act));
  }
}

/** Restores the backup. The IdPs then read what the bridge knows, and go on from there. */
async function restoreBackup({ world, context, groups }: ActContext): Promise<void> {
  const { people, providers, record } = context;
  await restore(world, record);
  record.isPaused = true;
  const links = new Map<number, string>();
  for (const person of people) {
    while (!(await isReadAgain(context, person))) await world.time.wait(500);
    const id = await providers.travelId(person);
    if (id !== undefined) links.set(person.index, id);
  }
  await groups.readAgain();
  recordRestore({ record, people, links, travelers: travelersOf(world.travel) });
  world.travel.late.clear();
}

async function isReadAgain(
  { providers }: HistoryContext,
  person: HistoryContext['people'][number],
): Promise<boolean> {
  try {
    await providers.readAgain(person);
    return true;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

/** An IdP changes an attribute by two unknown names. An admin is told of the one that resembles an attribute; the other may be meant. */
async function misspell({ world, call, context }: ActContext, who: number): Promise<void> {
  const { current, unanswered } = context.people[who] ?? {};
  if (!current || unanswered) return;
  context.record.written.add(who);
  const Operations = ['titel', 'favouriteColour'].map((path) => ({ op: 'replace', path, value: 'any' }));
  const answer = await call(current.connection, 'PATCH', `/Users/${current.id}`, { Operations });
  const stored = await world.store.identities.findById(current.connection, current.id);
  if (answer?.status !== 200 || !stored) return;
  const told = (stored.origin.leftOut ?? []).map(({ attribute }) => attribute);
  if (!told.includes('titel') || told.includes('favouriteColour'))
    throw new Error(`p${who}: an admin is told of ${told.join()}, not of titel [${promises.toldTruly}]`);
}

/** An IdP lists all users and deletes those without an externalId, whom no IdP has sent. */
async function purge({ call, context }: ActContext, connection: Parameters<Call>[0]): Promise<void> {
  const listed = await call(connection, 'GET', '/Users');
  for (const resource of listed?.body.Resources ?? []) {
    if (resource.externalId !== undefined) continue;
    const traveler = travelIdOf(resource);
    if (traveler !== undefined) recordPurge(context.record, traveler);
    const answer = await call(connection, 'DELETE', `/Users/${resource.id}`);
    if (answer?.status === 403) context.record.refusedDeletes.add(resource.id);
    context.note(`  ${connection} deletes ${resource.userName}: ${answer?.status}`);
  }
}

import type { Settings } from '../../config/settings.ts';
import { findExchanges } from '../../log/erasure.ts';
import { isActive } from '../../schema/resource.ts';
import { findNamedRecords } from '../../store/erasure/delete-person.ts';
import { countGroupsWithMember, findOtherMentions, findReferrers } from '../../store/erasure/referrers.ts';
import type { Database } from '../../store/sql/database.ts';
import {
  countEvents,
  type ErasureDeps,
  planErasure,
  type TravelerErasurePlan,
} from '../../travel/erasure.ts';
import { countText, escapeLine, toIsoTime } from '../output.ts';
import type { ErasedPerson } from './erased-person.ts';

/** The effects of an erasure, counted before it is confirmed. */
export interface ErasurePlan {
  person: ErasedPerson;
  groups: number;
  otherPeople: number;
  /** The number of entries of the log of requests. */
  requests: number;
  /** The number of events about deleted travelers of the embedded travel service. */
  formerEvents: number;
  /** The travelers of the embedded travel service, by travel id. */
  travelers: ReadonlyMap<string, TravelerErasurePlan>;
  /** Travelers of another travel service, with its URL. */
  foreign: { travelId: string; place: string }[];
  /** The names of records that mention the person and that an admin must change. */
  leftTo: string[];
}

/** The dependencies of a plan. */
interface PlanDeps {
  deps: ErasureDeps;
  /** Receives the number of records that were looked at since the last call. */
  onRead(count: number): void;
}

/** Finds and counts everything that an erasure would change. Changes nothing. */
export async function planPersonErasure(
  database: Database,
  settings: Settings,
  { person, deps, onRead }: PlanDeps & { person: ErasedPerson },
): Promise<ErasurePlan> {
  const travelers = new Map<string, TravelerErasurePlan>();
  let formerEvents = 0;
  for (const id of person.embeddedIds) {
    const plan = await planErasure(deps, id);
    if (plan) travelers.set(id, plan);
    else formerEvents += await countEvents(deps, id);
  }
  const elsewhere = [
    ...(await findNamedRecords(database, person)),
    ...(await findOtherMentions(database, person, onRead)),
  ];
  return {
    person,
    travelers,
    formerEvents,
    foreign: findForeignTravelers(person, settings),
    groups: await countGroupsWithMember(database, person),
    otherPeople: (await findReferrers(database.db, person)).length,
    requests: (await findExchanges(database, person)).length,
    leftTo: [...new Set([...[...travelers.values()].flatMap(({ leftTo }) => leftTo), ...elsewhere])],
  };
}

/** Returns true if the travelers of an account are in the embedded travel service. */
export function isEmbeddedAccount({ connections }: Settings, account: string): boolean {
  return connections.some((one) => one.account === account && one.travelApi.url === 'embedded');
}

function findForeignTravelers({ account, travelIds, travelers }: ErasedPerson, settings: Settings) {
  if (isEmbeddedAccount(settings, account)) return [];
  const urls = settings.connections
    .filter((connection) => connection.account === account)
    .map(({ travelApi }) => travelApi.url);
  const place = urls[0] ?? `the travel account ${account}`;
  const here = new Set(travelers.map(({ id }) => id));
  return travelIds.filter((id) => !here.has(id)).map((travelId) => ({ travelId, place }));
}

/** Returns the reason for which the person must not be erased now, with its remedy; undefined if nothing prevents it. */
export function erasureRefusal({ person, foreign, travelers }: ErasurePlan): string | undefined {
  const { identities } = person;
  const wanted = identities.find(
    ({ claimed, deletedAt, desired }) => claimed && deletedAt === undefined && isActive(desired),
  );
  if (wanted)
    return `The identity provider of the connection ${wanted.connection} still wants ${escapeLine(String(wanted.desired.userName))} active (SCIM id ${wanted.id}). Deactivate, unassign or delete the person there; once that has arrived here, erase them.`;
  if (
    identities.some(({ creating, progress }) => creating !== undefined || progress.late || progress.announced)
  )
    return 'A call to the travel API for this person has no known outcome yet and may still be carried out. While the server runs it finds out, within a minute mostly; then erase them.';
  const open = identities.find(({ state }) => state === 'dirty' || state === 'held');
  if (foreign.length > 0 && open)
    return open.state === 'held'
      ? `The traveler is not taken out of use yet, as an admin must decide (npx jetbridge holds show ${open.id}). Decide it; then erase them.`
      : 'The traveler is not taken out of use in the travel service yet. Let the server run until it is; then erase them.';
  if ([...travelers.values()].some(({ isAdmin }) => isAdmin))
    return 'This person is an active admin of the travel service. Archive the user there, or take the role "admin" away; then erase them.';
  return undefined;
}

/** Returns the plan as `--json` prints it. */
export function planJson(plan: ErasurePlan): object {
  const { person, travelers, groups, otherPeople, requests, formerEvents, foreign, leftTo } = plan;
  return {
    identities: person.identities.map(({ connection, id, desired, deletedAt }) => ({
      ...{ connection, id, userName: desired.userName, deletedAt: toIsoTime(deletedAt) },
    })),
    travelUserIds: person.travelIds,
    travelers: [...travelers].map(([id, traveler]) => ({ id, ...traveler })),
    ...{ groups, otherPeople, requests, formerEvents, foreign, leftTo },
  };
}

/** Returns the text that the admin reads before confirming an erasure. */
export function planText(plan: ErasurePlan): string {
  const { person, travelers, groups, otherPeople, requests, formerEvents } = plan;
  const events = [...travelers.values()].reduce((sum, one) => sum + one.events, formerEvents);
  return [
    'To be erased:',
    ...person.identities.map(
      ({ id, connection, desired, deletedAt }) =>
        `  ${escapeLine(String(desired.userName))}, SCIM id ${id}, connection ${connection}${deletedAt === undefined ? '' : `, deleted ${formatDay(deletedAt)}`}`,
    ),
    ...person.travelIds.map((id) => `  the traveler ${id}`),
    'Removed:',
    `  ${countText(person.identities.length, 'SCIM user')} with addresses, findings, traces and calls that were announced`,
    `  the person from ${countText(groups, 'group')}, and from what is kept of ${countText(otherPeople, 'other person', 'other people')}: managers, findings, traces`,
    `  ${countText(requests, 'entry', 'entries')} of the log of requests`,
    'Reduced to what such records must have:',
    `  ${countText(events, 'event')}; webhooks that still wait are sent the reduced events`,
    ...[...travelers].flatMap(([id, traveler]) => travelerLines(id, traveler)),
    'Kept:',
    ...keptLines(plan),
    ...remainderLines(plan),
  ].join('\n');
}

/** Returns the text that is shown after an erasure. It lists what the admin still has to do in other systems. */
export function remainderText(plan: ErasurePlan): string {
  return ['The person is erased.', ...remainderLines(plan)].join('\n');
}

function travelerLines(id: string, traveler: TravelerErasurePlan): string[] {
  const { trips, operations, managed, approves, isActive } = traveler;
  const stays = [
    ...(trips > 0 ? [countText(trips, 'trip')] : []),
    ...(operations > 0 ? [countText(operations, 'billing operation')] : []),
  ].join(' and ');
  return [
    'In the embedded travel service:',
    stays === ''
      ? `  the traveler ${id} is deleted, as no trip and no billing operation refers to it`
      : `  the traveler ${id} is made anonymous and stays archived, as ${stays} refer to it; these lose name, address and texts of the traveler`,
    ...(isActive ? ['  the traveler is still active there, and loses access'] : []),
    ...(managed > 0 ? [`  ${countText(managed, 'traveler loses', 'travelers lose')} this manager`] : []),
    ...approves.map((name) => `  ${escapeLine(name)} loses its approver: choose another`),
  ];
}

function keptLines({ travelers, person }: ErasurePlan): string[] {
  const invoices = [...travelers.values()].reduce((sum, one) => sum + one.invoices, 0);
  const here =
    travelers.size === 0
      ? []
      : [
          `  invoices, refunds and disputes, unchanged: ${countText(invoices, 'invoice')} of this traveler, as the books must be kept; none holds a name`,
        ];
  const hashes = countText(person.travelIds.length, 'hash of the travel id', 'hashes of the travel ids');
  return [...here, `  ${hashes}, so that no import brings the person back`];
}

function remainderLines({ foreign, leftTo }: ErasurePlan): string[] {
  return [
    'Left to you:',
    ...foreign.map(
      ({ travelId, place }) =>
        `  delete or anonymize the traveler ${travelId} in ${place}, where Jetbridge changes nothing. As long as it has its address, nobody else gets that address by Jetbridge`,
    ),
    ...leftTo.map((name) => `  ${escapeLine(name)} names the person`),
    '  backups, log files, and what webhooks and other programs have received',
  ];
}

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

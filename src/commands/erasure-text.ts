import type { TravelerPlan } from '../travel/erasure.ts';
import type { ErasurePlan } from './erasure-plan.ts';
import { inLine } from './escape.ts';

/** The plan of an erasure, to be read before it is confirmed. */
export function planText(plan: ErasurePlan): string {
  const { person, travelers, groups, otherPeople, requests, formerEvents } = plan;
  const events = [...travelers.values()].reduce((sum, one) => sum + one.events, formerEvents);
  return [
    'To be erased:',
    ...person.identities.map(
      ({ id, connection, desired, deletedAt }) =>
        `  ${inLine(String(desired.userName))}, SCIM id ${id}, connection ${connection}${deletedAt === undefined ? '' : `, deleted ${day(deletedAt)}`}`,
    ),
    ...person.travelIds.map((id) => `  the traveler ${id}`),
    'Removed:',
    `  ${counted(person.identities.length, 'SCIM user')} with addresses, findings, traces and calls that were announced`,
    `  the person from ${counted(groups, 'group')}, and from what is kept of ${counted(otherPeople, 'other person', 'other people')}: managers, findings, traces`,
    'Reduced to what such records must have:',
    `  ${counted(requests, 'entry', 'entries')} of the request log, ${counted(events, 'event')}; webhooks that still wait are sent the reduced events`,
    ...[...travelers].flatMap(([id, traveler]) => travelerLines(id, traveler)),
    'Kept:',
    ...keptLines(plan),
    ...remainderLines(plan),
  ].join('\n');
}

/** What is left to do after an erasure. */
export function remainderText(plan: ErasurePlan): string {
  return ['The person is erased.', ...remainderLines(plan)].join('\n');
}

function travelerLines(id: string, traveler: TravelerPlan): string[] {
  const { trips, operations, managed, approves, isActive } = traveler;
  const stays = [
    ...(trips > 0 ? [counted(trips, 'trip')] : []),
    ...(operations > 0 ? [counted(operations, 'billing operation')] : []),
  ].join(' and ');
  return [
    'In the embedded travel service:',
    stays === ''
      ? `  the traveler ${id} is deleted, as no trip and no billing operation refers to it`
      : `  the traveler ${id} is made anonymous and stays archived, as ${stays} refer to it; these lose name, address and texts of the traveler`,
    ...(isActive ? ['  the traveler is still active there, and loses access'] : []),
    ...(managed > 0 ? [`  ${counted(managed, 'traveler loses', 'travelers lose')} this manager`] : []),
    ...approves.map((name) => `  ${inLine(name)} loses its approver: choose another`),
  ];
}

function keptLines({ travelers, person }: ErasurePlan): string[] {
  const invoices = [...travelers.values()].reduce((sum, one) => sum + one.invoices, 0);
  const here =
    travelers.size === 0
      ? []
      : [
          `  invoices, refunds and disputes, unchanged: ${counted(invoices, 'invoice')} of this traveler, as the books must be kept; none holds a name`,
        ];
  const hashes = counted(person.travelIds.length, 'hash of the travel id', 'hashes of the travel ids');
  return [...here, `  ${hashes}, so that no import brings the person back`];
}

function remainderLines({ foreign, leftTo }: ErasurePlan): string[] {
  return [
    'Left to you:',
    ...foreign.map(
      ({ travelId, place }) =>
        `  delete or anonymize the traveler ${travelId} in ${place}, where Jetbridge changes nothing. As long as it has its address, nobody else gets that address by Jetbridge`,
    ),
    ...leftTo.map((name) => `  ${inLine(name)} names the person`),
    '  backups, log files, and what webhooks and other programs have received',
  ];
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

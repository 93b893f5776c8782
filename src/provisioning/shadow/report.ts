import { createHash } from 'node:crypto';
import { planCodes } from '../../model/findings.ts';
import { type Identity, isLive, type ShadowPlan, userNameOf } from '../../model/identity.ts';
import { displayNameOf, type PersonPlace } from '../../model/people.ts';
import type { FieldKey, Finding } from '../../model/translation.ts';
import { fieldLabel, valueText } from '../../model/value-texts.ts';
import type { Json } from '../../schema/resource.ts';
import { isActive } from '../../schema/resource.ts';
import type { Shadow } from '../../store/connection-modes.ts';
import type { PlannedPage } from '../../store/identities/shadow-plans.ts';

/** The outcomes of going live for a person, in the order of the report. */
export const shadowOutcomes = [
  /** Nothing: the person is in the pilot, whose changes are carried out already. */
  'live',
  'create',
  'link',
  'change',
  'reactivate',
  'end',
  /** No traveler is made, or the one that exists stays as it is, because a value is missing or an admin must decide. */
  'leftOut',
  /** Nothing: the traveler is as wanted, or the person has left and has none. */
  'same',
  /** No attempt has planned the person yet under the rules in force. */
  'unplanned',
  /** Nothing: the travel service has the traveler, and the IdP has never sent such a person. */
  'notSent',
] as const;

export type ShadowOutcome = (typeof shadowOutcomes)[number];

/** A field of a traveler before and after going live; null stands for no value. */
export interface ShadowField {
  field: FieldKey;
  before: Json;
  after: Json;
}

/** One person in the report of a connection in shadow mode. */
export interface ShadowPerson {
  connection: string;
  id: string;
  userName: string;
  /** The name for display; empty if the user has none. */
  name: string;
  travelId?: string;
  outcome: ShadowOutcome;
  fields: ShadowField[];
  /** Why the person, or a value, is left out. */
  findings: Finding[];
}

/** Reads the people of a connection in pages. */
export type ReadPlans = (
  connection: string,
  after: PersonPlace | undefined,
  limit?: number,
) => Promise<PlannedPage>;

/** Yields the people of a connection page by page, so that memory stays bounded. */
export async function* planPages(read: ReadPlans, connection: string): AsyncGenerator<Identity[]> {
  let next: PersonPlace | undefined;
  do {
    const page = await read(connection, next);
    yield page.people;
    next = page.next;
  } while (next);
}

/** Returns the plan of an identity; undefined if it is of an earlier time in shadow mode, or of rules that are no longer in force. */
export function planOf(
  { progress: { shadow: plan }, rulesGeneration }: Identity,
  { since, generation }: Shadow,
): ShadowPlan | undefined {
  return plan && plan.at >= since && rulesGeneration >= generation ? plan : undefined;
}

/** Returns a person of the report. */
export function toShadowPerson(identity: Identity, shadow: Shadow): ShadowPerson {
  const { connection, id, desired, travelId } = identity;
  const plan = planOf(identity, shadow);
  const outcome = outcomeOf(identity, plan, shadow);
  const fields = Object.entries(plan?.fields ?? {}).map(([field, values]) => ({ field, ...values }));
  return {
    ...{ connection, id, userName: userNameOf(identity), name: displayNameOf(desired) },
    ...(travelId === undefined ? {} : { travelId }),
    ...{ outcome, fields: fields.toSorted((one, other) => (one.field < other.field ? -1 : 1)) },
    findings: identity.findings.filter(({ code }) => !planCodes.has(code)),
  };
}

function outcomeOf(identity: Identity, plan: ShadowPlan | undefined, { generation }: Shadow): ShadowOutcome {
  const { claimed, state, travelId, desired, rulesGeneration } = identity;
  if (!claimed) return 'notSent';
  if (rulesGeneration < generation) return 'unplanned';
  if (plan?.call === 'live') return 'live';
  if (state === 'dirty') {
    return plan?.call ?? 'unplanned';
  }
  if (state !== 'synced') return 'leftOut';
  const isLeftOut = travelId === undefined && isLive(identity) && isActive(desired);
  return isLeftOut ? 'leftOut' : 'same';
}

/** A report in numbers. */
export interface ShadowSums {
  people: Record<ShadowOutcome, number>;
  /** The number of people of whom each field changes, without those whose traveler is created. */
  fields: Record<FieldKey, number>;
  /** Names the plan of everybody as it was at a time, for `goLive`. */
  digest: string;
}

/** Sums up the report of a connection as it is at a time. `see` gets the people, page by page. */
export async function summarizeShadow(
  read: ReadPlans,
  shadow: Shadow,
  shownAt: number,
  see: (people: ShadowPerson[]) => void = () => {},
): Promise<ShadowSums> {
  const summary = shadowSummary(shownAt);
  for await (const identities of planPages(read, shadow.connection)) {
    const people = identities.map((identity) => toShadowPerson(identity, shadow));
    for (const person of people) summary.add(person);
    see(people);
  }
  return summary.end();
}

/** Adds people to the sums of a report. */
export function shadowSummary(shownAt: number) {
  const people = Object.fromEntries(shadowOutcomes.map((outcome) => [outcome, 0])) as ShadowSums['people'];
  const fields = new Map<FieldKey, number>();
  const hash = createHash('sha256');
  return {
    add: ({ id, outcome, fields: changed }: ShadowPerson): void => {
      people[outcome] += 1;
      if (outcome !== 'create')
        for (const { field } of changed) fields.set(field, (fields.get(field) ?? 0) + 1);
      // An import may find more travelers at any time: they are in no plan.
      if (outcome !== 'notSent') hash.update(`${JSON.stringify([id, outcome, changed])}\n`);
    },
    end: (): ShadowSums => {
      const sorted = [...fields].toSorted(([, one], [, other]) => other - one);
      return { people, fields: Object.fromEntries(sorted), digest: toDigest(shownAt, hash.digest('hex')) };
    },
  };
}

function toDigest(shownAt: number, hash: string): string {
  return `${shownAt.toString(36)}.${hash.slice(0, 32)}`;
}

/** Returns the time at which a digest was made; undefined if the text is no digest. */
export function timeOfDigest(digest: string): number | undefined {
  const [, time] = /^([0-9a-z]{1,11})\.[0-9a-f]{32}$/.exec(digest) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 36);
}

/** True if two digests name the same plans, whenever they were made. */
export function areSamePlans(one: string, other: string): boolean {
  return one.split('.')[1] === other.split('.')[1];
}

/** A changed field of a person, as a row of a table; a person without changed fields has one row. */
export interface ShadowRow extends Omit<ShadowPerson, 'fields' | 'findings'> {
  field?: FieldKey;
  before?: string;
  after?: string;
  /** The codes and texts of the findings, for people. */
  findings: string;
}

/** The names of resources, custom fields and options of the travel service, by their ids. */
type Names = Partial<Record<string, string>>;

/** Returns the rows of a person, with names in place of ids. */
function shadowRows({ fields, findings, ...person }: ShadowPerson, names: Names): ShadowRow[] {
  const row = { ...person, findings: findings.map(({ field, reason }) => `${field}: ${reason}`).join(' ') };
  if (fields.length === 0) return [row];
  return fields.map(({ field, before, after }) => ({
    ...row,
    ...{ field: fieldLabel(field, names), before: valueText(before, names), after: valueText(after, names) },
  }));
}

/** Yields the rows of everybody in a connection, page by page. */
export async function* shadowRowPages(
  read: ReadPlans,
  shadow: Shadow,
  names: Names,
): AsyncGenerator<ShadowRow[]> {
  for await (const people of planPages(read, shadow.connection))
    yield people.flatMap((identity) => shadowRows(toShadowPerson(identity, shadow), names));
}

/** The columns of the report as a table. */
export const shadowColumns = {
  connection: ({ connection }: ShadowRow) => connection,
  userName: ({ userName }: ShadowRow) => userName,
  name: ({ name }: ShadowRow) => name,
  id: ({ id }: ShadowRow) => id,
  traveler: ({ travelId }: ShadowRow) => travelId,
  outcome: ({ outcome }: ShadowRow) => outcome,
  field: ({ field }: ShadowRow) => field,
  before: ({ before }: ShadowRow) => before,
  after: ({ after }: ShadowRow) => after,
  findings: ({ findings }: ShadowRow) => findings,
};

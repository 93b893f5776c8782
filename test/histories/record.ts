import type { Policies } from '../../src/provisioning/policies.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import {
  expectedValues,
  type HistoryEvent,
  type RememberedTraveler,
  type Stated,
} from './expected-fields.ts';
import type { CurrentUser, Person, UserWrite } from './identity-providers.ts';
import type { MeantManager } from './manager-invariants.ts';
import { type MappingName, ruleOf, scopeOf } from './mappings.ts';
import { standingOf } from './standing.ts';
import { noGroups, type StatedGroups } from './stated-groups.ts';
import { type Catalog, type Field, fields, type MappedAttribute } from './traveler-fields.ts';
import type { WantedUser } from './wanted-user.ts';

/** The policies that decide what travelers should be. */
export type RecordedPolicies = Pick<Policies, 'drift' | 'deprovision'>;

/** The facts about a history that the state of the services does not contain. */
export interface HistoryRecord {
  catalog: Catalog;
  /** False for a travel API that names no time: a create whose answer was lost cannot be told from an existing traveler. */
  isTimeNamed: boolean;
  policies: RecordedPolicies;
  /** The events since the last check. */
  events: HistoryEvent[];
  rules: { mapping: MappingName; collection: Set<MappedAttribute> };
  /** The rules at the last check. */
  rulesBefore: HistoryRecord['rules'];
  /** The rules that came into force since the last check, in order; the last ones are those in force. */
  rulesSince: HistoryRecord['rules'][];
  /** The groups that the IdPs have stated. */
  groups: StatedGroups;
  /** What the IdPs had stated at the last check: the users by person, and the groups. */
  statedBefore: { users: ReadonlyMap<number, CurrentUser>; groups: StatedGroups };
  /** The people who had a traveler at the last check. */
  linkedBefore: ReadonlySet<number>;
  /** The managers that lost creates have left with travelers which count as existing ones, by traveler. */
  managersOfCreates: ReadonlyMap<string, string>;
  /** Whom the references of the people to a manager meant at the last check. */
  meantManagers: ReadonlyMap<number, MeantManager>;
  /** The travelers that an admin keeps active although the scope leaves their people out. */
  keptOutOfScope: Set<string>;
  /** The names of the cost centers at the last check. */
  costCentersBefore: Set<string>;
  /** The fields whose rules have changed since the last check, and the scope. */
  changedRules: Set<Field | 'scope'>;
  /** The fields of which an admin has discarded the rules, until everybody follows later ones; and the scope. */
  undecided: Set<Field | 'scope'>;
  /** True if an admin has discarded the rules in force. */
  areRulesDiscarded: boolean;
  memory: Map<string, RememberedTraveler>;
  edits: Map<string, number>;
  /** All addresses that each person has ever wanted. */
  emails: Map<number, Set<string>>;
  /** Travelers that are or were admins of the travel service. They are not checked, as an admin decides about them. */
  guarded: Set<string>;
  /** Travelers whose fields the contract does not decide at the next check at which they have a person. */
  uncertain: Set<string>;
  /** The given name of each person who has left, at the departure or at an inactive creation. The bridge compares a return with it. */
  leftAs: Map<number, string>;
  /** Travelers of which a change was answered and not carried out since the last check. */
  disobedient: Set<string>;
  /** Travelers as they were when the database was restored, which does not know what it has sent since the backup. */
  restored: Map<string, TravelUser>;
  /** Travelers that no IdP has created, with the person whose address they have. */
  strangers: Map<string, number>;
  /** Travelers of nobody whom an IdP has deleted all the same. */
  purged: Set<string>;
  /** The SCIM ids of people of nobody whose DELETE was answered 403, which makes the person an inactive user. */
  refusedDeletes: Set<string>;
  /** Travelers of leavers that an admin has given to another user. */
  given: Set<string>;
  /** Travelers of lost creates that the bridge has taken for existing ones (`Decided.takenForExisting`), also after they were passed on. */
  takenForExisting: Set<string>;
  /** Travelers of admins of the travel service whose archive an admin has approved since the last check. */
  approvedGuarded: Set<string>;
  isPaused: boolean;
  /** The people whom an IdP has written since the last restore or pause. */
  written: Set<number>;
  /** True if the database was restored since the last check: calls from before the restore may have made travelers that nobody knows. */
  isRestored: boolean;
}

/** The decisions of admins that still count. */
export interface Decided {
  /** The travelers that stay active although their people have left. */
  keptActive: ReadonlySet<string>;
  /** The travelers of admins of the travel service whom an admin lets the bridge change. */
  aboutGuarded: ReadonlySet<string>;
  /** The people who do not get the traveler of an admin of the travel service that has their address. */
  withoutLink: ReadonlySet<number>;
  /** The people whose travelers stay as they are until the rules change again, because an admin has discarded the rules in force. */
  withoutRules: ReadonlySet<number>;
  /** The travelers of users whom an IdP has deleted, as the database knows them. */
  ofLeavers: ReadonlySet<string>;
  /**
   * Where the travel API names no time: the travelers of creates whose answer was lost, if the bridge has taken them for existing ones, of which it
   * owns nothing (docs/decisions/0014-recognizing-our-own-create.md).
   */
  takenForExisting: ReadonlySet<string>;
}

/** The state at one time: people with their links, travelers, and what admins have decided. */
export interface ObservedState {
  people: readonly Person[];
  /** The travel user that each person's SCIM resource is linked to. */
  links: ReadonlyMap<number, string>;
  travelers: readonly TravelUser[];
  record: HistoryRecord;
  decided: Decided;
}

/** The record at the beginning of a history. */
export function newHistoryRecord(
  catalog: Catalog,
  policies: RecordedPolicies,
  isTimeNamed = true,
): HistoryRecord {
  const rules = () => ({
    mapping: 'defaults' as const,
    collection: new Set<MappedAttribute>(['department']),
  });
  return {
    ...{
      catalog,
      isTimeNamed,
      policies,
      events: [],
      rules: rules(),
      rulesBefore: rules(),
      rulesSince: [],
      undecided: new Set(),
    },
    ...{
      groups: noGroups,
      statedBefore: { users: new Map(), groups: noGroups },
      linkedBefore: new Set(),
      managersOfCreates: new Map(),
      meantManagers: new Map(),
      keptOutOfScope: new Set(),
    },
    costCentersBefore: new Set(catalog.costCenters.keys()),
    ...{
      changedRules: new Set(),
      areRulesDiscarded: false,
      isPaused: false,
      written: new Set(),
      isRestored: false,
      memory: new Map(),
      edits: new Map(),
      emails: new Map(),
    },
    ...{
      strangers: new Map(),
      guarded: new Set(),
      uncertain: new Set(),
      purged: new Set(),
      refusedDeletes: new Set(),
      given: new Set(),
      takenForExisting: new Set(),
      approvedGuarded: new Set(),
    },
    ...{ leftAs: new Map(), disobedient: new Set(), restored: new Map() },
  };
}

/** Notes an acknowledged write in the record. */
export function recordWrite(
  record: HistoryRecord,
  person: Person,
  before: WantedUser | undefined,
  verb: UserWrite['verb'],
): void {
  const { index, current, lastConnection: connection } = person;
  const wanted = current?.wanted;
  const emails = record.emails.get(index) ?? new Set();
  const isNewEmail = wanted !== undefined && !emails.has(wanted.email);
  const { isPaused: isInPause } = record;
  record.written.add(index);
  record.events.push({
    kind: 'write',
    person: index,
    connection,
    verb,
    wanted,
    before,
    standing: standingOf(current, record),
    isNewEmail,
    isInPause,
  });
  if (before?.active && !wanted?.active) record.leftAs.set(index, before.givenName);
  if (!wanted) return;
  if (verb === 'POST') recordReturn(record, index, wanted);
  // A user who is created inactive counts as a leaver from then on.
  if (verb === 'POST' && !wanted.active) record.leftAs.set(index, wanted.givenName);
  record.emails.set(index, emails.add(wanted.email).add(wanted.userName));
}

/** Notes the DELETE of a person of nobody. The traveler stays until an admin approves the DELETE. */
export function recordPurge({ purged }: HistoryRecord, traveler: string): void {
  purged.add(traveler);
}

/** A person who was renamed after the departure counts as somebody else on return, who gets the traveler without its values. */
function recordReturn({ leftAs, memory, uncertain }: HistoryRecord, index: number, wanted: WantedUser): void {
  const name = leftAs.get(index);
  if (name === undefined || name === wanted.givenName) return;
  for (const [id, { owner }] of memory)
    if (owner?.person === index && owner.externalId === wanted.externalId) uncertain.add(id);
}

/** Notes other rules, which come into force. */
export function recordRules(
  { changedRules, rules, rulesSince }: HistoryRecord,
  next: Partial<HistoryRecord['rules']>,
): void {
  const before = { ...rules };
  Object.assign(rules, next);
  rulesSince.push({ ...rules });
  for (const field of fields) if (ruleOf(field, rules) !== ruleOf(field, before)) changedRules.add(field);
  if (scopeOf(rules.mapping) !== scopeOf(before.mapping)) changedRules.add('scope');
}

/**
 * Notes that the database was restored: it has forgotten what was done since the backup. The IdPs have read their users again. Travelers
 * without a user are those of people whom the database does not know any more.
 */
export function recordRestore({ record, people, links, travelers }: Omit<ObservedState, 'decided'>): void {
  record.isRestored = true;
  record.events = [];
  // Nothing that was sent under rules from before the restore is known any more; those of the backup are in force.
  record.rulesSince = record.rulesSince.slice(-1);
  rememberStated(record, people, links);
  record.meantManagers = new Map();
  record.edits = new Map();
  for (const traveler of travelers) {
    const { id } = traveler;
    const person = people.find(({ index }) => links.get(index) === id);
    record.uncertain.add(id);
    record.restored.set(id, traveler);
    if (!person) record.strangers.set(id, ownerOf(traveler, people));
    record.memory.delete(id);
  }
}

/**
 * Notes travelers that calls have changed or made which were sent before the restore, and carried out after it: the database does not know these
 * calls. A traveler that was made counts as that of somebody else for everybody who gets it.
 */
export function recordLateCalls(
  { isRestored, restored, uncertain }: HistoryRecord,
  { changed, made }: { changed: ReadonlyMap<string, TravelUser>; made: readonly TravelUser[] },
): void {
  if (!isRestored) return;
  for (const [id, traveler] of changed) if (restored.has(id)) restored.set(id, traveler);
  for (const traveler of made) {
    if (restored.has(traveler.id)) continue;
    uncertain.add(traveler.id);
    restored.set(traveler.id, traveler);
  }
}

/** True for a traveler that administers the travel service. */
export function isAdmin({ roles = [] }: TravelUser): boolean {
  return roles.includes('admin');
}

/** Returns the values that a field of a linked traveler may have. */
export function expectedField(field: Field, traveler: TravelUser, person: Person, state: ObservedState) {
  const { record, decided } = state;
  const { events, edits, undecided, changedRules, statedBefore } = record;
  const { drift } = record.policies;
  const rules = {
    before: record.rulesBefore,
    now: record.rules,
    undecided,
    changed: changedRules,
    isDiscarded: record.areRulesDiscarded,
  };
  const { index, current } = person;
  const memory = record.memory.get(traveler.id);
  const first = statedBefore.users.get(index);
  const stated = (user: CurrentUser, under: HistoryRecord['rules']): Stated => ({
    wanted: user.wanted,
    standing: standingOf(user, { rules: under, groups: statedBefore.groups }),
  });
  const between = record.rulesSince.slice(0, -1);
  const isRoleKept = field.startsWith('roles.');
  const keepsRemoved = memory
    ? isRoleKept && record.takenForExisting.has(traveler.id)
    : decided.takenForExisting.has(traveler.id);
  const linked = {
    ...{ traveler: traveler.id, person: index, wanted: current?.wanted, memory, keepsRemoved },
    atLastCheck: first && stated(first, record.rules),
    underRulesBetween: first ? between.map((under) => ({ rules: under, stated: stated(first, under) })) : [],
    standing: standingOf(current, record),
  };
  return expectedValues(field, linked, { events, rules, drift, edits });
}

export function rememberStated(
  record: HistoryRecord,
  people: readonly Person[],
  links: ReadonlyMap<number, string>,
): void {
  const users = people.flatMap(({ index, current }) => (current ? [[index, current] as const] : []));
  record.statedBefore = { users: new Map(users), groups: record.groups };
  record.linkedBefore = new Set(links.keys());
}

/** The person for whom a traveler was made, by the family name; -1 if there is none. */
export function ownerOf({ lastName }: TravelUser, people: readonly Person[]): number {
  return people.findIndex(({ lastWanted }) => lastWanted.familyName === lastName);
}

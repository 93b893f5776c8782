import type { TravelUser } from '../../src/translator/traveler.ts';
import { emailViolations } from './email-invariants.ts';
import type { HistoryEvent } from './expected-fields.ts';
import type { Person } from './identity-providers.ts';
import { managerViolations } from './manager-invariants.ts';
import { ruleOf, scopeOf } from './mappings.ts';
import { expectedField, isAdmin, type ObservedState } from './record.ts';
import { isScopeDiscarded, scopeOfPerson, scopesSince, standingOf } from './standing.ts';
import { type Field, fields, fieldValue, isForeignField } from './traveler-fields.ts';

/** What the bridge promises for every moment at which no work is left, and the function that describes each violation of it. */
export const invariants = {
  'At rest, a traveler has the values that the rules make of the user.': valueViolations,
  'At rest, a traveler has the address that the user wants, unless another person has it rightfully.':
    emailViolations,
  'At rest, a traveler has the manager that the user refers to.': managerViolations,
  'Nobody is active whom the IdP has ended or the scope archives, but those whom an admin keeps active.':
    endedViolations,
  'Nobody is archived whom the IdP wants and the scope has.': wantedViolations,
  'Nobody whom the scope leaves out gets a traveler.': scopeViolations,
  'Nobody is there twice: each person has one traveler, and each traveler at most one person.':
    duplicateViolations,
  'Nothing foreign is changed: no value and no traveler that the IdP has not sent.': foreignViolations,
  'Nobody inherits: no person has the traveler of somebody else.': inheritanceViolations,
} as const satisfies Record<string, (state: ObservedState) => string[]>;

/** What the bridge promises besides, and the players of histories check where it happens. */
export const promises = {
  nothingLost: 'Nothing that was acknowledged is lost: SCIM shows every user and group as written.',
  noNeedlessCall: 'No call for nothing: another look at everything sends no write.',
  attemptsEnd: 'Nobody is tried again and again: attempts follow a change, or the intervals after failures.',
  outagesEnd: 'Every outage has an end: while somebody is due, calls are sent again within a minute.',
  noErrors: 'Nothing fails by itself: whatever the travel API answers, no process logs an error.',
  holdsEnd: 'Every hold has an end: with the decisions of an admin, all work is done.',
  toldTruly:
    'What an admin reads about a person is so: the status, the values of the traveler, and a second user.',
  previewsTell:
    'A preview of a mapping tells what follows: for whom a traveler is created, and for whom nothing.',
  ownUserStays: 'The person whose credential the bridge uses is never changed or ended.',
  noneDeleted: 'Without the policy to delete, nobody loses the only traveler.',
  pauseHolds: 'After a restore nothing is sent but what the IdP states.',
  shadowHolds: 'A connection in shadow mode sends nothing.',
} as const;

/** Describes each violation in a settled state: the person or the traveler, what is wrong, and the promise that it breaks. */
export function findViolations(state: ObservedState): string[] {
  return Object.entries(invariants).flatMap(([promise, violations]) =>
    violations(state).map((line) => `${line} [${promise}]`),
  );
}

function valueViolations(state: ObservedState): string[] {
  return fieldViolations(state, (field) => field !== 'archived' && !isForeignField(field));
}

/** Describes the fields of linked travelers with a value that they may not have. */
function fieldViolations(state: ObservedState, isChecked: (field: Field) => boolean): string[] {
  const checked = fields.filter(isChecked);
  return state.people.flatMap((person) => {
    const traveler = travelerOf(person, state);
    if (!traveler) return [];
    return checked.flatMap((field) => {
      const allowed = allowedValues(field, traveler, person, state);
      const value = presentValue(field, traveler, person, state);
      if (allowed === 'any' || allowed.has(value)) return [];
      const right = [...allowed].map((one) => one ?? 'nothing').join(' or ');
      return [`p${person.index}: ${field} is ${value ?? 'nothing'}, not ${right} (traveler ${traveler.id})`];
    });
  });
}

function allowedValues(
  field: Field,
  traveler: TravelUser,
  person: Person,
  state: ObservedState,
): ReadonlySet<string | undefined> | 'any' {
  const { guarded, uncertain, disobedient, catalog, undecided, areRulesDiscarded } = state.record;
  const { id } = traveler;
  // The travel API has not carried out a whole PATCH; the bridge sends only `archived` again.
  const isIgnored = disobedient.has(id) && field !== 'archived';
  // While an admin refuses somebody else's traveler to a person, it stays as the leaver had it.
  const { withoutRules } = state.decided;
  const isRefused = withoutRules.has(person.index);
  if (guarded.has(id) || uncertain.has(id) || isIgnored || isRefused) return 'any';
  const costCenter = costCenterOf(person, state);
  const isLeft = scopeOfPerson(person, state.record) === 'out';
  if (field === 'costCenterId' && isLeft && hasSameCostCenter(traveler, state)) return 'any';
  if (field !== 'costCenterId' || costCenter === undefined || isLeft) {
    const { allowed } = expectedField(field, traveler, person, state);
    const isRemoved = field === 'costCenterId' && isLeft && hadLostCostCenter(person, state);
    return isRemoved && allowed !== 'any' ? new Set([...allowed, undefined]) : allowed;
  }
  // A cost center that does not exist leaves the value before.
  if (!catalog.costCenters.has(costCenter) || (areRulesDiscarded && undecided.has(field))) return 'any';
  const memory = state.record.memory.get(id);
  const isAsBefore =
    state.record.costCentersBefore.has(costCenter) && memory?.wanted.get(field) === costCenter;
  // What was sent between the backup and a restore counts as changed by hand, and stays while drift is only reported.
  const isDrift = memory?.isRestored === true && state.record.policies.drift === 'report';
  // What the travel API has ignored, without showing another value, stays ignored.
  return new Set([costCenter, ...(isAsBefore || isDrift ? [memory?.fields[field]] : [])]);
}

/**
 * The value of a field. The cost center of the last check has the name that it had then, if the name is gone, or if the person wants none and
 * another one may have the name by now.
 */
function presentValue(
  field: Field,
  traveler: TravelUser,
  person: Person,
  state: ObservedState,
): string | undefined {
  const { catalog, memory } = state.record;
  const name = memory.get(traveler.id)?.fields.costCenterId;
  const isGone = name !== undefined && !catalog.costCenters.has(name);
  const isNameKept = isGone || costCenterOf(person, state) === undefined;
  if (field === 'costCenterId' && isNameKept && hasSameCostCenter(traveler, state)) return name;
  return fieldValue(traveler, field, catalog);
}

function hasSameCostCenter({ id, costCenterId }: TravelUser, { record }: ObservedState): boolean {
  return record.memory.get(id)?.costCenterId === costCenterId;
}

/** The name of the cost center that the rules give to a person. */
function costCenterOf({ current }: Person, { record }: ObservedState): string | undefined {
  const rule = ruleOf('costCenterId', record.rules);
  return current && rule?.({ ...current.wanted, groups: standingOf(current, record).groups });
}

/**
 * True if the IdP has stated a cost center that does not exist, before the scope left the person out or while the user was inactive: the
 * traveler then loses the one that it had.
 */
function hadLostCostCenter({ index }: Person, { record }: ObservedState): boolean {
  const { rules, statedBefore, events, catalog } = record;
  const rule = ruleOf('costCenterId', rules);
  const first = statedBefore.users.get(index);
  const stated = events.filter((event) => event.kind === 'write' || event.kind === 'standing');
  return [
    ...(first
      ? [{ wanted: first.wanted, standing: standingOf(first, { rules, groups: statedBefore.groups }) }]
      : []),
    ...stated.filter(({ person }) => person === index),
  ].some(({ wanted, standing: { groups, scope } }) => {
    const name = wanted && (!wanted.active || scope !== 'out') ? rule?.({ ...wanted, groups }) : undefined;
    return name !== undefined && !catalog.costCenters.has(name);
  });
}

/** True if the scope of the mapping archives the travelers of the people whom it leaves out, and this person is one of them. */
function isArchivedByScope(person: Person, { record }: ObservedState): boolean {
  return scopeOf(record.rules.mapping)?.outOfScope === 'archive' && scopeOfPerson(person, record) === 'out';
}

function endedViolations(state: ObservedState): string[] {
  const linked = archivedViolations(
    state,
    (person) => person.current?.wanted.active === false || isArchivedByScope(person, state),
  );
  const { keptActive } = state.decided;
  const kept = ({ index }: Person) => keptActive.has(state.links.get(index) ?? '');
  const isKept = (line: string) => state.people.some((one) => line.startsWith(`p${one.index}:`) && kept(one));
  return [
    ...linked.filter((line) => !isKept(line)),
    ...travelersOfNobody(state)
      .filter((traveler) => !traveler.archived && !mayBeActive(traveler, state))
      .map((traveler) => `${describe(traveler)} is active`),
  ];
}

/** A traveler of nobody may be active if the bridge has not made it, or if an admin has activated it or kept it active. */
function mayBeActive({ id }: TravelUser, { record, decided }: ObservedState): boolean {
  const memory = record.memory.get(id);
  const { owner, isActiveByHand } = memory ?? {};
  if (!owner && (record.strangers.has(id) || (record.isRestored && !memory))) return true;
  // The create of a user whose address has changed since is in doubt.
  if (!memory && !record.isTimeNamed) return true;
  return decided.keptActive.has(id) || isActiveByHand === true || isEdited(id, 'archived', record);
}

function wantedViolations(state: ObservedState): string[] {
  return archivedViolations(
    state,
    (person) => person.current?.wanted.active === true && !isArchivedByScope(person, state),
  );
}

/**
 * Without a discarded scope, a person who has been out of scope since the last check, and had no traveler, has none, unless an admin has given
 * the person that of a leaver. One who comes back gets the own link back, and the traveler stays archived.
 */
function scopeViolations({ people, links, travelers, record }: ObservedState): string[] {
  if (isScopeDiscarded(record)) return [];
  return people.flatMap((person) => {
    const id = links.get(person.index);
    const isOut = scopesSince(person, record).every((scope) => scope !== 'in');
    if (id === undefined || !isOut || record.linkedBefore.has(person.index) || record.given.has(id))
      return [];
    const owner = record.memory.get(id)?.owner?.person ?? record.strangers.get(id);
    if (owner === person.index && travelers.find((traveler) => traveler.id === id)?.archived) return [];
    return [`p${person.index}: has the traveler ${id}, and is not in scope`];
  });
}

function archivedViolations(state: ObservedState, isChecked: (person: Person) => boolean): string[] {
  const people = state.people.filter(isChecked);
  return fieldViolations({ ...state, people }, (field) => field === 'archived');
}

function duplicateViolations(state: ObservedState): string[] {
  const { people, links, travelers, record, decided } = state;
  const linked = people.flatMap((person) => {
    const { index, current } = person;
    const id = links.get(index);
    if (id === undefined || !current) return [];
    // A 404 without a code may be that of a gateway: who needs no traveler stays linked (docs/operations/a-gateway-answers.md).
    const isNeeded = current.wanted.active !== false && !scopesSince(person, record).includes('out');
    const other = people.find((one) => one.index < index && links.get(one.index) === id);
    return [
      ...(travelers.some((one) => one.id === id) || !isNeeded || decided.withoutRules.has(index)
        ? []
        : [`p${index}: is linked to ${id}, which is not there`]),
      ...(other ? [`p${index}: shares the traveler ${id} with p${other.index}`] : []),
    ];
  });
  const others = travelersOfNobody(state).filter(
    (traveler) => traveler.archived && !isExplained(traveler, state) && !record.strangers.has(traveler.id),
  );
  return [...linked, ...others.map((traveler) => `${describe(traveler)} was made, though nobody left`)];
}

/** True if a traveler of nobody was there before, or if its person has left or lost it since the last check. */
function isExplained({ id, lastName }: TravelUser, { people, record, links }: ObservedState): boolean {
  if (record.memory.has(id) || record.isRestored) return true;
  const owner = people.find(({ lastWanted: last }) => last.familyName === lastName)?.index;
  // An admin has given the person the traveler of a leaver in place of the own one.
  if (owner !== undefined && record.given.has(links.get(owner) ?? '')) return true;
  return record.events.some(
    (event) =>
      (event.kind === 'vanish' && event.person === owner) ||
      (event.kind === 'write' && event.person === owner && isDeparture(event)),
  );
}

/** True for a DELETE, and for a write that makes the user another person. */
function isDeparture({ wanted, before }: Extract<HistoryEvent, { kind: 'write' }>): boolean {
  return !wanted || (before !== undefined && before.externalId !== wanted.externalId);
}

function foreignViolations(state: ObservedState): string[] {
  return [
    ...fieldViolations(state, isForeignField),
    ...state.travelers.flatMap((traveler) => guardViolations(traveler, state)),
    ...travelersOfNobody(state).flatMap((traveler) => strangerViolations(traveler, state)),
  ];
}

/**
 * Email and roles of an admin must not change, and it must not be archived. A return may un-archive it.
 */
function guardViolations(traveler: TravelUser, { record, decided }: ObservedState): string[] {
  const { id } = traveler;
  const memory = record.memory.get(id);
  if (!memory?.isAdmin || !isAdmin(traveler) || decided.aboutGuarded.has(id)) return [];
  const faults = (['archived', 'roles.organizer', 'roles.premium', 'roles.guest'] as const).flatMap(
    (field) => {
      const value = fieldValue(traveler, field, record.catalog);
      const isDecided = field === 'archived' && value === 'false';
      if (value === memory.fields[field] || isDecided || isEdited(id, field, record)) return [];
      return [`${field} is ${value ?? 'nothing'}`];
    },
  );
  if (traveler.email !== memory.email && !isEdited(id, 'email', record))
    faults.push(`email is ${traveler.email}`);
  return faults.map((fault) => `the guarded traveler ${id} was changed: ${fault}`);
}

/**
 * A traveler that nobody was ever linked to keeps all values. If it is archived and a person needs its address, it gives that up; and an IdP
 * may delete it, which an admin approves. After a restore, the traveler of a leaver counts as one of them, and an admin may keep it active.
 */
function strangerViolations(traveler: TravelUser, state: ObservedState): string[] {
  const { record, decided } = state;
  const { id, archived, email } = traveler;
  const memory = record.memory.get(id);
  const isNeeded = record.events.some(
    (event) =>
      event.kind === 'write' && [event.wanted?.email, event.wanted?.userName].includes(memory?.email),
  );
  // After a restore, it may be that of a leaver who returns by other evidence than the address.
  const isRegained =
    memory?.isRestored === true &&
    record.events.some(
      (event) => event.kind === 'write' && event.wanted && event.person === record.strangers.get(id),
    );
  // A person may have been linked to it, and have left again.
  if (!memory || memory.owner || !record.strangers.has(id) || isNeeded || isRegained) return [];
  const faults = fields
    // A leaver who is known since before a restore is kept active, and remembered as one who is to be archived.
    .filter((field) => !(field === 'archived' && (record.purged.has(id) || decided.keptActive.has(id))))
    .filter((field) => fieldValue(traveler, field, record.catalog) !== memory.fields[field])
    .filter((field) => !(field === 'costCenterId' && hasSameCostCenter(traveler, state)))
    .filter((field) => !isEdited(id, field, record));
  const isMoved = email !== memory.email && !archived && !isEdited(id, 'email', record);
  return [...faults, ...(isMoved ? ['email'] : [])].map(
    (field) => `${describe(traveler)} was made by hand, and ${field} was changed`,
  );
}

function inheritanceViolations({ people, links, record, decided }: ObservedState): string[] {
  return people.flatMap(({ index, current }) => {
    const id = links.get(index) ?? '';
    const { owner, isUncertain } = record.memory.get(id) ?? {};
    const isOther =
      current &&
      owner &&
      !isUncertain &&
      !record.given.has(id) &&
      // An admin has approved that the person gets the traveler of an admin of the travel service.
      !decided.aboutGuarded.has(id) &&
      owner.person === index &&
      owner.connection === current.connection &&
      owner.externalId !== current.wanted.externalId;
    return isOther ? [`p${index}: has the traveler ${id} of ${owner.externalId}, who was somebody else`] : [];
  });
}

/** The travelers without a person. Those of admins of the travel service are left out. */
function travelersOfNobody({ travelers, people, links, record }: ObservedState): TravelUser[] {
  return travelers.filter(
    (traveler) =>
      !isAdmin(traveler) &&
      !record.guarded.has(traveler.id) &&
      !people.some(({ index }) => links.get(index) === traveler.id),
  );
}

function describe({ id, email, lastName }: TravelUser): string {
  return `traveler ${id} (${email}, ${lastName}) of nobody`;
}

function isEdited(id: string, field: Field | 'email', { events }: ObservedState['record']): boolean {
  return events.some((event) => event.kind === 'edit' && event.traveler === id && event.field === field);
}

function travelerOf({ index }: Person, { links, travelers }: ObservedState): TravelUser | undefined {
  return travelers.find(({ id }) => id === links.get(index));
}

import type { Identity } from '../../src/model/identity.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { StatedGroup } from './groups.ts';
import {
  expectedOf,
  hasNews,
  humanIn,
  isForeignValue,
  isRuled,
  isStated,
  type Knowledge,
  ownersOf,
  scopeOfUser,
} from './knowledge.ts';
import { type Expected, open } from './mappings.ts';
import { type ConnectionName, humanOf, type Person } from './people.ts';
import {
  asSet,
  type Field,
  fields,
  fieldValue,
  findingField,
  isForeignField,
  type Value,
} from './travelers.ts';

/** The six sentences by which the simulator judges. What they leave open is undefined (test/README.md). */
export const sentences = {
  1: 'nothing acknowledged is lost',
  2: 'never two active travelers for one SCIM user, nor two live people in one',
  3: 'who left ends, or a hold says why not',
  4: 'at rest every traveler is as the rules say, or a finding says why not',
  5: "nothing foreign is changed, except an archived traveler's address and edits within lateMs of a call without an answer",
  6: 'attempts end',
} as const;

/** What is seen once no work is left. */
export interface Rest {
  knowledge: Knowledge;
  travelers: readonly TravelUser[];
  /** All users of IdPs as the bridge keeps them, deleted ones included. */
  identities: readonly Identity[];
  /** What lists of SCIM show: the ids of the users of a connection, and its groups. */
  listed: Record<ConnectionName, { users: string[]; groups: StatedGroup[] }>;
}

/** Describes what is otherwise than the sentences about a time of rest say. The others are checked while something happens. */
export function brokenAtRest(rest: Rest): string[] {
  const about = (sentence: keyof typeof sentences, lines: string[]) =>
    lines.map((line) => `${line} [${sentence}. ${sentences[sentence]}]`);
  return [
    ...about(1, acknowledgedLost(rest)),
    ...about(2, travelersOfOne(rest)),
    ...about(3, leaversLeft(rest)),
    ...about(4, travelersNotAsRuled(rest)),
  ];
}

/** 1. Users and groups are listed as they were acknowledged. (Each user is also read back, see `readBack`.) */
function acknowledgedLost({ knowledge: { people, groups }, listed }: Rest): string[] {
  const users = people.flatMap(({ slot, current }) => {
    const times = current ? listed[current.connection].users.filter((id) => id === current.id).length : 1;
    return times === 1 ? [] : [`p${slot} is listed ${times} times`];
  });
  const live = new Set(people.map(({ current }) => current?.id));
  // A user who was deleted is no member any more.
  const lineOf = (one: StatedGroup | undefined) =>
    one &&
    `${one.displayName}: ${one.members
      .filter((id) => live.has(id))
      .toSorted()
      .join()}`;
  const shown = Object.values(listed).flatMap((connection) => connection.groups);
  const all = new Set([...shown, ...groups].map(({ id }) => id));
  const wrong = [...all].flatMap((id) => {
    const [is, must] = [shown, groups].map((some) => lineOf(some.find((one) => one.id === id)));
    return is === must ? [] : [`the group ${id} is ${is}, not ${must}`];
  });
  return [...users, ...wrong];
}

/** 2. A traveler has one live user, and a user one active traveler. (`judgeWrite` sees whose a traveler becomes.) */
function travelersOfOne(rest: Rest): string[] {
  const { knowledge, travelers, identities } = rest;
  const live = identities.filter(
    ({ deletedAt, travelId }) => deletedAt === undefined && travelId !== undefined,
  );
  const shared = travelers.flatMap(({ id }) => {
    const users = live.filter(({ travelId }) => travelId === id);
    return users.length > 1 ? [`${id} is the traveler of ${users.map((one) => one.id).join(' and ')}`] : [];
  });
  const doubled = knowledge.people.filter(isLive(knowledge)).flatMap((person) => {
    const own = ownersOf(knowledge, travelers, humanIn(person) ?? '');
    const active = own.filter(
      (one) => !one.archived && (isLinked(rest, person, one.id) || !mayStay(rest, one)),
    );
    return active.length > 1
      ? [`p${person.slot} has the active travelers ${active.map(({ id }) => id).join()}`]
      : [];
  });
  return [...shared, ...doubled];
}

/** 3. The travelers of those who have left, or whom a scope archives, are archived or deleted. */
function leaversLeft(rest: Rest): string[] {
  const { knowledge, travelers } = rest;
  const staying = new Set(
    knowledge.people
      .filter(({ current }) => current?.wanted.active && !isArchivedByScope(knowledge, current))
      .map(humanIn),
  );
  return travelers
    .filter(
      ({ id, archived }) => !archived && !staying.has(knowledge.owners.get(id)) && knowledge.owners.has(id),
    )
    .filter((traveler) => !mayStay(rest, traveler))
    .map(({ id, email }) => `${id} (${email}) of ${knowledge.owners.get(id)}, who has left, is active`);
}

/** 4. Each live person has a traveler, and each of its fields has the value that the rules make of what was stated. */
function travelersNotAsRuled(rest: Rest): string[] {
  const { knowledge, travelers } = rest;
  return knowledge.people.filter(isLive(knowledge)).flatMap((person) => {
    const { slot, current } = person;
    const identity = identityOf(rest, person);
    if (!current || !identity) return [];
    const { verdict } = scopeOfUser(knowledge, current);
    if (current.wanted.active && verdict !== 'in') return [];
    if (['held', 'refused'].includes(identity.state)) return [];
    const traveler = travelers.find(({ id }) => id === identity.travelId);
    if (!traveler) {
      const isNamed = hasFinding(identity, 'email') && isTaken(rest, current.wanted.email);
      const isRestored = identity.findings.some(({ code }) => code === 'restored');
      const isMissing = current.wanted.active && identity.state !== 'pending' && !isNamed && !isRestored;
      return isMissing ? [`p${slot} has no traveler, and no finding says why`] : [];
    }
    return unexplained(rest, { person, identity, traveler }).map(
      (line) => `p${slot} (${traveler.id}): ${line}`,
    );
  });
}

interface Linked {
  person: Person;
  identity: Identity;
  traveler: TravelUser;
}

/** The fields that differ from what the rules say, without a finding that names them and is true. */
function unexplained(rest: Rest, linked: Linked): string[] {
  const { knowledge } = rest;
  const { identity, traveler } = linked;
  return expectedEverywhere(rest, linked).flatMap(([field, expected]) => {
    const value = fieldValue(traveler, field, knowledge.catalog);
    if (expected === open || value === expected) return [];
    // A value that goes may be one that the bridge has never given, or that was there before.
    const wasThere = knowledge.everForeign.get(traveler.id)?.get(field);
    if (expected === undefined && wasThere?.has(asSet(value))) return [];
    const codes = findingsAbout(identity, findingField(field, knowledge.catalog));
    const isTrue = codes.some((code) => isTrueFinding(rest, linked, { field, value, expected, code }));
    return isTrue ? [] : [`${field} is ${value}, not ${expected} (${codes.join() || 'no finding'})`];
  });
}

function expectedEverywhere(rest: Rest, { person: { current }, traveler }: Linked): [Field, Expected][] {
  if (!current) return [];
  const { costCenters } = rest.knowledge.catalog;
  const ruled = [...expectedOf(rest.knowledge, current)].map(([field, value]): [Field, Expected] => {
    const isUnknown = field === 'costCenterId' && typeof value === 'string' && !costCenters.has(value);
    return [
      field,
      isUnknown ? open : field === 'email' && typeof value === 'string' ? value.toLowerCase() : value,
    ];
  });
  // The address of an archived traveler is what others leave to it. One who has left stays parked, also if the traveler is un-archived by hand.
  const isParked = !current.wanted.active && traveler.email.endsWith('@jetbridge.invalid');
  const others = traveler.archived || isParked ? ruled.filter(([field]) => field !== 'email') : ruled;
  return [
    ...others,
    ['archived', current.wanted.active ? 'false' : open],
    ['managerId', current.wanted.active ? expectedManager(rest, current) : open],
  ];
}

/** The traveler of the manager. A manager who is not active is left out; of one who is not there nothing is said. */
function expectedManager(
  { knowledge, identities }: Rest,
  { connection, wanted }: NonNullable<Person['current']>,
): Expected {
  if (wanted.manager === undefined) return undefined;
  // A userName may be that of another human by now.
  const isMeant = ({ current, humans }: Person) =>
    current?.id === wanted.manager || (current?.wanted.userName === wanted.manager && humans === 1);
  const manager = knowledge.people.find(isMeant)?.current;
  if (!manager || manager.connection !== connection || !manager.wanted.active) return open;
  if (scopeOfUser(knowledge, manager).verdict !== 'in') return open;
  return identities.find(({ id }) => id === manager.id)?.travelId ?? open;
}

/** A finding of drift is true only where somebody else has set the value, one of an address only if a traveler has it. */
function isTrueFinding(
  rest: Rest,
  { traveler, person }: Linked,
  { field, value, expected, code }: { field: Field; value: Value; expected: Expected; code: string },
): boolean {
  const { knowledge } = rest;
  const isForeign = isForeignValue(knowledge, traveler.id, field, value);
  if (code === 'drift' || code === 'restored') return isForeign;
  if (field !== 'email' || typeof expected !== 'string') return true;
  const isGuarded = traveler.roles?.includes('admin') === true;
  return isForeign || isGuarded || isTaken(rest, expected, traveler.id) || person.current === undefined;
}

/**
 * 5. Judges one write of the bridge to a traveler: before and after it, undefined before a create and after a deletion. Also sees the second half
 * of sentence 2: a traveler stays that of the human for whom the bridge has used it first.
 */
export function judgeWrite(
  knowledge: Knowledge,
  before: TravelUser | undefined,
  after: TravelUser | undefined,
): string[] {
  const about = (sentence: 2 | 5, text: string) => [`${text} [${sentence}. ${sentences[sentence]}]`];
  const id = (before ?? after)?.id ?? '';
  const owner = knowledge.owners.get(id);
  if (!after) {
    // A traveler that existed may be linked by its address without being changed.
    const isLinked = knowledge.people.some(({ emails }) => emails.has(before?.email.toLowerCase() ?? ''));
    const isOwn =
      knowledge.policies.deprovision === 'delete'
        ? (owner ?? isLinked)
        : owner && isFurther(knowledge, id, owner);
    return isOwn || knowledge.decided.has(id) ? [] : about(5, `${id} was deleted`);
  }
  const named = humanOf(after.lastName);
  const isNamedNow = before?.lastName !== after.lastName;
  if (isNamedNow && named && owner && named !== owner)
    return about(2, `${id} of ${owner} is given to ${named}`);
  const humans = owner === undefined ? mayBeOf(knowledge, before, named) : [owner];
  return fields.flatMap((field) => {
    const [from, to] = [before, after].map((one) => one && fieldValue(one, field, knowledge.catalog));
    const isChanged = from !== to && (before !== undefined || to !== undefined);
    const isAllowed =
      !isChanged || humans.some((human) => mayWrite(knowledge, { id, human, before, field, from, to }));
    return isAllowed
      ? []
      : about(5, `${field} of ${id} (${humans.join() || 'nobody'}) was ${from}, and became ${to}`);
  });
}

/** The humans whose traveler this may be: one that existed is linked by its address, and may keep the name that it has. */
function mayBeOf(
  { people }: Knowledge,
  before: TravelUser | undefined,
  named: string | undefined,
): (string | undefined)[] {
  // The write that is not answered yet may be the first one.
  const stated = people.flatMap(({ current, unanswered }) => [current?.wanted, unanswered?.wanted]);
  const addressed = stated.filter((user) =>
    [user?.email, user?.userName].some((one) => one?.toLowerCase() === before?.email.toLowerCase()),
  );
  return [named, ...addressed.map((user) => humanOf(user?.familyName))];
}

interface FieldWrite {
  id: string;
  human: string | undefined;
  before: TravelUser | undefined;
  field: Field;
  from: Value;
  to: Value;
}

function mayWrite(knowledge: Knowledge, { id, human, before, field, from, to }: FieldWrite): boolean {
  const isParked = field === 'email' && to?.endsWith('@jetbridge.invalid') === true;
  if (field === 'email' && before?.archived && (isParked || human !== undefined)) return true;
  const isEnded = field === 'archived' && to === 'true';
  // A user who left in shadow mode ends it, also if another one of the same human is out of scope meanwhile.
  const isOutside = knowledge.outside.has(human ?? '') && !(isEnded && knowledge.decided.has(id));
  if (isForeignField(field) || isOutside) return false;
  if (before?.roles?.includes('admin') && (isEnded || /^(email|roles)/.test(field)))
    return knowledge.decided.has(id);
  if (!human) return field === 'archived' && knowledge.decided.has(id);
  const isKnownValue =
    to === undefined ||
    isParked ||
    !isRuled(field) ||
    isStated(knowledge, human, field, asSet(to)) ||
    wasBefore(knowledge, id, field, to);
  return isKnownValue && (before === undefined || mayReplace(knowledge, { id, human, field, from }));
}

/** A value that was set by hand is replaced where drift is corrected, or where something new is stated. */
function mayReplace(
  knowledge: Knowledge,
  { id, human, field, from }: Pick<FieldWrite, 'id' | 'field' | 'from'> & { human: string },
): boolean {
  // The manager follows what is stated of others.
  if (field === 'managerId' || !isForeignValue(knowledge, id, field, from)) return true;
  const isLinkedNow = knowledge.owners.get(id) === undefined;
  const isNew = hasNews(knowledge, human, field) || knowledge.doubtful.has(id) || knowledge.decided.has(id);
  return knowledge.policies.drift === 'correct' || isLinkedNow || isNew;
}

function wasBefore({ everForeign }: Knowledge, id: string, field: Field, value: Value): boolean {
  return everForeign.get(id)?.get(field)?.has(asSet(value)) === true;
}

/** True if a human has another traveler. */
function isFurther({ owners }: Knowledge, id: string, human: string): boolean {
  return [...owners].some(([other, owner]) => other !== id && owner === human);
}

function isLive({ shadow }: Knowledge) {
  return ({ current }: Person): boolean => current !== undefined && !shadow.has(current.connection);
}

function isArchivedByScope(knowledge: Knowledge, current: NonNullable<Person['current']>): boolean {
  const { verdict, outOfScope } = scopeOfUser(knowledge, current);
  return verdict === 'out' && outOfScope === 'archive';
}

/** True if a hold, a finding or an edit by hand says why the traveler of somebody who has left is active. */
function mayStay({ knowledge, identities }: Rest, { id, email }: TravelUser): boolean {
  const { discarded } = knowledge;
  // A traveler whose create got no answer belongs to the user, and is not linked yet.
  const isCreated = ({ travelId, creating }: Identity) =>
    travelId === undefined && creating?.email.toLowerCase() === email.toLowerCase();
  if (isForeignValue(knowledge, id, 'archived', 'false')) return true;
  const hasUser = identities.some(({ travelId }) => travelId === id);
  // A create that got no answer is looked up by its address only.
  if (!hasUser && isForeignValue(knowledge, id, 'email', email.toLowerCase())) return true;
  return identities.some(
    (one) =>
      (one.travelId === id || isCreated(one)) &&
      (one.hold !== undefined ||
        findingsAbout(one, 'archived').some((code) => code !== 'drift') ||
        (discarded.has(id) && one.findings.some(({ code }) => code === 'outOfScope')) ||
        knowledge.shadow.has(one.connection as ConnectionName)), // A connection of the simulator.
  );
}

function identityOf({ identities }: Rest, { current }: Person): Identity | undefined {
  return identities.find(({ id }) => id === current?.id);
}

function isLinked(rest: Rest, person: Person, travelId: string): boolean {
  return identityOf(rest, person)?.travelId === travelId;
}

function isTaken({ travelers }: Rest, email: string, except?: string): boolean {
  return travelers.some((one) => one.id !== except && one.email.toLowerCase() === email.toLowerCase());
}

function hasFinding(identity: Identity, field: string): boolean {
  return findingsAbout(identity, field).length > 0;
}

/** The codes of the findings that name a field. That of a guarded traveler is about its address and its roles. */
export function findingsAbout({ findings }: Identity, field: string): string[] {
  const [head = ''] = field.split('.');
  const isAbout = (one: Identity['findings'][number]) =>
    one.field === field ||
    (one.field === head && head !== 'customFields') ||
    (one.code === 'guarded' && field === 'email');
  return findings.filter(isAbout).map(({ code }) => code);
}

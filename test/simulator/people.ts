import { isSameUser, toPatch, toResource, toUserLine, toWantedUser, type WantedUser } from './wanted-user.ts';

/** A connection of the bridge, by its name in the settings. */
export type ConnectionName = 'default' | 'second';
export const connections = ['default', 'second'] as const satisfies readonly ConnectionName[];

/** A SCIM user that exists, as it was acknowledged. */
export interface CurrentUser {
  connection: ConnectionName;
  id: string;
  wanted: WantedUser;
}

/** A write of the IdP: the wanted user; undefined for a DELETE. */
export interface UserWrite {
  verb: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  connection: ConnectionName;
  wanted: WantedUser | undefined;
}

/**
 * A place for one person at a time, with the user that the IdP has for that person. Each human who has the place has a family name of its own,
 * by which the checks know whose a traveler is.
 */
export interface Person {
  slot: number;
  current: CurrentUser | undefined;
  /** The last write, while its outcome is unknown. */
  unanswered: UserWrite | undefined;
  /** The last wanted user, which a return repeats. */
  lastWanted: WantedUser;
  lastConnection: ConnectionName;
  /** The number of humans who have had the place. */
  humans: number;
  /** Every address that a user in the place has had. */
  emails: Set<string>;
}

const HUMAN = /^P\d+x\d+$/;

/** Returns the human whose family name a traveler has; undefined for a traveler that was made by hand. */
export function humanOf(lastName: string | undefined): string | undefined {
  return lastName !== undefined && HUMAN.test(lastName) ? lastName : undefined;
}

/** The email address with a number. Each person starts with the address of the own slot. */
export function addressOf(number: number): string {
  return `a${number}@corp.example`;
}

/** A place without a user. The userName is, in turn, no address, an address of its own, or the first email. */
export function newPerson(slot: number): Person {
  const userName = [`p${slot}`, `p${slot}@login.example`, addressOf(slot)][slot % 3] ?? '';
  const wanted = { userName, externalId: `E${slot}-1`, givenName: 'Ada', familyName: `P${slot}x1` };
  return {
    ...{ slot, current: undefined, unanswered: undefined, lastConnection: 'default', humans: 1 },
    lastWanted: { ...wanted, email: addressOf(slot), roles: [], active: true },
    emails: new Set([addressOf(slot), userName]),
  };
}

/** Returns the values of another human in the place of a person. */
export function asAnotherHuman(person: Person, wanted: WantedUser): WantedUser {
  person.humans += 1;
  const { slot, humans } = person;
  const name = { givenName: `Ada${humans}`, familyName: `P${slot}x${humans}` };
  return { ...wanted, ...name, externalId: `E${slot}-${humans}`, manager: undefined };
}

/** Sends a SCIM request, and returns status and body; undefined if no answer comes. */
export type Call = (
  connection: ConnectionName,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: a SCIM answer
) => Promise<{ status: number; body: any } | undefined>;

/** The bridge does not answer. */
export class NoAnswer extends Error {}

export interface IdentityProviderDeps {
  call: Call;
  people: readonly Person[];
  /** Called before a write is sent: from then on, its values may be carried out. */
  onSent(person: Person, write: UserWrite): void;
  /** Called for each acknowledged write. */
  onAcknowledged(person: Person, before: CurrentUser | undefined, verb: UserWrite['verb']): void;
  /** True if a traveler of the person is or was an admin of the travel service, so that the person is not deactivated. */
  isGuarded(person: Person): boolean;
}

export type IdentityProviders = ReturnType<typeof identityProviders>;

const successes = { POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };

/** Creates the IdPs of both connections, which send SCIM requests to the bridge. Each person has one write at a time. */
export function identityProviders(deps: IdentityProviderDeps) {
  const { call, isGuarded } = deps;
  return {
    /** Sends a write. Returns false if there was no answer; throws if the answer is not a success. */
    send: async (person: Person, write: UserWrite): Promise<boolean> => {
      const { current } = person;
      const { verb, connection, wanted } = write;
      person.unanswered = write;
      if (wanted) for (const address of [wanted.email, wanted.userName]) person.emails.add(address);
      deps.onSent(person, write);
      const answer = await call(connection, verb, pathOf(write, current), bodyOf(write, current));
      if (!answer) return false;
      if (verb === 'POST' && answer.status === 409 && mayClash(deps.people, person, write)) {
        person.unanswered = undefined;
        return true;
      }
      if (answer.status === 403 && current && !wanted?.active && isGuarded(person)) {
        // The refused deactivation stays desired; a refused DELETE becomes a deactivation.
        acknowledge(
          deps,
          person,
          { ...current, wanted: { ...(wanted ?? current.wanted), active: false } },
          'PATCH',
        );
        return true;
      }
      const text = `${verb} of p${person.slot} ${toUserLine(wanted)}`;
      if (answer.status !== successes[verb])
        throw new Error(`${text}: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (wanted && !isSameUser(toWantedUser(answer.body), wanted))
        throw new Error(`${text}: answered ${toUserLine(toWantedUser(answer.body))}`);
      acknowledge(deps, person, wanted && { connection, id: answer.body.id, wanted }, verb);
      return true;
    },
    /** Reads a user back, and throws unless it is as acknowledged or as in the write that was not answered. */
    readBack: (person: Person) => readBack(deps, person),
    /** Reads a user again, whatever was acknowledged, as after a restore of the bridge's database. */
    readAgain: async (person: Person): Promise<void> => {
      const [current] = await findUsers(call, person);
      Object.assign(person, { current, unanswered: undefined });
      if (current) Object.assign(person, { lastWanted: current.wanted, lastConnection: current.connection });
    },
  };
}

/** True if a user of the other connection has or had an address of the new one, so that the POST may answer 409. */
function mayClash(people: readonly Person[], { slot }: Person, { connection, wanted }: UserWrite): boolean {
  const isElsewhere = ({ current, unanswered }: Person) =>
    [current, unanswered].some((one) => one !== undefined && one.connection !== connection);
  return people.some(
    (one) =>
      one.slot !== slot &&
      isElsewhere(one) &&
      [wanted?.email, wanted?.userName].some((address) => one.emails.has(address ?? '')),
  );
}

function pathOf({ verb }: UserWrite, current: CurrentUser | undefined): string {
  return verb === 'POST' ? '/Users' : `/Users/${current?.id}`;
}

function bodyOf({ verb, wanted }: UserWrite, current: CurrentUser | undefined): object | undefined {
  if (!wanted) return undefined;
  return verb === 'PATCH' && current ? toPatch(current.wanted, wanted) : toResource(wanted);
}

function acknowledge(
  { onAcknowledged }: IdentityProviderDeps,
  person: Person,
  now: CurrentUser | undefined,
  verb: UserWrite['verb'],
): void {
  const before = person.current;
  Object.assign(person, { current: now, unanswered: undefined });
  if (now) Object.assign(person, { lastWanted: now.wanted, lastConnection: now.connection });
  onAcknowledged(person, before, verb);
}

/** Finds the users of a person in all connections. */
async function findUsers(call: Call, { slot, lastWanted: last }: Person): Promise<CurrentUser[]> {
  const found: CurrentUser[] = [];
  for (const connection of connections) {
    const filter = encodeURIComponent(`userName eq "${last.userName}"`);
    const answer = await call(connection, 'GET', `/Users?filter=${filter}`);
    if (!answer) throw new NoAnswer();
    if (answer.status !== 200) throw new Error(`p${slot} cannot be read: ${JSON.stringify(answer)}`);
    // An imported traveler that no IdP has written has no externalId.
    for (const resource of answer.body.Resources ?? [])
      if (resource.externalId !== undefined)
        found.push({ connection, id: resource.id, wanted: toWantedUser(resource) });
  }
  return found;
}

async function readBack(deps: IdentityProviderDeps, person: Person): Promise<void> {
  const { unanswered, current, slot } = person;
  const found = await findUsers(deps.call, person);
  const [is, ...others] = found;
  const isAsked = unanswered !== undefined && isSameUser(is?.wanted, unanswered.wanted);
  const isSure = isSameUser(is?.wanted, current?.wanted) && (unanswered?.verb !== 'POST' || !is);
  // The DELETE of an admin of the travel service is refused, which makes it a deactivation.
  const isRefused =
    unanswered?.verb === 'DELETE' &&
    current !== undefined &&
    isSameUser(is?.wanted, { ...current.wanted, active: false }) &&
    deps.isGuarded(person);
  if (others.length > 0 || !(isAsked || isSure || isRefused))
    throw new Error(
      `p${slot} reads as ${found.map(({ wanted }) => toUserLine(wanted)).join(' and ') || 'gone'}, and was acknowledged as ${toUserLine(current?.wanted)}${unanswered ? `; unanswered: ${toUserLine(unanswered.wanted)}` : ''}`,
    );
  if (unanswered && isAsked) acknowledge(deps, person, is, unanswered.verb);
  else if (isRefused) acknowledge(deps, person, is, 'PATCH');
  person.unanswered = undefined;
  if (!current || person.current?.id === current.id) return;
  const old = await deps.call(current.connection, 'GET', `/Users/${current.id}`);
  if (!old) throw new NoAnswer();
  if (old.status !== 404) throw new Error(`p${slot} was deleted, and is read as ${old.status}`);
}

import {
  isSameUser,
  toPatch,
  toResource,
  toUserLine,
  toWantedUser,
  travelIdOf,
  type WantedUser,
} from './wanted-user.ts';

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

/** A person as the IdPs know them: the acknowledged user, and the write that was not answered. */
export interface Person {
  index: number;
  current: CurrentUser | undefined;
  /** The last write, while its outcome is unknown. */
  unanswered: UserWrite | undefined;
  /** The last wanted user, which a return repeats. */
  lastWanted: WantedUser;
  /** The connection of the last wanted user. */
  lastConnection: ConnectionName;
  /** True once the traveler was made an admin of the travel service: a deactivation may then answer 403. */
  isGuarded: boolean;
  /** The number of externalIds that the person has had. */
  externalIds: number;
}

/** Called for each acknowledged write, in the order of the acknowledgements. */
export type OnAcknowledged = (
  person: Person,
  before: CurrentUser | undefined,
  verb: UserWrite['verb'],
) => void;

/** The email address with a number. Each person starts with the address of the own number. */
export function addressOf(number: number): string {
  return `a${number}@corp.example`;
}

/** A person without a user. The userName is, in turn, no address, an address of its own, or the first email. */
export function newPerson(index: number, connection: ConnectionName): Person {
  const userName = [`p${index}`, `p${index}@login.example`, addressOf(index)][index % 3] ?? '';
  const wanted = { userName, externalId: `E${index}-1`, givenName: 'Ada', familyName: `P${index}` };
  const last = { ...wanted, email: addressOf(index), roles: [], active: true };
  return {
    ...{ index, current: undefined, unanswered: undefined },
    ...{ lastWanted: last, lastConnection: connection, isGuarded: false, externalIds: 1 },
  };
}

/** The IdPs of both connections. Each person has one write at a time. */
export interface IdentityProviders {
  /** Sends a write. Returns false if there was no answer; throws if the answer is not a success. */
  send(person: Person, write: UserWrite): Promise<boolean>;
  /** Reads a user back, and throws unless it is as acknowledged or as in the write that was not answered. */
  readBack(person: Person): Promise<void>;
  /** Reads a user again, whatever was acknowledged, as after a restore of the bridge's database. */
  readAgain(person: Person): Promise<void>;
  /** The id of the linked travel user; undefined if there is none, or no answer. */
  travelId(person: Person): Promise<string | undefined>;
}

const successes = { POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };

/** The bridge does not answer. */
export class NoAnswer extends Error {}

/** Dependencies of the IdPs. */
export interface IdentityProviderDeps {
  call: Call;
  onAcknowledged: OnAcknowledged;
  /** True if a user of the other connection may have the address, so that a POST may answer 409. */
  mayConflict(person: Person, write: UserWrite): boolean;
  /** True for a traveler that is or was an admin of the travel service, so that its person is not deactivated. */
  isGuarded(travelId: string | undefined): boolean;
}

/** Creates the IdPs, which send SCIM requests to the bridge. */
export function identityProviders({
  call,
  onAcknowledged: onWish,
  mayConflict: mayClash,
  isGuarded,
}: IdentityProviderDeps): IdentityProviders {
  const findTravelId = async ({ current }: Person) => {
    if (!current) return undefined;
    const answer = await call(current.connection, 'GET', `/Users/${current.id}`);
    return answer?.status === 200 ? travelIdOf(answer.body) : undefined;
  };
  return {
    send: async (person, write) => {
      const { current } = person;
      const { verb, connection, wanted } = write;
      person.unanswered = write;
      // Checked before and after the call, as the user with the address may leave meanwhile.
      const mightClash = mayClash(person, write);
      const answer = await call(connection, verb, pathOf(write, current), bodyOf(write, current));
      if (!answer) return false;
      if (verb === 'POST' && answer.status === 409 && (mightClash || mayClash(person, write))) {
        person.unanswered = undefined;
        return true;
      }
      // The person may have taken over the traveler of an admin.
      if (answer.status === 403) person.isGuarded ||= isGuarded(await findTravelId(person));
      if (answer.status === 403 && person.isGuarded && current && !wanted?.active) {
        // The refused deactivation stays desired; a refused DELETE becomes a deactivation.
        const inactive = { ...(wanted ?? current.wanted), active: false };
        acknowledge(person, { ...current, wanted: inactive }, 'PATCH', onWish);
        return true;
      }
      if (answer.status !== successes[verb])
        throw new Error(
          `${verb} of p${person.index} ${toUserLine(wanted)}: ${answer.status} ${JSON.stringify(answer.body)}`,
        );
      if (wanted && !isSameUser(toWantedUser(answer.body), wanted))
        throw new Error(
          `${verb} of p${person.index} ${toUserLine(wanted)}: answered ${toUserLine(toWantedUser(answer.body))}`,
        );
      acknowledge(person, wanted && { connection, id: answer.body.id, wanted }, verb, onWish);
      return true;
    },
    readBack: (person) => readBack(call, person, onWish),
    readAgain: async (person) => {
      const [current] = await findUsers(call, person);
      Object.assign(person, { current, unanswered: undefined });
      if (current) Object.assign(person, { lastWanted: current.wanted, lastConnection: current.connection });
    },
    travelId: findTravelId,
  };
}

/** Sends a SCIM request, and returns status and body; undefined if no answer comes. */
export type Call = (
  connection: ConnectionName,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: a SCIM answer
) => Promise<{ status: number; body: any } | undefined>;

function pathOf({ verb }: UserWrite, current: CurrentUser | undefined): string {
  return verb === 'POST' ? '/Users' : `/Users/${current?.id}`;
}

function bodyOf({ verb, wanted }: UserWrite, current: CurrentUser | undefined): object | undefined {
  if (!wanted) return undefined;
  return verb === 'PATCH' && current ? toPatch(current.wanted, wanted) : toResource(wanted);
}

function acknowledge(
  person: Person,
  now: CurrentUser | undefined,
  verb: UserWrite['verb'],
  onWish: OnAcknowledged,
): void {
  const before = person.current;
  person.current = now;
  person.unanswered = undefined;
  if (now) {
    person.lastWanted = now.wanted;
    person.lastConnection = now.connection;
  }
  onWish(person, before, verb);
}

/** Finds the users of a person in all connections. */
async function findUsers(call: Call, { index, lastWanted: last }: Person): Promise<CurrentUser[]> {
  const found: CurrentUser[] = [];
  for (const connection of connections) {
    const filter = encodeURIComponent(`userName eq "${last.userName}"`);
    const answer = await call(connection, 'GET', `/Users?filter=${filter}`);
    if (!answer) throw new NoAnswer();
    if (answer.status !== 200) throw new Error(`p${index} cannot be read: ${JSON.stringify(answer)}`);
    // An imported traveler that no IdP has written has no externalId.
    for (const resource of answer.body.Resources ?? [])
      if (resource.externalId !== undefined)
        found.push({ connection, id: resource.id, wanted: toWantedUser(resource) });
  }
  return found;
}

async function readBack(call: Call, person: Person, onWish: OnAcknowledged): Promise<void> {
  const { unanswered, current } = person;
  const found = await findUsers(call, person);
  const [is, ...others] = found;
  const isAsked = unanswered !== undefined && isSameUser(is?.wanted, unanswered.wanted);
  const isSure = isSameUser(is?.wanted, current?.wanted) && (unanswered?.verb !== 'POST' || !is);
  // The DELETE may have been refused, which makes it a deactivation.
  const isRefused =
    unanswered?.verb === 'DELETE' &&
    person.isGuarded &&
    current !== undefined &&
    isSameUser(is?.wanted, { ...current.wanted, active: false });
  if (others.length > 0 || !(isAsked || isSure || isRefused))
    throw new Error(
      `SCIM: p${person.index} is ${found.map(({ wanted }) => toUserLine(wanted)).join(' and ') || 'gone'}; acknowledged: ${toUserLine(current?.wanted)}${unanswered ? `; unanswered: ${toUserLine(unanswered.wanted)}` : ''}`,
    );
  if (unanswered && isAsked) acknowledge(person, is, unanswered.verb, onWish);
  else if (isRefused) acknowledge(person, is, 'PATCH', onWish);
  person.unanswered = undefined;
  if (!current || person.current?.id === current.id) return;
  const old = await call(current.connection, 'GET', `/Users/${current.id}`);
  if (!old) throw new NoAnswer();
  if (old.status !== 404) throw new Error(`SCIM: p${person.index} was deleted, and is read as ${old.status}`);
}

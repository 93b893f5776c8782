import { isSameWish, shown, toPatch, toResource, toWish, travelIdOf, type Wish } from './wish.ts';

/** A connection of the bridge, by its name in the settings. */
export type ConnectionName = 'default' | 'second';
export const connections = ['default', 'second'] as const satisfies readonly ConnectionName[];

/** A SCIM user that is there. */
export interface Present {
  connection: ConnectionName;
  id: string;
  wish: Wish;
}

/** A write of the IdP: the user as it is to be, or its end. */
export interface Write {
  verb: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  connection: ConnectionName;
  wish: Wish | undefined;
}

/** A person, as the IdPs know them: what was acknowledged, and what was asked and never answered. */
export interface Person {
  index: number;
  present: Present | undefined;
  /** Set while the outcome of a write is not known. */
  asked: Write | undefined;
  /** The last wish, which a return repeats. */
  last: Wish;
  /** The connection of the last wish. */
  lastConnection: ConnectionName;
  /** True once an admin of the travel service has made them one, too: then they may be refused to leave. */
  isGuarded: boolean;
  /** How many externalIds there were. */
  externalIds: number;
}

/** What became of a write; told in the order in which it is known. */
export type OnWish = (person: Person, before: Present | undefined, verb: Write['verb']) => void;

/** The address of a number; people begin with the one of their own number. */
export function addressOf(number: number): string {
  return `a${number}@corp.example`;
}

/** A person who was never heard of. A third each has a userName that is no address, another address, or the first email. */
export function newPerson(index: number, connection: ConnectionName): Person {
  const userName = [`p${index}`, `p${index}@login.example`, addressOf(index)][index % 3] ?? '';
  const wish = { userName, externalId: `E${index}-1`, givenName: 'Ada', familyName: `P${index}` };
  const last = { ...wish, email: addressOf(index), roles: [], active: true };
  return {
    ...{ index, present: undefined, asked: undefined },
    ...{ last, lastConnection: connection, isGuarded: false, externalIds: 1 },
  };
}

/** The IdPs of both connections, which have one write at a time under way for each person. */
export interface Idps {
  /** True when the write was acknowledged; false when it had no answer. Another answer than success is a failure. */
  send(person: Person, write: Write): Promise<boolean>;
  /** Reads a person back: they must be as acknowledged, or as asked where the answer is missing. */
  recall(person: Person): Promise<void>;
  /** The linked travel user; undefined when there is none, or no answer. */
  travelId(person: Person): Promise<string | undefined>;
}

const successes = { POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };

/** The bridge does not answer. */
export class NoAnswer extends Error {}

/** What the IdPs take from the history. */
export interface IdpContext {
  /** Where the bridge serves at the moment. */
  url(): string;
  tokens: Record<ConnectionName, string>;
  onWish: OnWish;
  /** Whether somebody of the other connection may have the address: then a POST may be answered 409. */
  mayClash(person: Person, write: Write): boolean;
}

/** Talks to the bridge, with one token for each connection. */
export function idps({ url, tokens, onWish, mayClash }: IdpContext): Idps {
  const call = async (connection: ConnectionName, method: string, path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${tokens[connection]}`,
      'content-type': 'application/scim+json',
    };
    const target = `${url()}/scim/v2${path}`;
    try {
      const response = await fetch(target, { method, headers, body: body ? JSON.stringify(body) : null });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch {
      return undefined;
    }
  };
  return {
    send: async (person, write) => {
      const { present } = person;
      const { verb, connection, wish } = write;
      person.asked = write;
      // Whoever has the address may leave meanwhile.
      const mightClash = mayClash(person, write);
      const answer = await call(connection, verb, pathOf(write, present), bodyOf(write, present));
      if (!answer) return false;
      if (verb === 'POST' && answer.status === 409 && (mightClash || mayClash(person, write))) {
        person.asked = undefined;
        return true;
      }
      if (answer.status === 403 && person.isGuarded && present && !wish?.active) {
        // What was refused stays wanted (a DELETE as a deactivation).
        const inactive = { ...(wish ?? present.wish), active: false };
        become(person, { ...present, wish: inactive }, 'PATCH', onWish);
        return true;
      }
      if (answer.status !== successes[verb])
        throw new Error(
          `${verb} of p${person.index} ${shown(wish)}: ${answer.status} ${JSON.stringify(answer.body)}`,
        );
      if (wish && !isSameWish(toWish(answer.body), wish))
        throw new Error(`${verb} of p${person.index} ${shown(wish)}: answered ${shown(toWish(answer.body))}`);
      become(person, wish && { connection, id: answer.body.id, wish }, verb, onWish);
      return true;
    },
    recall: (person) => recall(call, person, onWish),
    travelId: async ({ present }) => {
      if (!present) return undefined;
      const answer = await call(present.connection, 'GET', `/Users/${present.id}`);
      return answer?.status === 200 ? travelIdOf(answer.body) : undefined;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a SCIM answer
type Call = (connection: ConnectionName, method: string, path: string, body?: object) => Promise<any>;

function pathOf({ verb }: Write, present: Present | undefined): string {
  return verb === 'POST' ? '/Users' : `/Users/${present?.id}`;
}

function bodyOf({ verb, wish }: Write, present: Present | undefined): object | undefined {
  if (!wish) return undefined;
  return verb === 'PATCH' && present ? toPatch(present.wish, wish) : toResource(wish);
}

function become(person: Person, now: Present | undefined, verb: Write['verb'], onWish: OnWish): void {
  const before = person.present;
  person.present = now;
  person.asked = undefined;
  if (now) {
    person.last = now.wish;
    person.lastConnection = now.connection;
  }
  onWish(person, before, verb);
}

async function recall(call: Call, person: Person, onWish: OnWish): Promise<void> {
  const { asked, present, last } = person;
  const found: Present[] = [];
  for (const connection of connections) {
    const filter = encodeURIComponent(`userName eq "${last.userName}"`);
    const answer = await call(connection, 'GET', `/Users?filter=${filter}`);
    if (!answer) throw new NoAnswer();
    if (answer.status !== 200) throw new Error(`p${person.index} cannot be read: ${JSON.stringify(answer)}`);
    // An imported traveler that no IdP has written has no externalId.
    for (const resource of answer.body.Resources ?? [])
      if (resource.externalId !== undefined)
        found.push({ connection, id: resource.id, wish: toWish(resource) });
  }
  const [is, ...others] = found;
  const isAsked = asked !== undefined && isSameWish(is?.wish, asked.wish);
  const isSure = isSameWish(is?.wish, present?.wish) && (asked?.verb !== 'POST' || !is);
  if (others.length > 0 || !(isAsked || isSure))
    throw new Error(
      `SCIM: p${person.index} is ${found.map(({ wish }) => shown(wish)).join(' and ') || 'gone'}; acknowledged: ${shown(present?.wish)}${asked ? `; asked: ${shown(asked.wish)}` : ''}`,
    );
  if (asked && isAsked) become(person, is, asked.verb, onWish);
  person.asked = undefined;
  if (!present || person.present?.id === present.id) return;
  const old = await call(present.connection, 'GET', `/Users/${present.id}`);
  if (old?.status !== 404)
    throw new Error(`SCIM: p${person.index} was deleted, and is read as ${old?.status}`);
}

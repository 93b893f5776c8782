const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** What the identity provider wants somebody to be. */
export interface Wish {
  givenName: string;
  email: string;
  department: string | undefined;
  active: boolean;
}

/** Somebody, as the identity provider knows: by what was acknowledged, and by what was asked and never answered. */
export interface Person {
  /** Unique, a userName and the beginning of every address of this person. */
  name: string;
  /** The last SCIM id; kept after they left. */
  id: string | undefined;
  sure: Wish | 'gone';
  asked: Wish | 'gone' | undefined;
}

/** Somebody nobody has heard of. */
export function stranger(name: string): Person {
  return { name, id: undefined, sure: 'gone', asked: undefined };
}

/** A wish for somebody, at their first address unless told otherwise. */
export function wishFor({ name }: Person, wish: Partial<Wish> = {}): Wish {
  return { givenName: 'Ada', email: `${name}@example.com`, department: undefined, active: true, ...wish };
}

/** One write for somebody; a hire may be a return, a patch sends what differs. */
export type Write = { person: Person } & (
  | { verb: 'hire' | 'patch' | 'put'; wish: Wish }
  | { verb: 'dismiss'; wish: 'gone' }
);

/** An identity provider that remembers what became of its writes. It has one at a time on the way for each person. */
export interface RememberingIdp {
  /** No answer is not a failure; an answer that is no success is one. */
  send(write: Write): Promise<'acknowledged' | 'unanswered'>;
  /** Reads somebody, who must be as last acknowledged, or else wholly as last asked; that is then sure. */
  recall(person: Person): Promise<void>;
}

/** Talks SCIM to the service at `url`. */
export function rememberingIdp(url: string, token: string): RememberingIdp {
  const call = caller(`${url}/scim/v2`, token);
  return {
    send: async (write) => {
      const { person, wish, verb } = write;
      person.asked = wish;
      const answer = await call(...requestFor(write));
      if (!answer) return 'unanswered';
      expect({ verb, ...answer }).toMatchObject({ verb, status: successes[verb] });
      if (verb === 'hire') person.id = JSON.parse(answer.text).id;
      person.sure = wish;
      person.asked = undefined;
      return 'acknowledged';
    },
    recall: (person) => recall(call, person),
  };
}

const successes = { hire: 201, patch: 200, put: 200, dismiss: 204 };

function requestFor({ verb, person, wish }: Write): [method: string, path: string, body?: object] {
  if (verb === 'dismiss') return ['DELETE', `/Users/${person.id}`];
  if (verb === 'hire') return ['POST', '/Users', resourceOf(person, wish)];
  if (verb === 'put') return ['PUT', `/Users/${person.id}`, resourceOf(person, wish)];
  return ['PATCH', `/Users/${person.id}`, patchOf(person, wish)];
}

interface Answer {
  status: number;
  text: string;
}

type Call = (method: string, path: string, body?: object) => Promise<Answer | undefined>;

/** Undefined when no whole answer came. */
function caller(base: string, token: string): Call {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
  return async (method, path, body) => {
    try {
      const response = await fetch(base + path, {
        method,
        headers,
        body: body ? JSON.stringify(body) : null,
      });
      return { status: response.status, text: await response.text() };
    } catch {
      return undefined;
    }
  };
}

function resourceOf(person: Person, wish: Wish): object {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', ENTERPRISE],
    userName: person.name,
    name: { givenName: wish.givenName, familyName: person.name },
    emails: [{ type: 'work', primary: true, value: wish.email }],
    active: wish.active,
    ...(wish.department === undefined ? {} : { [ENTERPRISE]: { department: wish.department } }),
  };
}

function patchOf({ sure }: Person, wish: Wish): object {
  const before = sure === 'gone' ? undefined : sure;
  const operations: object[] = [];
  const replace = (path: string, value: unknown) => operations.push({ op: 'replace', path, value });
  // Sent in any case: a PATCH must have an operation, and one that changes nothing is none the less right.
  replace('active', wish.active);
  if (before?.givenName !== wish.givenName) replace('name.givenName', wish.givenName);
  if (before?.email !== wish.email) replace('emails[type eq "work"].value', wish.email);
  if (before?.department !== wish.department) {
    const path = `${ENTERPRISE}:department`;
    if (wish.department === undefined) operations.push({ op: 'remove', path });
    else replace(path, wish.department);
  }
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations };
}

async function recall(call: Call, person: Person): Promise<void> {
  const filter = encodeURIComponent(`userName eq "${person.name}"`);
  const found = answered(await call('GET', `/Users?filter=${filter}`));
  const [resource, ...others] = JSON.parse(found.text).Resources ?? [];
  const is = resource ? wishOf(resource) : 'gone';
  expect({ name: person.name, is, others }).toEqual({
    name: person.name,
    is: isSame(is, person.asked) ? person.asked : person.sure,
    others: [],
  });
  person.id = resource?.id ?? person.id;
  person.sure = is;
  person.asked = undefined;
  if (person.id === undefined) return;
  const byId = answered(await call('GET', `/Users/${person.id}`));
  expect(byId.status === 404 ? 'gone' : wishOf(JSON.parse(byId.text))).toEqual(is);
}

function answered(answer: Answer | undefined): Answer {
  if (!answer) throw new Error('the service does not answer');
  return answer;
}

function isSame(one: Wish | 'gone', other: Wish | 'gone' | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Reads a SCIM user back, in the order in which wishes are written. */
// biome-ignore lint/suspicious/noExplicitAny: a SCIM answer
function wishOf(resource: any): Wish {
  return {
    givenName: resource.name.givenName,
    email: resource.emails[0].value,
    department: resource[ENTERPRISE]?.department,
    active: resource.active,
  };
}

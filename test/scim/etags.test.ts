import { urns } from '../../src/schema/resource.ts';
import { runs } from '../fixtures/runs.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimAnswer, type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** The number of repetitions: in CI enough to find a race that goes wrong one time in ten. */
const ROUNDS = runs(60).numRuns;

let service: RunningService;
let scim: ScimClient;
beforeAll(async () => {
  service = await startService({}, { background: false });
  scim = scimClient(service.url, service.scimToken);
});
afterAll(() => service.close());

/** The number of the test. Names with it are unique: all tests use one service. */
let number = 0;
beforeEach(() => {
  number += 1;
});
const unique = (name: string) => `${name} ${number}`;

/** The differences between users and groups in these tests. */
interface Kind {
  endpoint: string;
  /** The required attribute, and an optional one. */
  named: 'userName' | 'displayName';
  other: string;
}

const users: Kind = { endpoint: '/Users', named: 'userName', other: 'title' };
const groups: Kind = { endpoint: '/Groups', named: 'displayName', other: 'externalId' };

const tagOf = ({ headers }: ScimAnswer) => headers.get('etag') ?? '';
const replaceWith = (path: string, value: unknown) => patchOp({ op: 'replace', path, value });

describe.each([users, groups])('versions of $endpoint (RFC 7644 §3.14)', (kind) => {
  const { endpoint, named, other } = kind;

  async function create(): Promise<{ path: string; tag: string }> {
    const created = await scim.send('POST', endpoint, { [named]: unique('First') });
    return { path: `${endpoint}/${created.body.id}`, tag: tagOf(created) };
  }

  test('the header ETag equals meta.version for every method', async () => {
    const created = await scim.send('POST', endpoint, { [named]: unique('First') });
    const path = `${endpoint}/${created.body.id}`;
    const answers = [
      created,
      await scim.send('GET', path),
      await scim.send('PUT', path, { [named]: unique('Second') }),
      await scim.send('PATCH', `${path}?attributes=meta`, replaceWith(other, 'x')),
    ];
    for (const answer of answers) {
      expect(answer.body.meta.version).toMatch(/^W\/"\d+"$/);
      expect(tagOf(answer)).toBe(answer.body.meta.version);
    }
    const patch = await scim.send('PATCH', path, replaceWith(other, 'y'));
    expect(patch.status).toBe(200);
    const read = await scim.send('GET', path);
    expect(tagOf(patch)).toBe(read.body.meta.version);
    const head = await scim.send('HEAD', path);
    expect([head.status, head.body, tagOf(head)]).toEqual([200, undefined, tagOf(read)]);
    const listed = await scim.send('GET', `${endpoint}?filter=id+eq+%22${read.body.id}%22`);
    expect(listed.body.Resources[0].meta).toEqual(read.body.meta);
    expect(listed.headers.get('etag')).toBeNull();
  });

  test('every change raises the version, and a write without effect keeps version and lastModified', async () => {
    const { path } = await create();
    const changes: [isEffective: boolean, method: string, body: object][] = [
      [true, 'PATCH', replaceWith(other, 'x')],
      [false, 'PATCH', replaceWith(other, 'x')],
      [false, 'PATCH', patchOp({ op: 'add', value: { [named]: unique('First'), [other]: 'x' } })],
      [false, 'PUT', { [named]: unique('First'), [other]: 'x', id: 'mine', meta: { version: 'W/"99"' } }],
      [true, 'PATCH', patchOp({ op: 'remove', path: other })],
      [false, 'PATCH', patchOp({ op: 'remove', path: other })],
      [true, 'PUT', { [named]: unique('Second') }],
      [false, 'PUT', { [named]: unique('Second') }],
      [true, 'PATCH', replaceWith(named, unique('SECOND'))],
    ];
    let { meta } = (await scim.send('GET', path)).body;
    for (const [isEffective, method, body] of changes) {
      const answer = await scim.send(method, path, body);
      expect(answer.status).toBe(200);
      const { meta: now } = (await scim.send('GET', path)).body;
      expect({ method, body, changed: now.version !== meta.version }).toEqual({
        method,
        body,
        changed: isEffective,
      });
      if (!isEffective) expect(now.lastModified).toBe(meta.lastModified);
      expect(tagOf(answer)).toBe(now.version);
      meta = now;
    }
    const seen = changes.filter(([isEffective]) => isEffective).length;
    expect(meta.version).toBe(`W/"${seen + 1}"`);
  });

  test('a GET with the current version in If-None-Match is 304 without a body, in every spelling of the tag', async () => {
    const { path, tag } = await create();
    const strong = tag.replace('W/', '');
    for (const known of [tag, strong, '*', ` "x" , ${tag}`, `W/"0",W/"x,y", ${strong},"z"`]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await scim.send(method, path, undefined, { 'If-None-Match': known });
        expect({ known, status: answer.status, tag: tagOf(answer), body: answer.body }).toEqual({
          known,
          status: 304,
          tag,
          body: undefined,
        });
      }
    }
    for (const other of ['"x"', 'W/"0"', `"${strong}"`, strong.slice(1, -1), '', 'junk', '"1', '1"', ',,,']) {
      const answer = await scim.send('GET', path, undefined, { 'If-None-Match': other });
      expect({ other, status: answer.status }).toEqual({ other, status: 200 });
    }
    await scim.send('PATCH', path, replaceWith(other, 'x'));
    expect((await scim.send('GET', path, undefined, { 'If-None-Match': tag })).status).toBe(200);
  });

  test('a write with an old or unknown version in If-Match is 412 and changes nothing', async () => {
    const { path, tag } = await create();
    await scim.send('PATCH', path, replaceWith(other, 'x'));
    const before = await scim.send('GET', path);
    const current = tagOf(before);
    const strong = current.replace('W/', '');
    const stale = [
      tag,
      tag.replace('W/', ''),
      '"x", "y"',
      '',
      'junk',
      '"',
      '""',
      current.replaceAll('"', ''),
      `x${strong}y`,
      `${current} x`,
      `* , ${current}`,
      `w/${strong}`,
      ',',
    ];
    for (const headers of [
      ...stale.map((value) => ({ 'If-Match': value })),
      { 'If-None-Match': '*' },
      { 'If-None-Match': current },
      { 'If-Match': current, 'If-None-Match': current },
    ]) {
      for (const [method, body] of [
        ['PUT', { [named]: unique('Other') }],
        ['PATCH', replaceWith(other, 'y')],
        ['DELETE', undefined],
      ] as const) {
        const answer = await scim.send(method, path, body, headers as Record<string, string>);
        expect({ method, headers, answer }).toMatchObject({
          answer: { status: 412, body: { status: '412', schemas: [expect.stringContaining(':Error')] } },
        });
        expect(answer.body.scimType).toBeUndefined();
      }
    }
    expect((await scim.send('GET', path)).body).toEqual(before.body);
    expect((await scim.send('GET', path, undefined, { 'If-Match': tag })).status).toBe(412);
  });

  test('a write with the current version in If-Match succeeds, in every spelling of the tag', async () => {
    const { path } = await create();
    const current = async () => tagOf(await scim.send('GET', path));
    for (const spell of [
      (tag: string) => tag,
      (tag: string) => tag.replace('W/', ''),
      (tag: string) => `"x",${tag} , W/"0"`,
      () => '*',
    ]) {
      const put = await scim.send(
        'PUT',
        path,
        { [named]: unique(`N${spell('"7"')}`) },
        { 'If-Match': spell(await current()) },
      );
      expect(put.status).toBe(200);
      const value = `P${spell('"7"')}`;
      const patch = await scim.send('PATCH', path, replaceWith(other, value), {
        'If-Match': spell(await current()),
      });
      expect(patch.status).toBe(200);
    }
    const passed = { 'If-None-Match': '"0"' };
    expect((await scim.send('PUT', path, { [named]: unique('Last') }, passed)).status).toBe(200);
    expect((await scim.send('DELETE', path, undefined, { 'If-Match': await current() })).status).toBe(204);
  });

  test('a write without effect is 412 too if its version is wrong', async () => {
    const { path } = await create();
    const answer = await scim.send('PATCH', path, replaceWith(named, unique('First')), {
      'If-Match': 'W/"0"',
    });
    expect(answer.status).toBe(412);
  });

  test('a missing resource is 404, whatever the condition', async () => {
    for (const headers of [{ 'If-Match': '*' }, { 'If-Match': 'W/"1"' }, { 'If-None-Match': '*' }]) {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', { [named]: unique('Other') }],
        ['PATCH', replaceWith(other, 'y')],
        ['DELETE', undefined],
      ] as const) {
        const answer = await scim.send(method, `${endpoint}/nobody`, body, headers as Record<string, string>);
        expect({ method, headers, status: answer.status }).toEqual({ method, headers, status: 404 });
      }
    }
  });

  test('exactly one of several concurrent writers with the same tag succeeds', async () => {
    const { path } = await create();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const headers = { 'If-Match': tagOf(await scim.send('GET', path)) };
      const writes: [string, object][] = [
        ['PATCH', replaceWith(other, `patch ${round}`)],
        ['PUT', { [named]: unique(`Put ${round}`), [other]: `put ${round}` }],
        ['PATCH', patchOp({ op: 'add', path: other, value: `add ${round}` })],
      ];
      const answers = await Promise.all(
        writes.map(([method, body]) => scim.send(method, path, body, headers)),
      );
      const won = answers.filter(({ status }) => status < 300);
      expect(answers.map(({ status }) => status).sort()).toEqual([won[0]?.status, 412, 412]);
      const winner = answers.findIndex(({ status }) => status < 300);
      const after = await scim.send('GET', path);
      expect(after.body[other]).toBe([`patch ${round}`, `put ${round}`, `add ${round}`][winner]);
      expect(tagOf(after)).toBe(tagOf(answers[winner] as ScimAnswer));
    }
  });

  test('exactly one of a concurrent change and removal with the same tag succeeds', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const created = await scim.send('POST', endpoint, { [named]: unique(`N${round}`) });
      const path = `${endpoint}/${created.body.id}`;
      const headers = { 'If-Match': tagOf(created) };
      const [patch, removal] = await Promise.all([
        scim.send('PATCH', path, replaceWith(other, 'x'), headers),
        scim.send('DELETE', path, undefined, headers),
      ]);
      const isGone = (await scim.send('GET', path)).status === 404;
      // A change that comes after the removal is 404.
      expect(isGone ? [404, 412] : [200]).toContain(patch.status);
      expect(removal.status).toBe(isGone ? 204 : 412);
    }
  });
});

test('a change of members changes the version of the group, and not that of the user', async () => {
  const user = await scim.send('POST', '/Users', { userName: unique('ada') });
  const group = await scim.send('POST', '/Groups', { displayName: unique('Crew') });
  const path = `/Groups/${group.body.id}`;
  const change = (op: string) => patchOp({ op, path: 'members', value: [{ value: user.body.id }] });
  const tags = [tagOf(group)];
  for (const op of ['add', 'add', 'remove', 'remove', 'add'])
    tags.push(tagOf(await scim.send('PATCH', path, change(op))));
  expect(tags).toEqual(['W/"1"', 'W/"2"', 'W/"2"', 'W/"3"', 'W/"3"', 'W/"4"']);
  const read = await scim.send('GET', `/Users/${user.body.id}`);
  expect(read.body.groups).toHaveLength(1);
  expect(tagOf(read)).toBe(tagOf(user));
  await scim.send('DELETE', `/Users/${user.body.id}`);
  expect(tagOf(await scim.send('GET', path))).toBe('W/"5"');
});

test('meta.version can be searched like the rest of meta (RFC 7643 §3.1)', async () => {
  const user = await scim.send('POST', '/Users', { userName: unique('ada') });
  await scim.send('POST', '/Users', { userName: unique('bob') });
  await scim.send('PATCH', `/Users/${user.body.id}`, replaceWith('title', 'x'));
  for (const [filter, total] of [
    ['meta.version eq "W/\\"2\\""', 1],
    ['meta.version eq "w/\\"2\\""', 0],
  ] as const) {
    const own = `${filter} and (userName eq "${unique('ada')}" or userName eq "${unique('bob')}")`;
    const { body } = await scim.send('GET', `/Users?filter=${encodeURIComponent(own)}`);
    expect([filter, body.totalResults]).toEqual([filter, total]);
  }
});

test('a traveler that is created later does not change the version of the user', async () => {
  const created = await scim.send('POST', '/Users', { userName: unique('ada') });
  const path = `/Users/${created.body.id}`;
  expect(created.body[urns.travel]).toBeUndefined();
  const emails = [{ value: 'ada@corp.example', type: 'work' }];
  const patched = await scim.send('PATCH', path, replaceWith('emails', emails));
  await service.people('default');
  const read = await scim.send('GET', path);
  expect(read.body[urns.travel]).toEqual({ travelUserId: expect.any(String) });
  expect(tagOf(read)).toBe(tagOf(patched));
});

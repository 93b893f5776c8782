import type { JsonObject } from '../../src/schema/resource.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

const USERS = 60;
const EXTENSIONS = 50;
const NAMES = 1000;
const urnOf = (index: number) => `urn:acme:hr:1.0:e${index}`;

/** A clock that advances by `tick` milliseconds each time it is read, and remembers in which turns of the event loop. */
const clock = { time: 0, tick: 0, turn: 0, turns: new Set<number>() };

let fixture: ScimFixture;
beforeAll(async () => {
  fixture = await scimFixture({
    now: () => {
      clock.time += clock.tick;
      clock.turns.add(clock.turn);
      return clock.time;
    },
  });
  const extensions = Object.fromEntries(
    Array.from({ length: EXTENSIONS }, (_, index) => [urnOf(index), { attr0: 'x', attr7: 'y' }]),
  );
  for (let index = 0; index < USERS; index += 1) {
    const { status } = await fixture.send('POST', '/Users', { userName: `u${index}`, ...extensions });
    expect(status).toBe(201);
  }
  const members = [{ value: 'u1' }];
  expect((await fixture.send('POST', '/Groups', { displayName: 'All', members })).status).toBe(201);
});
afterAll(() => fixture.close());
afterEach(() => {
  clock.tick = 0;
  jest.restoreAllMocks();
});

const names = Array.from({ length: NAMES }, (_, index) => `${urnOf(index % 100)}:attr${index % 7}`);
names.push(`${urnOf(7)}:attr7`);
names.shift();

/**
 * Sends a search, and counts the turns of the event loop in which the service read the clock. It reads the clock
 * after each resource; turns that pass while it waits for the database or for a socket do not count.
 */
async function search(path: string, query: JsonObject) {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
  let isOver = false;
  clock.turns.clear();
  const count = () => {
    clock.turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const { status, body } = await fixture.send('POST', path, { schemas, count: 200, ...query });
  isOver = true;
  expect(status).toBe(200);
  return { body, turns: clock.turns.size };
}

test('attributes of undeclared extensions select those that each resource has', async () => {
  const { body } = await search('/Users/.search', { attributes: names });
  expect(body.Resources).toHaveLength(USERS);
  for (const user of body.Resources) {
    expect(user[urnOf(7)]).toEqual({ attr0: 'x', attr7: 'y' });
    expect(user[urnOf(8)]).toEqual({ attr0: 'x' });
    expect(user.userName).toBeUndefined();
  }
});

test('each resource is projected by its own extensions, also if the resource before has others', async () => {
  const urns = [`${urnOf(1)}`, `${urnOf(1)}:part`];
  const ids: string[] = [];
  for (const index of [0, 1, 2, 3]) {
    const [urn = ''] = index % 2 === 0 ? urns : urns.toReversed();
    const { body } = await fixture.send('POST', '/Users', {
      userName: `odd${index}`,
      [urn]: { part: { name: 'inner' }, name: 'outer' },
    });
    ids.push(body.id);
  }
  const { body } = await search('/Users/.search', {
    filter: 'userName sw "odd"',
    attributes: [`${urnOf(1)}:part:name`],
  });
  expect(body.Resources).toEqual(
    ids.map((id, index) =>
      expect.objectContaining(index % 2 === 0 ? { id } : { id, [`${urnOf(1)}:part`]: { name: 'outer' } }),
    ),
  );
  for (const id of ids) expect((await fixture.send('DELETE', `/Users/${id}`)).status).toBe(204);
});

test.each(['/Users/.search', '/.search'])(
  'other requests get a turn between the resources of a page that takes long (%s)',
  async (path) => {
    const quick = await search(path, { attributes: names });
    // Every reading of the clock makes a pause due.
    clock.tick = 5;
    const slow = await search(path, { attributes: names });
    expect(slow.body).toEqual(quick.body);
    expect(slow.turns).toBeGreaterThanOrEqual(USERS);
    expect(quick.turns).toBeLessThan(USERS / 2);
  },
);

test('a page that is serialized quickly has no pause', async () => {
  const { turns } = await search('/Users/.search', { attributes: names });
  expect(turns).toBeLessThan(USERS / 2);
});

import { travelLookups } from '../../src/adapter/lookups.ts';
import type { TravelLookups } from '../../src/model/travel-ports.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type Answerer, json, type Recorded, type TravelServer, travelServer } from './travel-server.ts';

const collections: Record<string, object[]> = {
  '/api/custom-fields': [
    { id: 'f1', name: 'Title', dataType: 'text', resourceType: 'user', disabled: false, mandatory: true },
    {
      id: 'f2',
      name: 'Floor',
      dataType: 'option',
      resourceType: 'user',
      disabled: true,
      validationRegexp: '^.$',
    },
    { id: 'f3', name: 'Reason', dataType: 'text', resourceType: 'tripProject', disabled: false },
  ],
  '/api/custom-fields/f2/options': [
    { id: 'o1', data: '1', disabled: false, customFieldId: 'f2' },
    { id: 'o2', data: '2', disabled: true, customFieldId: 'f2' },
  ],
  '/api/cost-centers': [{ id: 'c1', name: 'R&D', archived: true }],
  '/api/billing-profiles': [{ id: 'b1', name: 'Main', archived: false, lang: 'fr' }],
  '/api/travel-policies': [{ id: 'p1', name: 'Default', default: true }],
  '/api/scim-user-mappings': [
    { id: 'm1', scimAttribute: 'title', customFieldId: 'f1' },
    { id: 'm2', scimAttribute: 'nickName', userAttribute: 'firstName' },
    { id: 'm3', customFieldId: 'f1' },
  ],
};
const lookups = {
  customFields: [
    { id: 'f1', name: 'Title', dataType: 'text', disabled: false, options: [] },
    {
      id: 'f2',
      name: 'Floor',
      dataType: 'option',
      disabled: true,
      validationRegexp: '^.$',
      options: [
        { id: 'o1', data: '1', disabled: false },
        { id: 'o2', data: '2', disabled: true },
      ],
    },
  ],
  costCenters: [{ id: 'c1', name: 'R&D', archived: true }],
  billingProfiles: [{ id: 'b1', name: 'Main', archived: false }],
  travelPolicies: [{ id: 'p1', name: 'Default', archived: false }],
  scimUserMappings: [
    { scimAttribute: 'title', customFieldId: 'f1' },
    { scimAttribute: 'nickName', userAttribute: 'firstName' },
  ],
};

const pathOf = ({ url }: Recorded) => url.split('?')[0] ?? '';
const serve: Answerer = (request, response) => {
  const data = collections[pathOf(request)] ?? [];
  json(response, 200, { data, meta: { total: data.length } });
};

interface Fixture {
  server: TravelServer;
  lookups: TravelLookups;
  clock: { now: number };
  warnings: object[];
  alarms: object[];
  stale(): string[];
  ages(): Record<string, number>;
  reads(path: string): number;
}

describe('lookups in the travel API', () => {
  let fixture: Fixture;
  afterEach(() => fixture.server.close());

  async function build(answer: Answerer): Promise<Fixture> {
    const server = await travelServer(answer);
    const clock = { now: 1_000_000 };
    const warnings: object[] = [];
    const alarms: object[] = [];
    const cached = travelLookups({
      client: server.client(),
      now: () => clock.now,
      log: { warn: (fields) => warnings.push(fields), error: (fields) => alarms.push(fields) },
      connection: 'acme',
    });
    fixture = {
      server,
      clock,
      warnings,
      alarms,
      lookups: cached,
      stale: cached.stale,
      ages: () => Object.fromEntries(cached.ages()),
      reads: (path) => server.requests.filter((request) => pathOf(request) === path).length,
    };
    return fixture;
  }

  test('are read from every collection, 100 at a time, with the options of the fields that have any', async () => {
    const { server, lookups: cached } = await build(serve);
    expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
    expect(server.requests.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
      'GET /api/billing-profiles?limit=100&offset=0',
      'GET /api/cost-centers?limit=100&offset=0',
      'GET /api/custom-fields/f2/options?limit=100&offset=0',
      'GET /api/custom-fields?limit=100&offset=0',
      'GET /api/scim-user-mappings?limit=100&offset=0',
      'GET /api/travel-policies?limit=100&offset=0',
    ]);
  });

  test.each([
    ['of more than 1,000 rules', '/api/scim-user-mappings', 'x', 100, /more than 1000 rows/],
    ['of items that would fill the memory', '/api/cost-centers', 'x'.repeat(70_000), 100, /characters/],
    ['with pages that are too long', '/api/cost-centers', 'x', 100_001, /cannot be read/],
  ])('that are endless and %s cannot be read', async (_title, endless, name, length, problem) => {
    const { lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== endless) return serve(request, response);
      const offset = Number(new URL(request.url, 'http://x').searchParams.get('offset'));
      const total = offset < 1_000 || name.length > 1 ? {} : { meta: { total: offset + length } };
      const data = Array.from({ length }, (_, n) => ({ id: `${offset + n}`, name, scimAttribute: 'title' }));
      return json(response, 200, { data, ...total });
    });
    expect(await cached.current()).toEqual({ kind: 'unavailable', text: expect.stringMatching(problem) });
  });

  test('are paged through to the end', async () => {
    const centers = Array.from({ length: 250 }, (_, n) => ({ id: `c${n}`, name: `Center ${n}` }));
    const { server, lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      const offset = Number(new URL(request.url, 'http://x').searchParams.get('offset'));
      return json(response, 200, { data: centers.slice(offset, offset + 100), meta: { total: 250 } });
    });
    const answer = await cached.current();
    expect(answer.kind === 'ok' && answer.value.costCenters.map(({ id }) => id)).toEqual(
      centers.map(({ id }) => id),
    );
    const pages = server.requests.filter((request) => pathOf(request) === '/api/cost-centers');
    expect(pages.map(({ url }) => url)).toEqual(
      [0, 100, 200].map((n) => `/api/cost-centers?limit=100&offset=${n}`),
    );
  });

  test('are read again if an item is deleted meanwhile, so that no item is skipped', async () => {
    let centers = Array.from({ length: 150 }, (_, n) => ({ id: `c${n}`, name: `Center ${n}` }));
    const { lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      const offset = Number(new URL(request.url, 'http://x').searchParams.get('offset'));
      const page = { data: centers.slice(offset, offset + 100), meta: { total: centers.length } };
      centers = centers.filter(({ id }) => id !== 'c0');
      return json(response, 200, page);
    });
    const answer = await cached.current();
    expect(answer.kind === 'ok' && answer.value.costCenters.map(({ id }) => id)).toEqual(
      centers.map(({ id }) => id),
    );
  });

  test('without totals are accepted when two readings agree', async () => {
    const full = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, name: `Center ${n}` }));
    const { lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      return json(response, 200, { data: request.url.endsWith('offset=0') ? full : [] });
    });
    const answer = await cached.current();
    expect(answer.kind === 'ok' && answer.value.costCenters.length).toBe(100);
  });

  test('of several pages without totals are read completely in any order', async () => {
    const centers = Array.from({ length: 250 }, (_, n) => ({ id: `c${n}`, name: `Center ${n}` }));
    let readings = 0;
    const { lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      const offset = Number(new URL(request.url, 'http://x').searchParams.get('offset'));
      if (offset === 0) readings += 1;
      const listed = readings % 2 === 0 ? centers.toReversed() : centers;
      return json(response, 200, { data: listed.slice(offset, offset + 100) });
    });
    const answer = await cached.current();
    const ids = answer.kind === 'ok' ? answer.value.costCenters.map(({ id }) => id) : [];
    expect(ids.sort()).toEqual(centers.map(({ id }) => id).sort());
    expect(readings).toBe(2);
  });

  test('of one page without a total are read once', async () => {
    const { lookups: cached, reads } = await build((request, response) =>
      json(response, 200, { data: collections[pathOf(request)] }),
    );
    expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
    expect(reads('/api/cost-centers')).toBe(1);
  });

  test.each([
    ['without a total', undefined],
    ['with a total', { total: 250 }],
  ])('of a service that always returns the same page end, %s', async (_, meta) => {
    const centers = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, name: `Center ${n}` }));
    const { lookups: cached, reads } = await build((request, response) =>
      pathOf(request) === '/api/cost-centers'
        ? json(response, 200, { data: centers, meta })
        : serve(request, response),
    );
    const answer = await cached.current();
    expect(answer.kind === 'ok' && answer.value.costCenters).toHaveLength(100);
    expect(reads('/api/cost-centers')).toBeLessThan(10);
  });

  test('that are listed twice count once, and skipped items are read', async () => {
    const centers = Array.from({ length: 150 }, (_, n) => ({ id: `c${n}`, name: `Center ${n}` }));
    let pages = 0;
    const { lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      pages += 1;
      const offset = Number(new URL(request.url, 'http://x').searchParams.get('offset'));
      const shift = pages === 2 ? 10 : 0;
      const data = centers.slice(offset - shift, offset - shift + 100);
      return json(response, 200, { data, meta: { total: 150 } });
    });
    const answer = await cached.current();
    const ids = answer.kind === 'ok' ? answer.value.costCenters.map(({ id }) => id) : [];
    expect(ids).toEqual(centers.map(({ id }) => id));
  });

  test('are cached for a minute', async () => {
    const { lookups: cached, clock, reads } = await build(serve);
    await cached.current();
    clock.now += 59_999;
    await cached.current();
    expect(reads('/api/cost-centers')).toBe(1);
    clock.now += 1;
    await cached.current();
    expect(reads('/api/cost-centers')).toBe(2);
  });

  test('are read again on demand, but not within three seconds', async () => {
    const { lookups: cached, clock, reads } = await build(serve);
    await cached.current();
    clock.now += 3_000;
    await cached.refresh();
    await cached.refresh();
    expect(reads('/api/cost-centers')).toBe(2);
    clock.now += 3_000;
    await cached.refresh();
    expect(reads('/api/cost-centers')).toBe(3);
  });

  test('are read again at once after a change', async () => {
    const { lookups: cached, reads } = await build(serve);
    await cached.current();
    cached.expire();
    await cached.current();
    await cached.refresh();
    expect(reads('/api/cost-centers')).toBe(2);
  });

  test('a change during a reading is in the next answer', async () => {
    let name = 'before';
    const { lookups: cached } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      const page = { data: [{ id: 'c1', name }], meta: { total: 1 } };
      name = 'after';
      return json(response, 200, page);
    });
    const running = cached.current();
    cached.expire();
    const next = cached.current();
    expect(await running).toMatchObject({ value: { costCenters: [{ name: 'before' }] } });
    expect(await next).toMatchObject({ value: { costCenters: [{ name: 'after' }] } });
  });

  test('two hundred changes during a reading cause one more reading, which has the last change', async () => {
    let name = 'before';
    const held: (() => void)[] = [];
    const { lookups: cached, reads } = await build((request, response) => {
      if (pathOf(request) !== '/api/cost-centers') return serve(request, response);
      const page = { data: [{ id: 'c1', name }], meta: { total: 1 } };
      return held.push(() => json(response, 200, page));
    });
    const answerNext = async () => {
      await eventually(async () => expect(held.length).toBe(1));
      held.pop()?.();
    };
    const first = cached.current();
    await eventually(async () => expect(held.length).toBe(1));
    const asked = [];
    for (let n = 1; n <= 200; n += 1) {
      name = `change ${n}`;
      cached.expire();
      asked.push(cached.refresh(), cached.current());
    }
    await answerNext();
    expect(await first).toMatchObject({ value: { costCenters: [{ name: 'before' }] } });
    await answerNext();
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({ value: { costCenters: [{ name: 'change 200' }] } });
    expect(reads('/api/cost-centers')).toBe(2);
    expect(await cached.current()).toBe(await asked[0]);
  });

  test('concurrent callers share one reading', async () => {
    const { lookups: cached, reads } = await build(serve);
    await Promise.all([cached.current(), cached.refresh(), cached.current()]);
    expect(reads('/api/cost-centers')).toBe(1);
  });

  test('a part that cannot be read keeps its last value, and is read again soon', async () => {
    let isDown = false;
    let name = 'before';
    const {
      lookups: cached,
      clock,
      warnings,
      stale,
    } = await build((request, response) => {
      if (pathOf(request) === '/api/cost-centers')
        return json(response, 200, { data: [{ id: 'c1', name }], meta: { total: 1 } });
      if (isDown && pathOf(request).endsWith('/options')) return json(response, 503, {});
      return serve(request, response);
    });
    await cached.current();
    isDown = true;
    name = 'after';
    clock.now += 60_000;
    expect(await cached.current()).toEqual({
      kind: 'ok',
      value: { ...lookups, costCenters: [{ id: 'c1', name: 'after', archived: false }] },
    });
    expect(warnings).toEqual([
      { part: 'customFields', failure: 'GET /api/custom-fields/f2/options: 503', stale: true },
    ]);
    expect(stale()).toEqual(['customFields']);
    clock.now += 4_000;
    expect(fixture.ages()).toMatchObject({ customFields: 64_000, costCenters: 4_000 });
    clock.now += 1_000;
    isDown = false;
    await cached.current();
    expect(warnings).toHaveLength(1);
    expect(stale()).toEqual([]);
  });

  describe('of which the travel API forbids a part (403)', () => {
    const forbidding = (paths: Set<string>) =>
      build((request, response) =>
        paths.has(pathOf(request))
          ? json(response, 403, { code: 'forbidden', message: 'No.' })
          : serve(request, response),
      );
    const centers = '/api/cost-centers';

    test('count as empty if it was never read, with one warning', async () => {
      const paths = new Set([centers]);
      const { lookups: cached, clock, warnings, alarms, stale } = await forbidding(paths);
      const withoutCenters = { kind: 'ok', value: { ...lookups, costCenters: [] } };
      expect(await cached.current()).toEqual(withoutCenters);
      clock.now += 60_000;
      expect(await cached.current()).toEqual(withoutCenters);
      expect(warnings).toEqual([{ connection: 'acme', part: 'costCenters', path: centers }]);
      expect([alarms, stale()]).toEqual([[], []]);
      paths.clear();
      clock.now += 60_000;
      expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
    });

    test('have its last value if it was read before, with one error in the log', async () => {
      const paths = new Set<string>();
      const { lookups: cached, clock, warnings, alarms, stale } = await forbidding(paths);
      await cached.current();
      paths.add(centers);
      for (let reading = 0; reading < 3; reading += 1) {
        clock.now += 60_000;
        expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
        expect(stale()).toEqual(['costCenters']);
      }
      expect(alarms).toEqual([{ connection: 'acme', part: 'costCenters', path: centers }]);
      paths.clear();
      clock.now += 60_000;
      await cached.current();
      expect([stale(), warnings]).toEqual([[], []]);
      paths.add(centers);
      clock.now += 60_000;
      await cached.current();
      expect(alarms).toHaveLength(2);
    });

    test('keep all custom fields if only the options of one are forbidden', async () => {
      const options = '/api/custom-fields/f2/options';
      const paths = new Set([options]);
      const { lookups: cached, clock, warnings, alarms, stale } = await forbidding(paths);
      const [title, floor] = lookups.customFields;
      const answer = await cached.current();
      expect(answer.kind === 'ok' && answer.value.customFields).toEqual([title, { ...floor, options: [] }]);
      expect(warnings).toEqual([{ connection: 'acme', part: 'customFields', path: options }]);
      paths.clear();
      clock.now += 60_000;
      await cached.current();
      paths.add(options);
      clock.now += 60_000;
      expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
      expect([alarms.length, stale()]).toEqual([1, ['customFields']]);
    });
  });

  test('that were never readable are a failure, and are read again after a second', async () => {
    let isDown = true;
    const {
      lookups: cached,
      clock,
      reads,
    } = await build((request, response) =>
      isDown && pathOf(request) === '/api/travel-policies'
        ? json(response, 500, {})
        : serve(request, response),
    );
    const failure = { kind: 'unavailable', text: 'GET /api/travel-policies: 500' };
    expect(await cached.current()).toEqual(failure);
    isDown = false;
    expect(await cached.current()).toEqual(failure);
    expect(reads('/api/travel-policies')).toBe(1);
    clock.now += 1_000;
    expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
  });

  test('a collection that is not found is a failure, not an empty collection', async () => {
    const { lookups: cached } = await build((request, response) =>
      pathOf(request) === '/api/scim-user-mappings'
        ? json(response, 404, { code: 'notFound' })
        : serve(request, response),
    );
    expect(await cached.current()).toEqual({
      kind: 'unavailable',
      text: "GET /api/scim-user-mappings: 404, check the travel API's address and paths",
    });
  });

  test('a wrong credential is reported as unauthorized', async () => {
    const { lookups: cached } = await build((_, response) => response.writeHead(401).end());
    expect(await cached.current()).toEqual({ kind: 'unauthorized' });
    expect(await cached.readOwnUser()).toEqual({ kind: 'unauthorized' });
  });

  test.each([
    ['that were read before serve', true],
    ['that were never read are not asked for', false],
  ])('%s for as long as the travel API asks, up to a minute', async (_, wasRead) => {
    let isThrottled = !wasRead;
    const {
      server,
      lookups: cached,
      clock,
    } = await build((request, response) =>
      isThrottled ? json(response, 429, {}, { 'retry-after': '3600' }) : serve(request, response),
    );
    await cached.current();
    isThrottled = true;
    clock.now += wasRead ? 60_000 : 0;
    await cached.current();
    const asked = server.requests.length;
    clock.now += 59_999;
    const kind = wasRead ? 'ok' : 'unavailable';
    expect([(await cached.current()).kind, (await cached.refresh()).kind]).toEqual([kind, kind]);
    expect(server.requests).toHaveLength(asked);
    isThrottled = false;
    clock.now += 1;
    expect(await cached.current()).toEqual({ kind: 'ok', value: lookups });
  });

  test('the traveler of the credential is read until it is known, and then never again', async () => {
    let isDown = true;
    const { lookups: cached, reads } = await build((_, response) =>
      isDown
        ? json(response, 503, {})
        : json(response, 200, {
            data: { id: 'u0', email: 'admin@corp.example', archived: false, createdAt: 'x' },
          }),
    );
    expect((await cached.readOwnUser()).kind).toBe('unavailable');
    isDown = false;
    const [first, second] = await Promise.all([cached.readOwnUser(), cached.readOwnUser()]);
    expect(first).toEqual({
      kind: 'ok',
      value: { id: 'u0', email: 'admin@corp.example', archived: false, createdAt: 'x' },
    });
    expect(second).toBe(first);
    await cached.readOwnUser();
    expect(reads('/api/whoami')).toBe(2);
  });
});

import { openTelemetry } from '../../src/tracing/open-telemetry.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type FaultyProxy, faultyProxy } from '../fixtures/faulty-proxy.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { type ReceivedSpan, type TraceReceiver, traceReceiver } from '../fixtures/trace-receiver.ts';

const [internal, server, client] = [1, 2, 3];
const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

/** Creates a user, as part of the trace of the caller. */
async function post({ url, scimToken }: RunningService, userName: string): Promise<string> {
  const answer = await fetch(`${url}/scim/v2/Users`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scimToken}`,
      'content-type': 'application/scim+json',
      traceparent: `00-${caller.traceId}-${caller.spanId}-01`,
    },
    body: JSON.stringify({ userName, active: true }),
  });
  expect(answer.status).toBe(201);
  const { id }: { id: string } = JSON.parse(await answer.text());
  return id;
}

describe('a service that sends traces', () => {
  let receiver: TraceReceiver;
  let travel: RunningService;
  let proxy: FaultyProxy;
  let bridge: RunningService;
  let ids: string[];
  beforeAll(async () => {
    receiver = await traceReceiver();
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    travel = await startService(traced, { background: false });
    proxy = await faultyProxy(travel.url);
    const environment = { ...traced, TRAVEL_API_URL: proxy.url, TRAVEL_API_KEY: travel.travelApiKey };
    bridge = await startService(environment);
    ids = [await post(bridge, 'grace@corp.example')];
    proxy.decide(({ method }) =>
      method === 'POST' ? { status: 500, body: 'bob@corp.example is broken' } : 'pass',
    );
    ids.push(await post(bridge, 'bob@corp.example'));
    proxy.decide(() => 'pass');
    await eventually(async () => {
      const people = await bridge.people('default');
      expect(people.filter(({ state }) => state !== 'synced')).toEqual([]);
    });
    for (const path of ['/healthz', '/metrics', '/scim/v2/Users/eve@corp.example'])
      await (
        await fetch(`${bridge.url}${path}`, {
          headers: { traceparent: `00-${caller.traceId}-${caller.spanId}-00`, tracestate: 'stranger=1' },
        })
      ).text();
    ids.push(...(await bridge.people('default')).flatMap(({ travelId }) => travelId ?? []));
    // The spans that are left are sent now, and not after their usual delay.
    await bridge.close();
    await travel.close();
  });
  afterAll(async () => {
    await proxy.close();
    await receiver.close();
  });

  const named = (name: string, also: (span: ReceivedSpan) => boolean = () => true) =>
    receiver.spans().filter((span) => span.name === name && also(span));
  const childrenOf = ({ spanId }: ReceivedSpan) =>
    receiver.spans().filter(({ parentSpanId }) => parentSpanId === spanId);

  test('joins a request, its calls of the travel API and the requests there into the trace of the caller', () => {
    const [request, failed, ...others] = named('POST /scim/v2/Users');
    if (!request || !failed) throw new Error('the requests have no spans');
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      ...{ kind: server, traceId: caller.traceId, parentSpanId: caller.spanId, isFailed: false },
      service: 'jetbridge',
      attributes: {
        ...{ 'http.request.method': 'POST', 'http.route': '/scim/v2/Users' },
        ...{ 'http.response.status_code': 201, 'jetbridge.connection': 'default' },
      },
    });
    const [created] = childrenOf(request).filter(({ name }) => name === 'createTraveler');
    expect(created).toMatchObject({
      ...{ kind: client, traceId: caller.traceId, isFailed: false },
      attributes: {
        ...{ 'http.request.method': 'POST', 'http.response.status_code': 201 },
        ...{ 'jetbridge.connection': 'default', 'jetbridge.outcome': 'ok' },
      },
    });
    expect(created && childrenOf(created)).toMatchObject([
      { name: 'POST /api/users', kind: server, traceId: caller.traceId },
    ]);
    // The travel API has not carried out the other one.
    expect(childrenOf(failed).filter(({ name }) => name === 'createTraveler')).toMatchObject([
      {
        isFailed: true,
        attributes: { 'jetbridge.outcome': 'unavailable', 'http.response.status_code': 500 },
      },
    ]);
  });

  test('begins a trace for each attempt of the background and for each import', () => {
    const attempts = named('reconcile');
    expect(attempts.length).toBeGreaterThan(0);
    for (const span of [...attempts, ...named('import')])
      expect(span).toMatchObject({ kind: internal, parentSpanId: undefined });
    const [import_] = named('import');
    expect(import_).toMatchObject({
      attributes: { 'jetbridge.connection': 'default', 'jetbridge.result': 'imported' },
    });
    expect(import_ && childrenOf(import_).map(({ name }) => name)).toContain('listTravelers');
    const [last] = named('reconcile', ({ attributes }) => attributes['jetbridge.result'] === 'reconciled');
    expect(last && childrenOf(last).map(({ name }) => name)).toContain('createTraveler');
  });

  test('makes no span of a health check, of /metrics or of a poll, and one of a request that is refused', () => {
    const names = new Set(receiver.spans().map(({ name }) => name));
    expect([...names].filter((name) => /healthz|metrics|readEvents/.test(name))).toEqual([]);
    // Its traceparent does not count: it would decide that nothing is sampled, and join the trace of another request.
    const [refused, ...others] = named('GET /scim/v2/Users/:id');
    expect(others).toEqual([]);
    expect(refused).toMatchObject({
      ...{ isFailed: false, parentSpanId: undefined },
      attributes: { 'http.response.status_code': 401 },
    });
    expect(refused?.traceId).not.toBe(caller.traceId);
  });

  test('sends no personal data: no names, addresses, ids, paths or texts of errors', () => {
    const sent = receiver.bodies.join('\n');
    expect(ids.length).toBeGreaterThan(3);
    const secrets = [bridge.scimToken, travel.travelApiKey];
    // No id of a trace, which is hexadecimal, has these names in it.
    for (const text of [...ids, ...secrets, 'corp.example', 'grace', 'bob', 'broken', '127.0.0.1'])
      expect(sent).not.toContain(text);
  });
});

test.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
])('%s=%s turns traces off', async (name, value) => {
  const receiver = await traceReceiver();
  const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, [name]: value });
  await post(service, 'grace@corp.example');
  await service.close();
  await receiver.close();
  expect(receiver.bodies).toEqual([]);
});

test('work runs in a span with all that it awaits, and outside of it if it goes on longer', async () => {
  const receiver = await traceReceiver();
  const deps = { log: { warn: () => {} }, now: () => 0, wait: () => new Promise<void>(() => {}) };
  const { tracing, close } = openTelemetry({ url: `${receiver.url}/v1/traces` }, deps);
  const endSpan = (name: string) =>
    tracing.startSpan({ name, kind: 'internal' }).end({ attributes: {}, isFailed: false });
  const request = tracing.startSpan({ name: 'request', kind: 'server', isRoot: true });
  await request.run(async () => {
    await Promise.resolve();
    endSpan('child');
    tracing.runOutside(() => endSpan('loop'));
  });
  request.end({ attributes: {}, isFailed: false });
  await close();
  await receiver.close();
  const parents = new Map(receiver.spans().map(({ name, parentSpanId }) => [name, parentSpanId]));
  const [, own] = request.headers()['traceparent']?.split('-').slice(1) ?? [];
  expect(Object.fromEntries(parents)).toEqual({ request: undefined, child: own, loop: undefined });
});

describe('a collector that does not answer', () => {
  // Otherwise the SDK tries again for ten seconds.
  beforeAll(() => {
    process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '300';
  });
  afterAll(() => {
    delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
  });

  test('delays the stop for a limited time, and is in the log once', async () => {
    const receiver = await traceReceiver({ isSilent: true });
    const waits: number[] = [];
    const warnings: string[] = [];
    const { tracing, close } = openTelemetry(
      { url: `${receiver.url}/v1/traces` },
      {
        log: { warn: (_fields, text) => void warnings.push(text) },
        now: () => 0,
        wait: async (ms) => void waits.push(ms),
      },
    );
    for (const name of ['first', 'second'])
      tracing.startSpan({ name, kind: 'internal' }).end({ attributes: {}, isFailed: false });
    await close();
    expect([waits, warnings]).toEqual([[1_500], []]);
    await eventually(async () => expect(warnings).toEqual(['traces could not be sent; spans are lost']));
    await receiver.close();
    expect(receiver.spans().map(({ name }) => name)).toEqual(['first', 'second']);
  });
});

import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { eventually } from '../fixtures/eventually.ts';
import { readDocument } from '../fixtures/markdown.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { codesIn, documentsBelow, linesOf } from './documents.ts';

/** The labels of the metrics, by name, as the tables of the page have them. */
const documented = new Map(
  linesOf(readDocument('docs/operations/metrics-and-alarms.md'), 'table').flatMap(({ line }) => {
    const [, name, labels = ''] = /^\| `(jetbridge_\w+)` +\| ([\w, ]*?) +\|/.exec(line) ?? [];
    return name === undefined ? [] : [[name, labels.split(', ').filter((label) => label !== '')] as const];
  }),
);

/** What Node's metrics and Prometheus itself add. */
const foreignMetric = /^(process|nodejs)_\w+$/;
const targetLabels = ['job', 'instance'];

const rules: { groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[] } =
  parse(readDocument('deploy/grafana/jetbridge-alerts.yaml'));
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readDocument('deploy/grafana/jetbridge-dashboard.json'));

interface Selector {
  name: string;
  labels: string[];
}

/** Returns the metrics that an expression selects, with the labels of their matchers, and the labels by which it groups. */
function readExpression(text: string): { selectors: Selector[]; grouping: string[] } {
  // The variables of Grafana are no part of the language.
  const expression = text.replaceAll('$__rate_interval', '5m').replace(/\$\w+/g, 'x');
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, from, to }) => {
      const part = expression.slice(from, to);
      if (name === '⚠') throw new Error(`it cannot be parsed: ${text} at ${part}`);
      if (name === 'VectorSelector') selectors.push({ name: '', labels: [] });
      const last = selectors.at(-1);
      if (name === 'Identifier' && last) last.name = part;
      if (name === 'UnquotedLabelMatcher' && last) last.labels.push(/^\w+/.exec(part)?.[0] ?? '');
      if (name === 'GroupingLabels') grouping.push(...(part.match(/\w+/g) ?? []));
    },
  });
  return { selectors, grouping };
}

/** Returns the metric of a series, which for a histogram has an ending. */
function metricOf(name: string): string {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return documented.has(name) ? name : base;
}

/** Returns what an expression names and no document has. */
function unknownIn(expression: string): string[] {
  const { selectors, grouping } = readExpression(expression);
  const own = selectors.filter(({ name }) => !foreignMetric.test(name));
  const known = ['le', ...targetLabels, ...own.flatMap(({ name }) => documented.get(metricOf(name)) ?? [])];
  return [
    ...own.filter(({ name }) => !documented.has(metricOf(name))).map(({ name }) => name),
    ...own.flatMap(({ name, labels }) =>
      labels
        .filter((label) => !documented.get(metricOf(name))?.includes(label))
        .map((label) => `${name}{${label}}`),
    ),
    ...grouping.filter((label) => !known.includes(label)),
  ];
}

describe('/metrics of a running service', () => {
  let service: RunningService;
  let text: string;
  beforeAll(async () => {
    service = await startService();
    const headers = { authorization: `Bearer ${service.scimToken}`, 'content-type': 'application/scim+json' };
    const post = (user: object) =>
      fetch(`${service.url}/scim/v2/Users`, { method: 'POST', headers, body: JSON.stringify(user) });
    expect((await post({ userName: 'ada@corp.example', active: true })).status).toBe(201);
    // Without an address there is no traveler, and there is a finding.
    expect((await post({ userName: 'bob', active: true })).status).toBe(201);
    await eventually(async () => {
      text = await (await fetch(`${service.url}/metrics`)).text();
      expect(text).toMatch(/^jetbridge_import_travelers\{/m);
      expect(text).toMatch(/^jetbridge_feed_position_age_seconds\{/m);
    });
  });
  afterAll(() => service.close());

  const served = () => [...text.matchAll(/^# TYPE (jetbridge_\w+) /gm)].map(([, name = '']) => name);
  const samples = () =>
    [...text.matchAll(/^(jetbridge_\w+?)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => ({
      metric: metricOf(name),
      labels: [...labels.matchAll(/(\w+)="/g)]
        .map(([, label = '']) => label)
        .filter((label) => label !== 'le'),
    }));

  test('has each metric of the page, and no other', () => {
    const ofPostgres = ['jetbridge_database_pool_connections', 'jetbridge_database_pool_waiting'];
    const expected = [...documented.keys()].filter(
      (name) => service.settings.postgres !== undefined || !ofPostgres.includes(name),
    );
    expect(served().toSorted()).toEqual(expected.toSorted());
  });

  test('has the labels of the page', () => {
    for (const { metric, labels } of samples())
      expect([metric, labels.toSorted()]).toEqual([metric, (documented.get(metric) ?? []).toSorted()]);
    // The others have no series while nothing is wrong.
    const withSeries = new Set(samples().map(({ metric }) => metric));
    expect(served().filter((name) => !withSeries.has(name))).toEqual([
      'jetbridge_out_of_scope',
      'jetbridge_held',
      'jetbridge_import_maximum',
      'jetbridge_foreign_values',
      'jetbridge_lookup_stale',
      'jetbridge_conditions',
      'jetbridge_unconfirmed',
    ]);
  });

  test('follows the naming rules of Prometheus', () => {
    const typed = [...text.matchAll(/^# TYPE (jetbridge_\w+) (\w+)$/gm)];
    for (const [, name = '', type] of typed) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/);
    }
  });

  test('names no person, and no id of one', () => {
    expect(text).toContain('route="/scim/v2/Users",method="POST",status="201"');
    expect(text).not.toMatch(/ada|bob|corp\.example/);
  });
});

test('an expression with unknown names is found', () => {
  expect(
    unknownIn('sum by (way, part) (rate(jetbridge_http_requests_total{area="scim",code="1"}[5m]))'),
  ).toEqual(['jetbridge_http_requests_total{code}', 'way', 'part']);
  expect(unknownIn('jetbridge_nothing > 1')).toEqual(['jetbridge_nothing']);
  expect(() => unknownIn('sum by (area (jetbridge_held)')).toThrow('cannot be parsed');
});

test('the dashboard names only metrics and labels that exist', () => {
  const expressions = [...JSON.stringify(dashboard).matchAll(/"expr":("(?:[^"\\]|\\.)*")/g)].map(
    ([, json = '']): string => JSON.parse(json),
  );
  expect(expressions.length).toBeGreaterThan(30);
  expect(expressions.flatMap(unknownIn)).toEqual([]);
  // A legend shows only labels by which its expression groups, or those of the metric.
  const queries: string[] = dashboard.templating.list.map(
    ({ query }: { query: unknown }) => Object(query).query,
  );
  for (const query of queries.filter((one) => one !== undefined)) {
    const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
    expect(documented.get(name)).toContain(label);
  }
});

test('every panel of the dashboard asks the data source of the variable', () => {
  const panels: { type: string; datasource?: object; targets?: { datasource: object }[] }[] =
    dashboard.panels;
  for (const { datasource, targets = [] } of panels.filter(({ type }) => type !== 'row'))
    for (const asked of [datasource, ...targets.map((target) => target.datasource)])
      expect(asked).toEqual({ type: 'prometheus', uid: expect.stringMatching(/^\$\{datasource\}$/) });
});

test('the alert rules name only metrics and labels that exist, in their texts too', () => {
  expect(alerts.length).toBeGreaterThan(20);
  for (const { alert, expr, annotations } of alerts) {
    expect([alert, unknownIn(expr)]).toEqual([alert, []]);
    const { selectors, grouping } = readExpression(expr);
    const shown = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    const labels =
      grouping.length > 0 ? grouping : selectors.flatMap(({ name }) => documented.get(name) ?? []);
    expect([alert, shown.filter((label) => !labels.includes(label))]).toEqual([alert, []]);
  }
});

test('each alarm of the page has a rule, and each rule an alarm', () => {
  const [, section = ''] = readDocument('docs/operations/metrics-and-alarms.md').split('\n## Alarms\n');
  const alarms = section.split('\n## ')[0]?.split('\n- **').slice(1) ?? [];
  const namesIn = (text: string) => text.match(/\b(jetbridge|process)_\w+/g) ?? [];
  const ofAlarms = alarms.map((alarm) => namesIn(alarm)[0] ?? '');
  const ofRules = alerts.map(({ expr }) => namesIn(expr)[0] ?? '');
  expect(new Set(ofRules)).toEqual(new Set(ofAlarms));
});

test('documents name only metrics that exist', () => {
  const named = documentsBelow('docs').flatMap((file) =>
    codesIn(readDocument(file)).flatMap((code) => code.match(/^jetbridge_[a-z_]+/g) ?? []),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((name) => !documented.has(metricOf(name)))).toEqual([]);
});

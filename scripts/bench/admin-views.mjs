import { connectionOf, personId } from './admin-rows.mjs';

const text = JSON.stringify({ scimUserMapping: [] });
const [synced, held, mailbox] = [35, 26, 'ada.lovelace.0@corp.example'].map((one) =>
  typeof one === 'number' ? `${connectionOf(one)}/${personId(one)}` : one,
);

/**
 * The requests of each view of the admin page, as the page sends them. `pages`: so many pages are read before the measured one, by the
 * member `next` of their answers; `by` is the parameter that takes it.
 */
export const VIEWS = [
  view('Overview', '/', ['overview', 'activity'], { isCounted: true }),
  view('People', '/people/counts', ['']),
  view('People', '/people/findings', ['', '?finding=drift', '?finding=rareFinding']),
  view('People', '/people/selection?finding=', ['drift', 'rareFinding']),
  view('People', '/people?limit=200', [
    '',
    ...['&connection=workday', '&archived=true', '&userName=ada', '&userName=nobody'],
    ...['synced', 'dirty', 'pending', 'refused', 'held'].map((state) => `&state=${state}`),
    ...['drift', 'rareFinding', 'noSuchFinding'].map((finding) => `&finding=${finding}`),
    ...['&state=pending&finding=drift', '&state=synced&finding=rareFinding', '&archived=true&state=held'],
    ...['&archived=true&finding=rareFinding', '&userName=z&state=dirty', '&connection=workday&state=refused'],
  ]),
  view(
    'People, after 30 pages',
    '/people?limit=200',
    ['', '&state=synced', '&archived=true', '&state=dirty'],
    {
      pages: 30,
    },
  ),
  view('Search', '/people/search?text=', ['a', 'grace', mailbox, 'E77', 'nobody']),
  view('Person', `/people/`, [synced, held, `${held}/hold`]),
  view('Mappings', '/mappings', [
    '',
    '/okta',
    '/okta/names',
    '/okta/versions?limit=200',
    '/okta/versions/100',
  ]),
  { ...view('Mappings', '/mappings/okta', ['/check']), body: { text } },
  {
    ...view('Mappings', '/mappings/okta', ['/preview-person']),
    body: { text, person: synced.split('/')[1] },
  },
  view('Traffic', '/traffic', ['']),
  view('Traffic', '/exchanges?limit=100', [
    ...['', '&connection=workday', '&direction=travel', '&method=GET', '&method=DELETE', '&status=2xx'],
    ...['&status=3xx', '&status=4xx', '&status=5xx', '&status=failed', '&path=/scim/v2/Groups'],
    ...[`&person=${synced.split('/')[1]}`, '&person=nobody', '&person=nobody&method=GET'],
    ...[hoursAgo('since', 1), `${hoursAgo('since', 101)}${hoursAgo('until', 100)}`, hoursAgo('until', 160)],
  ]),
  view('Traffic, after 20 pages', '/exchanges?limit=100', ['', '&method=DELETE', '&connection=workday'], {
    ...{ pages: 20, by: 'before' },
  }),
  view('Traffic, live', '/exchanges?limit=200&after=RECENT', ['', '&status=failed', '&connection=workday']),
  {
    ...view('Traffic', '/scenarios', ['']),
    body: { connection: 'okta', person: synced.split('/')[1], since: timeBefore(200) },
  },
  view('Exchange', '/exchanges/', ['NEWEST', 'MIDDLE']),
  view('Held', '/holds', ['', '/okta/safetyValve?limit=200', '/okta/guarded?limit=200']),
  view('Held, after 5 pages', '/holds/okta/safetyValve?limit=200', [''], { pages: 5 }),
  view('Connect', '/', ['connections', 'tokens', 'oauth-clients', 'recent-attempts?connection=okta']),
  view('Travel service', '/travel', ['', '/api-keys', '/webhooks', '/trips', '/invoices', '/sample-data']),
  view('Travel service', '/travel/webhooks/webhook0/deliveries?limit=50', [
    '',
    '&status=failed',
    '&status=pending',
  ]),
  view('Travel service', '/exchanges?direction=api&limit=50', [
    '',
    '&status=failed',
    '&pathBelow=/api/nothing',
  ]),
  view('Travel service', '/travel/events?limit=50', ['']),
  view('Travel service, after 30 pages', '/travel/events?limit=50', [''], { pages: 30 }),
  view('Audit', '/audit?limit=100', [
    ...['', '&actor=ada', '&actor=nobody', '&action=endSession', '&action=noSuch', hoursAgo('since', 1)],
    ...[hoursAgo('until', 2_400), `${hoursAgo('since', 2_400)}${hoursAgo('until', 2_399)}`],
  ]),
  view('Audit', '/audit/choices', ['']),
  view('Audit, after 30 pages', '/audit?limit=100', ['', '&actor=admin%203'], { pages: 30, by: 'before' }),
  view('Access', '/', ['sessions', 'admin-tokens', 'session', 'sign-in', 'openapi.json']),
];

function view(name, path, endings, others = {}) {
  return { name, paths: endings.map((ending) => path + ending), pages: 0, by: 'after', ...others };
}

function hoursAgo(name, hours) {
  return `&${name}=${timeBefore(hours)}`;
}

function timeBefore(hours) {
  return new Date(Date.now() - hours * 3_600_000).toISOString();
}

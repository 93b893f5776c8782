import { deliverMail } from '../../src/alerts/email-channel.ts';
import { weeklyMail } from '../../src/alerts/weekly-mail.ts';
import type { Identity } from '../../src/model/identity.ts';
import { findConditions } from '../../src/provisioning/conditions/conditions.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { reportedConditions } from '../../src/store/queues/reported-conditions.ts';
import { weeklyMails } from '../../src/store/queues/weekly-mails.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type MailServer, mailServer } from '../fixtures/mail-server.ts';
import { person } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { soundFacts, summaryOf } from '../provisioning/conditions/facts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const wednesday = Date.UTC(2026, 10, 25, 12);
/** The time at which the week of that Wednesday is told. */
const monday = Date.UTC(2026, 10, 30, 6);

const databases = temporaryDatabases('jetbridge-weekly-');
let database: Database;
let time: Clock;
let server: MailServer;
let logged: object[];
/** The replicas that run, and those of their loops that wait. */
let running: { stop(): Promise<void> }[];
let waiting: number;
beforeEach(async () => {
  database = await databases.open();
  for (const id of ['okta', 'entra']) await ensureConnection(database, { id, account: 'travel' });
  time = clock(wednesday);
  server = await mailServer();
  logged = [];
  running = [];
  waiting = 0;
});
afterEach(async () => {
  await stop();
  await server.close();
});

/** Starts the loop of one replica, and waits until it has looked. */
async function start(): Promise<void> {
  const summaries = [
    summaryOf('okta', { states: { held: 2 }, findings: new Map([['costCenterUnknown', 1_204]]) }),
    summaryOf('entra', {
      findings: new Map([
        ['costCenterUnknown', 1],
        ['shadowCreate', 9],
        ['noEmail', 3],
      ]),
    }),
  ];
  const facts = { ...soundFacts, summaries };
  const to = ['it@corp.example'];
  running.push(
    weeklyMail({
      conditions: { read: async () => ({ conditions: findConditions(facts), facts }) },
      weeklyMails: weeklyMails(database),
      page: 'https://bridge.example.com/admin',
      send: (mail, signal) =>
        deliverMail(
          { smtpUrl: `smtp://127.0.0.1:${server.port}`, from: 'jetbridge@corp.example', to },
          mail,
          signal,
        ),
      runtime: {
        now: time.now,
        wait: async (ms, signal) => {
          waiting += 1;
          await time.wait(ms, signal);
        },
        log: { info: () => {}, warn: (fields) => void logged.push(fields), error: () => {} },
      },
    }),
  );
  await allWait();
}

async function stop(): Promise<void> {
  for (const replica of running.splice(0)) await replica.stop();
  waiting = 0;
}

function allWait(): Promise<void> {
  return eventually(async () => {
    if (waiting < running.length) throw new Error('a replica is at work');
  });
}

async function advanceTo(at: number): Promise<void> {
  // Every loop waits for a minute, and all that follow are longer.
  waiting = 0;
  time.advance(at - time.now());
  await allWait();
}

async function add(id: string, more: Partial<Identity> = {}): Promise<void> {
  const identity = person(id, { createdAt: time.now(), lastModified: time.now(), ...more });
  const { identities } = provisioningStore(database);
  expect(await identities.commit(identity.connection, [{ kind: 'insert', identity }])).toBe('done');
}

const left = (at: number) => ({ departure: { at, contacts: [] } });
const inactive = (id: string) => ({ ...person(id).desired, active: false });

test('on Monday a mail tells the joiners, the leavers, what is held, the findings and the uptime of the week', async () => {
  await start();
  const before = wednesday - 4 * DAY_MS;
  await add('joined');
  await add('joined in entra', { connection: 'entra' });
  await add('imported', { claimed: false });
  await add('was there before', { createdAt: before });
  const of = (at: number) => ({ createdAt: before, lastModified: at, origin: left(at) });
  await add('left', { ...of(wednesday), desired: inactive('left') });
  await add('was deleted', { ...of(wednesday), deletedAt: wednesday });
  await add('left before', { ...of(before), lastModified: wednesday, desired: inactive('left before') });
  const successor = { row: 1, connection: 'entra', id: 'x' } as const;
  await add('moved', {
    ...of(wednesday),
    desired: inactive('moved'),
    origin: { ...left(wednesday), successor },
  });
  const reported = reportedConditions(database);
  const outage = { kind: 'travelOutage', connection: 'okta', since: before } as const;
  await reported.see(outage, 0);
  await reported.clear({ ...outage, subject: '' }, Date.UTC(2026, 10, 23, 0, 10));
  await advanceTo(monday - 1);
  expect(server.mails).toEqual([]);
  await advanceTo(monday + 60_000);
  const [mail] = server.mails;
  expect(mail?.to).toEqual(['it@corp.example']);
  const [, text = ''] =
    mail?.text
      .replaceAll('\r\n', '\n')
      .replaceAll('=\n', '')
      .split(/\n\n(.*)/s) ?? [];
  expect(mail?.text).toMatch(/^Subject: Jetbridge: the week 2026-11-23 to 2026-11-29\r$/m);
  expect(text.trim().split('\n')).toEqual([
    'The week 2026-11-23 to 2026-11-29 (UTC).',
    '',
    expect.stringMatching(/^4,002 of 4,004 people are in step/),
    '',
    'Joined: 2',
    'Left: 2',
    'Held now: 2',
    '',
    'Travel API usable:',
    '- entra: 100 %',
    '- okta: 99.9 %',
    '',
    'Findings now:',
    '- cost center unknown: 1,205',
    '- no email: 3',
    '',
    'https://bridge.example.com/admin',
  ]);
});

test('one of two replicas sends it, and after a restart none sends it again', async () => {
  await start();
  await start();
  await advanceTo(monday);
  await advanceTo(monday + HOUR_MS);
  await stop();
  await start();
  await advanceTo(monday + 6 * DAY_MS);
  expect(server.mails).toHaveLength(1);
  await advanceTo(monday + 7 * DAY_MS);
  expect(server.mails).toHaveLength(2);
});

test('a week in which no server ran at its end is told at the next start, and a mail that fails is sent again as the same one', async () => {
  await start();
  await stop();
  time.advance(monday + 2 * DAY_MS - time.now());
  const { port } = server;
  await server.close();
  await start();
  expect(logged).toEqual([{ failure: 'the connection was refused' }]);
  server = await mailServer();
  expect(server.port).not.toBe(port);
  const mails = database.db.selectFrom('weekly_mail').select('message_id').orderBy('week', 'desc');
  const { message_id } = await mails.executeTakeFirstOrThrow();
  await advanceTo(time.now() + 9 * 60_000);
  expect(server.mails).toEqual([]);
  await advanceTo(time.now() + 60_000);
  expect(server.mails.map(({ text }) => text)).toEqual([
    expect.stringContaining(`Message-ID: <${message_id}@corp.example>`),
  ]);
});

test('the first week of a service is not told, because nothing is known of it', async () => {
  time.advance(monday - time.now());
  await start();
  await advanceTo(monday + DAY_MS);
  expect(server.mails).toEqual([]);
});

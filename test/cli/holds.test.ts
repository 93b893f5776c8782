import { userInfo } from 'node:os';
import { ensureConnection } from '../../src/store/connections.ts';
import { auditLog } from '../../src/store/credentials/audit-log.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { NOW, person } from '../fixtures/store.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const inactive = (id: string) => ({ desired: { ...person(id).desired, active: false } });
const user = userInfo().username;
const valve = { state: 'held', hold: { cause: 'safetyValve', since: NOW } } as const;

let folder: ReturnType<typeof temporaryFolder>;
let settings: ReturnType<typeof writeSettingsFile>;
let database: Database;
let store: ReturnType<typeof provisioningStore>;
let environment: Record<string, string>;
let questions: string[];
beforeEach(async () => {
  folder = temporaryFolder();
  settings = writeSettingsFile({}, { okta: { policies: { deprovision: 'delete' } }, entra: {} });
  database = await openTestDatabase(folder.path, false);
  for (const id of ['okta', 'entra']) await ensureConnection(database, { id, account: 'embedded' });
  store = provisioningStore(database);
  environment = { JETBRIDGE_DATA: folder.path, JETBRIDGE_CONFIG: settings.path };
  questions = [];
});
afterEach(async () => {
  await database.close();
  settings.remove();
  folder.remove();
});

/** Creates held changes: two deactivated people, a deleted one, an administrator, and one of the other connection. */
async function fill(): Promise<void> {
  const people = [
    person('ada', { ...inactive('ada'), ...valve }),
    person('bob', { ...inactive('bob'), ...valve, version: 4 }),
    person('cyd', { ...inactive('cyd'), ...valve, deletedAt: NOW }),
    person('dan', { state: 'held', hold: { cause: 'guarded', since: NOW } }),
    person('eva', { connection: 'entra', ...inactive('eva'), ...valve, deletedAt: NOW }),
    person('free', { state: 'synced' }),
  ];
  for (const identity of people)
    await store.identities.commit(identity.connection, [{ kind: 'insert', identity }]);
}

async function answersOf(...ids: string[]): Promise<(string | undefined)[]> {
  const found = await Promise.all(ids.map((id) => store.identities.findById('okta', id)));
  return found.map((one) => one?.decision?.answer);
}

const holds = (...args: string[]) => runCommandLine(['holds', ...args], environment);

/** Runs the command on a terminal that gives this answer. */
const answering = (answer: string, ...args: string[]) =>
  runCommandLine(['holds', ...args], environment, {
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  });

/** The objects of JSON Lines. */
const objectsIn = (out: string) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test('the list groups by connection and cause, with numbers and examples', async () => {
  await fill();
  const { code, out } = await holds('list');
  expect(code).toBe(0);
  expect(out).toMatch(/okta +│ safetyValve +│ 3 people +│ 2025-06-15 15:06 +│ ada@.*, bob@.*, cyd@/);
  expect(out).toMatch(/okta +│ guarded +│ 1 person /);
  expect(out).toMatch(/entra +│ safetyValve +│ 1 person /);
});

test('the list as CSV has a record for each person of the chosen cause and connection', async () => {
  await fill();
  const { out } = await holds('list', '--csv', '--cause', 'safetyValve');
  const [names, ...people] = out.trimEnd().split('\r\n');
  expect(names).toBe('connection,cause,since,id,userName,wants,version');
  const since = new Date(NOW).toISOString();
  expect(people).toEqual([
    `entra,safetyValve,${since},eva,eva@corp.example,delete,1`,
    `okta,safetyValve,${since},ada,ada@corp.example,deactivate,1`,
    `okta,safetyValve,${since},bob,bob@corp.example,deactivate,4`,
    `okta,safetyValve,${since},cyd,cyd@corp.example,delete,1`,
  ]);
  expect(await holds('list', '--csv', '--connection', 'entra', '--cause', 'guarded')).toEqual({
    ...{ code: 0, out: `${names}\r\n` },
    err: 'Nothing is held.\n',
  });
});

test('the list as JSON has a line for each person of the chosen cause and connection', async () => {
  await fill();
  const { out } = await holds('list', '--json', '--cause', 'safetyValve', '--connection', 'okta');
  const since = '2025-06-15T15:06:40.000Z';
  const common = { connection: 'okta', cause: 'safetyValve', since };
  const archived = { ...common, wants: 'deactivate', effect: 'archived' };
  expect(objectsIn(out)).toEqual([
    { ...archived, id: 'ada', userName: 'ada@corp.example', name: 'ada Doe', version: 1 },
    { ...archived, id: 'bob', userName: 'bob@corp.example', name: 'bob Doe', version: 4 },
    {
      ...common,
      id: 'cyd',
      userName: 'cyd@corp.example',
      name: 'cyd Doe',
      version: 1,
      wants: 'delete',
      effect: 'deleted',
    },
  ]);
});

test('an empty list is reported', async () => {
  expect(await holds('list')).toEqual({ code: 0, out: '', err: 'Nothing is held.\n' });
  expect(await holds('approve', '--all', '--yes')).toEqual({
    ...{ code: 1, out: '' },
    err: 'Nothing of that kind is held.\n',
  });
});

test('a person is shown by id or userName, with the reason and the effects and commands of both decisions', async () => {
  await fill();
  expect((await holds('show', 'BOB@corp.example')).out.split('\n')).toEqual([
    'bob@corp.example (bob), connection okta',
    '  held       since 2025-06-15 15:06 (UTC), cause safetyValve',
    '  why        more people left within 60 minutes than 20 or 5 % of the active ones, or the departure was discarded before or comes from a backup',
    '  caused by  the identity provider of connection okta',
    '  approve    the traveler will be archived: npx jetbridge holds approve bob',
    '  discard    the traveler stays active until the IdP deactivates or deletes the person again: npx jetbridge holds discard bob',
    '',
  ]);
  expect((await holds('show', 'cyd')).out).toContain(
    'approve    the traveler will be deleted: npx jetbridge holds approve cyd',
  );
  expect((await holds('show', 'dan')).out).toMatch(/why +the traveler administers the travel service/);
  expect(JSON.parse((await holds('show', 'bob', '--json')).out)).toMatchObject({
    ...{
      connection: 'okta',
      id: 'bob',
      userName: 'bob@corp.example',
      name: 'bob Doe',
      version: 4,
      cause: 'safetyValve',
    },
    ...{ since: '2025-06-15T15:06:40.000Z', wants: 'deactivate', effect: 'archived' },
    ifApproved: 'the traveler will be archived',
  });
});

test.each([
  [['show', 'nobody'], /^Nobody has the userName, email address, SCIM id or travel user id nobody\./],
  [['show', 'free'], 'free is not held.\n'],
  [
    ['show', 'ada', '--connection', 'acme'],
    /There is no connection acme in the database; it has entra, okta\.\n$/,
  ],
  [['show', 'ada', '--connection', 'entra'], /^Nobody has .* Searched, deleted people included: entra\./],
  [['approve', 'ada', 'nobody@corp.example', '--yes'], /^Nobody has .* nobody@corp\.example\./],
  [['approve', 'ada', 'free', '--yes'], 'free is not held.\n'],
  [['approve', '--all', '--connection', 'acme', '--yes'], /Nothing of that kind|There is no connection acme/],
])('%j ends with 1, and nothing is decided', async (args, text) => {
  await fill();
  expect(await holds(...args)).toEqual({
    ...{ code: 1, out: '' },
    err: typeof text === 'string' ? text : expect.stringMatching(text),
  });
  expect(await answersOf('ada')).toEqual([undefined]);
});

test('people are approved or discarded by name', async () => {
  await fill();
  expect(await holds('approve', 'ada', 'cyd@corp.example', '--yes')).toEqual({
    ...{ code: 0, out: 'okta, safetyValve: Approved for 2 people.\n' },
    err: expect.stringMatching(
      /^okta, safetyValve: 1 traveler will be archived and loses access; 1 traveler will be deleted\.\n/,
    ),
  });
  expect((await holds('discard', 'bob', '--yes')).out).toBe('okta, safetyValve: Discarded for 1 person.\n');
  expect(await answersOf('ada', 'bob', 'cyd', 'dan')).toEqual([
    'approved',
    'discarded',
    'approved',
    undefined,
  ]);
  expect((await holds('show', 'bob')).out).toMatch(/answered +discarded/);
  expect(await holds('approve', 'bob', '--yes')).toMatchObject({
    ...{ code: 1, out: '' },
    err: expect.stringContaining('None of these people waits for this decision any more'),
  });
});

test('all people of a cause are decided after the number is confirmed', async () => {
  await fill();
  const chosen = ['approve', '--cause', 'safetyValve', '--connection', 'okta'];
  const facts =
    'okta, safetyValve: 2 travelers will be archived and lose access; 1 traveler will be deleted.\n';
  expect(await holds(...chosen)).toMatchObject({ code: 2, err: expect.stringContaining('give --yes') });
  expect(await answering('', ...chosen)).toEqual({
    ...{ code: 1, out: '' },
    err: `${facts}Nothing was changed.\n`,
  });
  expect(await answersOf('ada')).toEqual([undefined]);
  expect((await answering('y', ...chosen)).code).toBe(0);
  expect(questions).toEqual(['Approve? [y/N] ', 'Approve? [y/N] ']);
  expect(await answersOf('ada', 'bob', 'cyd', 'dan')).toEqual([
    'approved',
    'approved',
    'approved',
    undefined,
  ]);
  expect(await store.holds.findHeldPeople({ limit: 9 })).toHaveLength(2);
});

test('a group that has grown after the question is not decided, and the others are', async () => {
  await fill();
  const late = person('late', { ...inactive('late'), ...valve });
  const ask = async () => {
    await store.identities.commit('okta', [{ kind: 'insert', identity: late }]);
    return 'yes';
  };
  const { code, out, err } = await runCommandLine(['holds', 'approve', '--all'], environment, { ask });
  expect([code, out.split('\n').toSorted()]).toEqual([
    1,
    ['', 'entra, safetyValve: Approved for 1 person.', 'okta, guarded: Approved for 1 person.'],
  ]);
  expect(err).toContain('okta, safetyValve: 4 people wait by now, not 3. Nothing was decided; look again.\n');
  expect(await answersOf('ada', 'late', 'dan')).toEqual([undefined, undefined, 'approved']);
});

test('--all decides everything', async () => {
  await fill();
  const { code, out } = await holds('approve', '--all', '--yes', '--json');
  expect(code).toBe(0);
  expect(objectsIn(out)).toContainEqual({
    ...{ connection: 'okta', cause: 'safetyValve', answer: 'approved' },
    ...{ decided: 3, skipped: 0, decision: expect.any(Number) },
  });
  expect(await store.holds.countHolds()).toEqual([]);
});

test('a decision that is being carried out is listed with its progress', async () => {
  await fill();
  await holds('approve', 'ada', 'bob', '--yes');
  expect((await holds('list')).out).toContain(
    `\nokta, safetyValve: approved by command line: ${user}. 0 of 2 people are done so far.\n`,
  );
});

test('a decision is in the audit log for each connection and cause, with the user of the operating system and the people', async () => {
  await fill();
  await holds('approve', '--all', '--yes');
  const entries = await auditLog(database).list({ limit: 9, action: 'decideHolds' });
  expect(entries.map(({ actor, actorKind, status }) => [actor, actorKind, status])).toEqual(
    Array.from({ length: 3 }, () => [`command line: ${user}`, 'command', 200]),
  );
  expect(entries.map(({ details }) => details)).toEqual(
    expect.arrayContaining([
      {
        ...{
          connection: 'okta',
          cause: 'safetyValve',
          answer: 'approved',
          asked: 3,
          skipped: 0,
        },
        ...{ people: ['ada', 'bob', 'cyd'], decided: 3, decision: expect.any(Number) },
      },
    ]),
  );
});

test('a connection that no server has been started with holds nothing', async () => {
  const more = writeSettingsFile({}, { okta: {}, entra: {}, late: {} });
  const other = { JETBRIDGE_DATA: folder.path, JETBRIDGE_CONFIG: more.path };
  for (const args of [
    ['show', 'ada'],
    ['approve', 'ada', '--yes'],
    ['approve', '--cause', 'guarded', '--yes'],
  ])
    expect((await runCommandLine(['holds', ...args], other)).code).toBe(1);
  more.remove();
});

import { showAudit } from '../../src/cli/audit.ts';
import { showFindingValues } from '../../src/cli/people/finding-values.ts';
import { type PeopleFlags, showPeople } from '../../src/cli/people/people.ts';
import { reconcileSelected } from '../../src/cli/people/reconcile-people.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { type RecordedShell, recordedShell } from '../fixtures/shell.ts';

let service: RunningService;
let shell: RecordedShell;
let idp: ScimClient;
let ids: string[];
beforeAll(async () => {
  service = await startService();
  idp = scimClient(service.url, service.scimToken);
  shell = await recordedShell({ JETBRIDGE_DATA: service.data });
  // The table has the admin of the travel service, too, once the import of the start has ended.
  await eventually(async () => expect((await list({})).join()).toMatch(/│ default +│/));
  ids = [
    await provision({ userName: 'ada@corp.example', displayName: 'Ada "A." King, B.Sc.' }),
    await provision({ userName: 'bob' }),
    await provision({ userName: '=cmd()' }),
  ];
});
afterAll(() => service.close());
beforeEach(async () => {
  shell = await recordedShell({ JETBRIDGE_DATA: service.data });
});

async function provision(user: { userName: string } & Record<string, unknown>): Promise<string> {
  const { status, body } = await idp.send('POST', '/Users', { active: true, ...user });
  expect(status).toBe(201);
  return body.id;
}

/** Runs the command and returns the lines of its standard output. */
async function list(flags: PeopleFlags): Promise<string[]> {
  expect(await showPeople(shell, flags)).toBe(0);
  return shell.out.splice(0).join('\n').split('\n');
}

test('the table has state, traveler and findings, beside a running server', async () => {
  const table = (await list({})).join('\n');
  expect(table).toMatch(/ada@corp\.example +│ Ada "A\." King, B\.Sc\. +│ synced +│ yes +│ - /);
  expect(table).toMatch(/bob +│ - +│ pending +│ none +│ emailInvalid, noEmail +│ 20/);
  expect(table).toMatch(/│ default +│/);
  expect(shell.err).toEqual([
    '2 of 4 people are in step with the travel service; 2 lack data.',
    '"npx jetbridge explain PERSON" tells why.',
  ]);
});

test('the table is not wider than the terminal', async () => {
  shell.columns = 116;
  const lines = await list({});
  expect(Math.max(...lines.map((line) => line.length))).toBe(116);
  shell.columns = 80;
  const paragraphs = await list({});
  expect(paragraphs).toContain('bob');
  expect(Math.max(...paragraphs.map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('people are selected by state, finding and a part of a name', async () => {
  const userNames = async (flags: PeopleFlags) =>
    (await list({ ...flags, format: 'json' })).filter(Boolean).map((line) => JSON.parse(line).userName);
  expect(await userNames({ state: 'pending' })).toEqual(['=cmd()', 'bob']);
  expect(await userNames({ search: '" KING' })).toEqual(['ada@corp.example']);
  expect(await userNames({ finding: 'noEmail', connection: 'default' })).toEqual(['=cmd()', 'bob']);
  expect(await userNames({ state: 'pending', limit: 1 })).toEqual(['=cmd()']);
  expect(shell.err.splice(0)).toEqual(['These are the first 1; --limit shows more.']);
  expect(await userNames({ state: 'pending', limit: 2 })).toHaveLength(2);
  expect(shell.err).toEqual([]);
  expect(await userNames({ archived: true })).toEqual([]);
  expect(shell.err).toEqual(['There are no such people.']);
});

test('CSV has a header and a record for each person, and no cell that a spreadsheet executes', async () => {
  const lines = await list({ format: 'csv' });
  expect(lines[0]).toBe(
    'connection,id,userName,name,state,hold,travelUserId,active,deleted,findings,lastChange,nextAttempt\r',
  );
  expect(lines[1]).toMatch(
    new RegExp(`^default,${ids[2]},'=cmd\\(\\),,pending,,,true,false,emailInvalid noEmail,20.*Z,\r$`),
  );
  expect(lines[2]).toMatch(
    new RegExp(`^default,${ids[0]},ada@corp\\.example,"Ada ""A\\."" King, B\\.Sc\\.",synced,,`),
  );
});

test('people are counted by the values of their findings, as a table, CSV and JSON', async () => {
  const show = async (flags: Parameters<typeof showFindingValues>[1]) => {
    expect(await showFindingValues(shell, flags)).toBe(0);
    return shell.out.splice(0).join('\n');
  };
  expect(await show({ finding: 'emailInvalid' })).toMatch(
    /people +│ finding +│ field +│ value +│ e\.g\. +│ connection.*│ 1 +│ emailInvalid +│ email +│ =cmd\(\) +│ =cmd\(\) /s,
  );
  expect(shell.err.splice(0)[0]).toContain('--finding FINDING --field FIELD --value VALUE');
  const csv = await show({ finding: 'noEmail', csv: true });
  expect(csv).toBe(
    [
      'connection,finding,field,value,otherValues,people,exampleId,exampleUserName\r',
      `default,noEmail,email,,false,2,${ids[2]},'=cmd()\r`,
    ].join('\n'),
  );
  const [json = ''] = (await show({ finding: 'emailInvalid', json: true })).split('\n');
  expect(JSON.parse(json)).toMatchObject({
    code: 'emailInvalid',
    field: 'email',
    value: '=cmd()',
    people: 1,
  });
  await show({ finding: 'drift' });
  expect(shell.err).toEqual(['Nobody has such a finding.']);
});

test('people are selected by the field and value of a finding', async () => {
  const lines = await list({ finding: 'emailInvalid', field: 'email', value: 'bob', format: 'json' });
  expect(lines.map((line) => JSON.parse(line).userName)).toEqual(['bob']);
});

test('people are reconciled after a confirmation that states their number, and the audit log says who', async () => {
  const revision = async () =>
    (await service.people('default')).find(({ id }) => id === ids[1])?.revision ?? 0;
  const before = await revision();
  const questions: string[] = [];
  const asking = (answer: string): RecordedShell => ({
    ...shell,
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  });
  const bob = { connection: 'default', finding: 'emailInvalid', value: 'bob' };
  expect(await reconcileSelected(asking('n'), bob)).toBe(1);
  expect([questions, shell.err.splice(0)]).toEqual([
    ['Reconcile 1 person of connection default? [y/N] '],
    ['Nothing was changed.'],
  ]);
  expect(await revision()).toBe(before);
  expect(await reconcileSelected(shell, { ...bob, yes: true })).toBe(0);
  expect(shell.out.splice(0)).toEqual(['1 person is due now']);
  expect(await revision()).toBeGreaterThan(before);
  expect(await showAudit(shell, { action: 'reconcilePeople', limit: 1, json: true })).toBe(0);
  expect(JSON.parse(shell.out.splice(0)[0] ?? '')).toMatchObject({
    ...{ actorKind: 'command', status: 200, details: { ...bob, people: 1 } },
  });
  expect(await reconcileSelected(shell, { ...bob, value: 'eve', yes: true })).toBe(1);
  expect(shell.err).toEqual(['There are no such people.']);
});

test('reading ends when the reader of the output has ended', async () => {
  shell.isOutputClosed = () => true;
  expect(await list({ format: 'json' })).toEqual(['']);
});

test('an unknown connection ends with 1', async () => {
  expect(await showPeople(shell, { connection: 'okta' })).toBe(1);
  expect(shell.err).toEqual(['There is no connection okta in the database; it has default.']);
});

import { runCommandLine, runWithoutReader } from '../fixtures/command-line.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let service: RunningService;
let environment: Record<string, string>;
let idp: ScimClient;
let ids: string[];
beforeAll(async () => {
  service = await startService();
  idp = scimClient(service.url, service.scimToken);
  environment = { JETBRIDGE_DATA: service.data };
  ids = [
    await provision({ userName: 'ada@corp.example', displayName: 'Ada "A." King, B.Sc.' }),
    await provision({ userName: 'bob' }),
    await provision({ userName: '=cmd()' }),
  ];
});
afterAll(() => service.close());

async function provision(user: { userName: string } & Record<string, unknown>): Promise<string> {
  const { status, body } = await idp.send('POST', '/Users', { active: true, ...user });
  expect(status).toBe(201);
  return body.id;
}

const people = (...args: string[]) => runCommandLine(['people', ...args], environment);

/** Runs the command and returns its standard output. */
async function list(...args: string[]): Promise<string> {
  const { code, out } = await people(...args);
  expect(code).toBe(0);
  return out;
}

test('the table has state, name and findings, beside a running server', async () => {
  const { out: table, err } = await people();
  expect(table).toMatch(/ada@corp\.example +│ Ada "A\." King, B\.Sc\. +│ in step +│ - +│ yes +│ - +│ 20/);
  expect(table).toMatch(/bob +│ - +│ incomplete +│ - +│ yes +│ emailInvalid noEmail +│ 20/);
  expect(table).toMatch(/│ default +│/);
  expect(err.split('\n')).toEqual([
    '1 of 3 people is in step with the travel service; 2 are incomplete.',
    '"npx jetbridge explain PERSON" tells why.',
    '',
  ]);
});

test('the table is not wider than the terminal', async () => {
  const linesOf = async (columns: number) =>
    (await runCommandLine(['people'], environment, { columns })).out.split('\n');
  const lines = await linesOf(100);
  expect(Math.max(...lines.map((line) => line.length))).toBe(100);
  const paragraphs = await linesOf(80);
  expect(paragraphs).toContain('bob');
  expect(Math.max(...paragraphs.map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('people are selected by state, finding and a part of a name', async () => {
  const select = async (...args: string[]) => {
    const { code, out, err } = await people('--json', ...args);
    expect(code).toBe(0);
    return { userNames: out.match(/(?<="userName":")[^"]*/g) ?? [], err };
  };
  expect((await select('--state', 'pending')).userNames).toEqual(['=cmd()', 'bob']);
  expect((await select('--search', '" KING')).userNames).toEqual(['ada@corp.example']);
  const withoutEmail = await select('--finding', 'noEmail', '--connection', 'default');
  expect(withoutEmail.userNames).toEqual(['=cmd()', 'bob']);
  expect(await select('--state', 'pending', '--limit', '1')).toEqual({
    userNames: ['=cmd()'],
    err: 'These are the first 1; --limit shows more.\n',
  });
  expect(await select('--state', 'pending', '--limit', '2')).toEqual({
    userNames: ['=cmd()', 'bob'],
    err: '',
  });
  expect(await select('--archived')).toEqual({ userNames: [], err: 'There are no such people.\n' });
});

test('CSV has a header and a record for each person, and no cell that a spreadsheet executes', async () => {
  const lines = (await list('--csv')).split('\n');
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
  const { out: table, err } = await people('findings', '--finding', 'emailInvalid');
  expect(table).toMatch(
    /people +│ finding +│ field +│ value +│ example user name +│ connection.*│ 1 +│ emailInvalid +│ email +│ =cmd\(\) +│ =cmd\(\) /s,
  );
  expect(err).toContain('--finding FINDING --field FIELD --value VALUE');
  expect(await list('findings', '--finding', 'noEmail', '--csv')).toBe(
    [
      'connection,finding,field,value,otherValues,people,exampleId,exampleUserName\r',
      `default,noEmail,email,,false,2,${ids[2]},'=cmd()\r`,
      '',
    ].join('\n'),
  );
  const [json = ''] = (await list('findings', '--finding', 'emailInvalid', '--json')).split('\n');
  expect(JSON.parse(json)).toMatchObject({
    code: 'emailInvalid',
    field: 'email',
    value: '=cmd()',
    people: 1,
  });
  expect(await people('findings', '--finding', 'drift')).toEqual({
    ...{ code: 0, out: '' },
    err: 'Nobody has such a finding.\n',
  });
});

test('people are selected by the field and value of a finding', async () => {
  const text = await list('--finding', 'emailInvalid', '--field', 'email', '--value', 'bob', '--json');
  expect(JSON.parse(text).userName).toBe('bob');
});

test('people are brought up to date after a confirmation that states their number, and the audit log says who', async () => {
  const revision = async () =>
    (await service.people('default')).find(({ id }) => id === ids[1])?.revision ?? 0;
  const before = await revision();
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return 'n';
  };
  const emailOf = (value: string) =>
    ['people', 'update', '--connection', 'default', '--finding', 'emailInvalid', '--value'].concat(value);
  expect(await runCommandLine(emailOf('bob'), environment, { ask })).toEqual({
    ...{ code: 1, out: '' },
    err: 'Nothing was changed.\n',
  });
  expect(questions).toEqual(['Bring 1 person of connection default up to date? [y/N] ']);
  expect(await runCommandLine(emailOf('bob'), environment)).toMatchObject({
    code: 2,
    err: expect.stringContaining('give --yes'),
  });
  expect(await revision()).toBe(before);
  expect(await runCommandLine([...emailOf('bob'), '--yes'], environment)).toEqual({
    ...{ code: 0, err: '' },
    out: '1 person is due now\n',
  });
  expect(await revision()).toBeGreaterThan(before);
  const { out } = await runCommandLine(['audit', '--action', 'reconcilePeople', '--json'], environment);
  expect(JSON.parse(out)).toMatchObject({
    ...{ actorKind: 'command', status: 200 },
    details: { connection: 'default', finding: 'emailInvalid', value: 'bob', people: 1 },
  });
  expect(await runCommandLine([...emailOf('eve'), '--yes'], environment)).toEqual({
    ...{ code: 1, out: '' },
    err: 'There are no such people.\n',
  });
});

test('reading ends when the reader of the output has ended', async () => {
  expect(await runWithoutReader(['people', '--json'], environment)).toEqual({ code: 0, err: '' });
});

test('an unknown connection ends with 1', async () => {
  expect(await people('--connection', 'okta', '--json')).toEqual({
    ...{ code: 1, out: '' },
    err: 'The input is not valid.\n  connection: There is no connection okta; there is default.\n',
  });
});

import { userInfo } from 'node:os';
import { decideHolds } from '../../src/cli/holds/decide-holds.ts';
import { listHolds, showChanges, showHold } from '../../src/cli/holds/show-holds.ts';
import type { RulesEffect } from '../../src/provisioning/holds/rules-effect.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { auditLog } from '../../src/store/credentials/audit-log.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { saveDecision } from '../fixtures/save-decision.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { type RecordedShell, recordedShell } from '../fixtures/shell.ts';
import { NOW, person } from '../fixtures/store.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const inactive = (id: string) => ({ desired: { ...person(id).desired, active: false } });
const user = userInfo().username;
const valve = { state: 'held', hold: { cause: 'safetyValve', since: NOW } } as const;

let folder: ReturnType<typeof temporaryFolder>;
let settings: ReturnType<typeof writeSettingsFile>;
let database: Database;
let store: ReturnType<typeof provisioningStore>;
let shell: RecordedShell;
let questions: string[];
beforeEach(async () => {
  folder = temporaryFolder();
  settings = writeSettingsFile({}, { okta: { policies: { deprovision: 'delete' } }, entra: {} });
  database = await openTestDatabase(folder.path, false);
  for (const id of ['okta', 'entra']) await ensureConnection(database, { id, account: 'embedded' });
  store = provisioningStore(database);
  shell = await recordedShell({ JETBRIDGE_DATA: folder.path, JETBRIDGE_CONFIG: settings.path });
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

/** A shell whose terminal gives this answer. */
function answering(answer: string): RecordedShell {
  return {
    ...shell,
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  };
}

test('the list groups by connection and cause, with numbers and examples', async () => {
  await fill();
  expect(await listHolds(shell, {})).toBe(0);
  const [table = ''] = shell.out;
  expect(table).toMatch(/okta +│ safetyValve +│ 3 +│ 2025-06-15 15:06 +│ ada@.*, bob@.*, cyd@/);
  expect(table).toMatch(/okta +│ guarded +│ 1 /);
  expect(table).toMatch(/entra +│ safetyValve +│ 1 /);
});

test('the list as CSV has a record for each person of the chosen cause and connection', async () => {
  await fill();
  expect(await listHolds(shell, { csv: true, cause: 'safetyValve' })).toBe(0);
  const [names, ...people] = shell.out.splice(0).join('\n').split('\r\n');
  expect(names).toBe('connection,cause,since,id,userName,wants,version');
  const since = new Date(NOW).toISOString();
  expect(people).toEqual([
    `entra,safetyValve,${since},eva,eva@corp.example,delete,1`,
    `okta,safetyValve,${since},ada,ada@corp.example,deactivate,1`,
    `okta,safetyValve,${since},bob,bob@corp.example,deactivate,4`,
    `okta,safetyValve,${since},cyd,cyd@corp.example,delete,1\r`,
  ]);
  expect(await listHolds(shell, { csv: true, connection: 'entra', cause: 'guarded' })).toBe(0);
  expect(shell.out).toEqual([`${names}\r`]);
});

test('the list as JSON has a line for each person of the chosen cause and connection', async () => {
  await fill();
  await store.holds.saveHeldRules({
    connection: 'okta',
    generation: 2,
    people: 101,
    since: NOW,
    answer: undefined,
    recent: new Map(),
  });
  expect(await listHolds(shell, { json: true, cause: 'safetyValve', connection: 'okta' })).toBe(0);
  const since = '2025-06-15T15:06:40.000Z';
  const common = { connection: 'okta', cause: 'safetyValve', since };
  expect(shell.out.map((line) => JSON.parse(line))).toEqual([
    { ...common, id: 'ada', userName: 'ada@corp.example', version: 1, wants: 'deactivate' },
    { ...common, id: 'bob', userName: 'bob@corp.example', version: 4, wants: 'deactivate' },
    { ...common, id: 'cyd', userName: 'cyd@corp.example', version: 1, wants: 'delete' },
  ]);
  shell.out.length = 0;
  await listHolds(shell, { json: true, cause: 'rules' });
  expect(shell.out.map((line) => JSON.parse(line))).toEqual([
    { connection: 'okta', cause: 'rules', since, people: 101, generation: 2 },
  ]);
});

test('an empty list is reported', async () => {
  expect(await listHolds(shell, {})).toBe(0);
  expect(shell.err).toEqual(['Nothing is held.']);
  expect(await decideHolds(shell, { answer: 'approved', people: [], yes: true })).toBe(1);
  expect(shell.err.at(-1)).toBe('Nothing of that kind is held.');
});

test('a person is shown by id or userName, with the reason and the effects and commands of both decisions', async () => {
  await fill();
  expect(await showHold(shell, { person: 'BOB@corp.example' })).toBe(0);
  expect(shell.out).toEqual([
    [
      'bob@corp.example (bob), connection okta',
      '  held         since 2025-06-15 15:06 (UTC), cause safetyValve',
      '  why          more people left within 60 minutes than 20 or 5 % of the active ones',
      '  approve      the traveler will be archived: npx jetbridge holds approve bob',
      '  discard      the traveler stays active until the IdP deactivates or deletes the person again: npx jetbridge holds discard bob',
    ].join('\n'),
  ]);
  await showHold(shell, { person: 'cyd' });
  expect(shell.out[1]).toContain(
    'approve      the traveler will be deleted: npx jetbridge holds approve cyd',
  );
  await showHold(shell, { person: 'dan' });
  expect(shell.out[2]).toContain('why          the traveler administers the travel service');
  await showHold(shell, { person: 'free' });
  expect(shell.out[3]).toContain('waits for no admin; the state is synced.');
});

test('a person who does not exist or is not held is reported, and nothing is decided', async () => {
  await fill();
  const answer = 'approved';
  expect(await showHold(shell, { person: 'nobody' })).toBe(1);
  expect(await showHold(shell, { person: 'ada', connection: 'acme' })).toBe(1);
  expect(await showHold(shell, { person: 'ada', connection: 'entra' })).toBe(1);
  expect(await decideHolds(shell, { answer, people: ['ada', 'nobody@corp.example'], yes: true })).toBe(1);
  expect(await decideHolds(shell, { answer, people: ['ada', 'free'], yes: true })).toBe(1);
  expect(await decideHolds(shell, { answer, people: [], connection: 'acme', yes: true })).toBe(1);
  expect(shell.err).toEqual([
    'There is no person with the SCIM id or userName nobody.',
    'There is no connection acme; the settings have okta, entra.',
    'There is no person with the SCIM id or userName ada.',
    'There is no person with the SCIM id or userName nobody@corp.example.',
    'free is not held.',
    'There is no connection acme; the settings have okta, entra.',
  ]);
  expect(await answersOf('ada')).toEqual([undefined]);
});

test('people are approved or discarded by name', async () => {
  await fill();
  expect(
    await decideHolds(shell, { answer: 'approved', people: ['ada', 'cyd@corp.example'], yes: true }),
  ).toBe(0);
  expect(await decideHolds(shell, { answer: 'discarded', people: ['bob'], yes: true })).toBe(0);
  expect(await answersOf('ada', 'bob', 'cyd', 'dan')).toEqual([
    'approved',
    'discarded',
    'approved',
    undefined,
  ]);
  expect(shell.out).toEqual([
    'approved: 1 traveler will be archived, 1 traveler will be deleted',
    'discarded: 1 traveler stays as it is',
  ]);
  await showHold(shell, { person: 'bob' });
  expect(shell.out.at(-1)).toContain('answered     discarded');
});

test('all people of a cause are decided after the number is confirmed', async () => {
  await fill();
  const chosen = { answer: 'approved', people: [], cause: 'safetyValve', connection: 'okta' } as const;
  expect(await decideHolds(answering(''), chosen)).toBe(1);
  expect(shell.err).toEqual(['Nothing was decided.']);
  expect(await answersOf('ada')).toEqual([undefined]);
  expect(await decideHolds(answering('y'), chosen)).toBe(0);
  const question = '2 travelers will be archived, 1 traveler will be deleted. Go on? [y/N] ';
  expect(questions).toEqual([question, question]);
  expect(await answersOf('ada', 'bob', 'cyd', 'dan')).toEqual([
    'approved',
    'approved',
    'approved',
    undefined,
  ]);
  expect(await store.holds.findHeldPeople({ limit: 9 })).toHaveLength(2);
});

test('a person who became held after the question is not decided', async () => {
  await fill();
  const late = person('late', { ...inactive('late'), ...valve });
  const asked = {
    ...shell,
    ask: async () => {
      await store.identities.commit('okta', [{ kind: 'insert', identity: late }]);
      return 'yes';
    },
  };
  expect(await decideHolds(asked, { answer: 'approved', people: [], cause: 'safetyValve' })).toBe(0);
  expect(await answersOf('ada', 'late')).toEqual(['approved', undefined]);
});

test('--all decides everything, rules included', async () => {
  await fill();
  await store.holds.saveHeldRules({
    connection: 'entra',
    generation: 2,
    people: 101,
    since: NOW,
    answer: undefined,
    recent: new Map(),
  });
  expect(await decideHolds(shell, { answer: 'approved', people: [], yes: true })).toBe(0);
  expect(shell.out).toEqual([
    'approved: 3 travelers will be archived, 1 traveler will be deleted, 1 traveler will be changed or linked, ' +
      'more than 100 people of connection entra will follow the rules and lookups',
  ]);
  expect(await store.holds.countHolds()).toEqual([]);
  expect(await store.holds.findHeldRules('entra')).toMatchObject({ answer: 'approved' });
});

test('a discarded change of rules can be approved, but not one that changed after the question', async () => {
  const change = {
    ...{ connection: 'okta', generation: 2, people: 101, since: NOW },
    answer: undefined,
    recent: new Map(),
  };
  await store.holds.saveHeldRules(change);
  const chosen = { people: [], cause: 'rules' } as const;
  expect(await decideHolds(shell, { ...chosen, answer: 'discarded', yes: true })).toBe(0);
  expect(await decideHolds(shell, { ...chosen, answer: 'discarded', yes: true })).toBe(1);
  const asked = {
    ...shell,
    ask: async () => {
      await store.holds.saveHeldRules({ ...change, generation: 3 });
      return 'yes';
    },
  };
  expect(await decideHolds(asked, { ...chosen, answer: 'approved' })).toBe(1);
  expect(shell.err.at(-1)).toMatch('The rules or lookups have changed meanwhile.');
  expect(await store.holds.findHeldRules('okta')).toMatchObject({ generation: 3, answer: undefined });
  await saveDecision(store, 'okta', { cause: 'rules' }, 'discarded', NOW);
  expect(await decideHolds(shell, { ...chosen, answer: 'approved', yes: true })).toBe(0);
  expect(await store.holds.findHeldRules('okta')).toMatchObject({ generation: 3, answer: 'approved' });
});

/** Holds a change of rules whose effect is known. */
async function holdChange(effect?: Partial<RulesEffect>): Promise<void> {
  const held = { connection: 'okta', generation: 2, people: 101, since: NOW, recent: new Map() };
  await store.holds.saveHeldRules({ ...held, answer: undefined });
  if (!effect) return;
  const whole: RulesEffect = {
    ...{ count: 'c', looked: 900, isComplete: true, people: 300 },
    causes: ['mapping version 2 by grace', 'cost centers: Berlin is gone'],
    fields: [
      {
        ...{ field: 'customFields.cf', people: 300, others: 20 },
        values: [{ before: null, after: 'Buyer', people: 280 }],
      },
    ],
    examples: [
      {
        ...{ id: 'ada', userName: 'ada@corp.example' },
        changes: [{ field: 'customFields.cf', before: null, after: 'Buyer' }],
      },
    ],
    names: { 'customFields.cf': 'Job title' },
    ...effect,
  };
  await store.holds.saveEffect('okta', 2, whole, { isFirst: true });
}

test('a held change of rules is shown with its causes, fields, values and examples, and the decision repeats its effect', async () => {
  await holdChange({});
  await listHolds(shell, {});
  expect(shell.out[0]).toMatch(/okta +│ rules +│ 300 /);
  const change = [
    'okta: a change of rules would change 300 people.',
    '  caused by    mapping version 2 by grace; cost centers: Berlin is gone',
    '  Job title: 300 people: nothing → "Buyer" (280), other values (20)',
  ];
  expect(shell.out[1]).toBe(change.join('\n'));
  shell.out.length = 0;
  await showChanges(shell, {});
  expect(shell.out[0]?.split('\n')).toEqual([
    ...change,
    '  e.g. ada@corp.example (ada): Job title nothing → "Buyer"',
    expect.stringMatching(/^ {2}approve .*: npx jetbridge holds approve --cause rules --connection okta$/),
    expect.stringMatching(/^ {2}discard .*: npx jetbridge holds discard --cause rules --connection okta$/),
  ]);
  expect(await decideHolds(answering('y'), { answer: 'approved', people: [], cause: 'rules' })).toBe(0);
  expect(questions).toEqual([
    '300 people of connection okta will follow the rules and lookups (Job title of 300). Go on? [y/N] ',
  ]);
  expect(await showChanges(shell, {})).toBe(1);
  expect(shell.err.at(-1)).toBe('No change of rules is held.');
});

test('a change of rules that affects one person says so', async () => {
  await holdChange({ looked: 1, people: 1 });
  await showChanges(shell, {});
  expect(shell.out[0]).toContain('okta: a change of rules would change 1 person.');
});

test('a change whose people are still being counted says how many were looked at', async () => {
  await holdChange();
  await showChanges(shell, {});
  expect(shell.out[0]).toContain('would change more than 100 people.');
  expect(shell.out[0]).toContain('a running server counts all people whom it affects');
  await holdChange({ isComplete: false });
  await showChanges(shell, {});
  expect(shell.out[1]).toContain('900 people were looked at so far, 300 of them would change');
});

test('a decision that is being carried out is listed with its progress', async () => {
  await fill();
  await decideHolds(shell, { answer: 'approved', people: ['ada', 'bob'], yes: true });
  shell.out.length = 0;
  await listHolds(shell, {});
  expect(shell.out.at(-1)).toBe(
    `okta, safetyValve: approved (command line: ${user}); 0 of 2 people are done so far.`,
  );
});

test('a decision is in the audit log for each connection and cause, with the user of the operating system and the people', async () => {
  await fill();
  await decideHolds(shell, { answer: 'approved', people: [], yes: true });
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
  const other = await recordedShell({ JETBRIDGE_DATA: folder.path, JETBRIDGE_CONFIG: more.path });
  expect(await showHold(other, { person: 'ada' })).toBe(1);
  expect(await decideHolds(other, { answer: 'approved', people: ['ada'], yes: true })).toBe(1);
  expect(await decideHolds(other, { answer: 'approved', people: [], cause: 'rules', yes: true })).toBe(1);
  more.remove();
});

import { rmSync } from 'node:fs';
import { createDataFolder } from '../fixtures/data-folder.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { recordingDatabase } from '../fixtures/recording-database.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const users = 'default';

/** A fixture whose steps are recorded: statements, commits and calls to the travel API. */
interface Recorded {
  fixture: ProvisioningFixture;
  /** Returns the steps of `work`. */
  stepsOf(work: () => Promise<unknown>): Promise<string[]>;
}

async function withRecording(test: (recorded: Recorded) => Promise<void>): Promise<void> {
  const folder = createDataFolder('jetbridge-');
  const database = await openTestDatabase(folder);
  const steps: string[] = [];
  try {
    await withFixture(
      async (fixture) => {
        fixture.travel.faultFor = ({ verb }) => {
          steps.push(`travel API: ${verb}`);
          return undefined;
        };
        const stepsOf = async (work: () => Promise<unknown>) => {
          steps.length = 0;
          await work();
          return [...steps];
        };
        await test({ fixture, stepsOf });
      },
      { database: recordingDatabase(database, steps), name: users },
    );
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

const outcome = ['update identity', 'commit'];

test('a POST is one commit that searches, with the announced create, the call, and one commit of the outcome', () =>
  withRecording(async ({ fixture: { bridge }, stepsOf }) => {
    await bridge.users.create(users, person('Warm'));
    expect(await stepsOf(() => bridge.users.create(users, person('Ada')))).toEqual([
      'insert identity',
      'insert list_counter',
      'insert identity_email',
      'commit that waits for the disk',
      'travel API: create',
      ...outcome,
      'select identity_reference',
    ]);
  }));

test.each(['patch', 'replace'] as const)(
  'a %s with an effect is one reading and two commits, around the call',
  (kind) =>
    withRecording(async ({ fixture: { bridge }, stepsOf }) => {
      const { id } = await bridge.users.create(users, person('Ada'));
      const after = person('Ada', { name: { givenName: 'Augusta', familyName: 'King' } });
      expect(await stepsOf(() => bridge.users.change(users, id, () => after, kind))).toEqual([
        'select identity',
        'update identity',
        // The name is a part of the key by which people are searched.
        'update identity_email',
        'commit that waits for the disk',
        'travel API: patch',
        ...outcome,
      ]);
    }),
);

test('a change without an effect is one reading', () =>
  withRecording(async ({ fixture: { bridge }, stepsOf }) => {
    const { id } = await bridge.users.create(users, person('Ada'));
    const change = () => bridge.users.change(users, id, (current) => ({ ...current }), 'patch');
    expect(await stepsOf(change)).toEqual(['select identity']);
  }));

test('a change that nothing of the traveler depends on is one commit', () =>
  withRecording(async ({ fixture: { bridge }, stepsOf }) => {
    const { id } = await bridge.users.create(users, person('Ada'));
    const after = person('Ada', { nickName: 'Countess' });
    expect(await stepsOf(() => bridge.users.change(users, id, () => after, 'patch'))).toEqual([
      'select identity',
      'update identity',
      'update identity',
      'commit that waits for the disk',
    ]);
    expect(await bridge.users.read(users, id)).toMatchObject({ version: 2 });
  }));

test('a POST of a person who was imported reads the matches after a commit that has found them', () =>
  withRecording(async ({ fixture, stepsOf }) => {
    fixture.travel.addTraveler({ email: addressOf('Ada') });
    await fixture.importTravelers();
    const steps = await stepsOf(() => fixture.bridge.users.create(users, person('Ada')));
    const attempted = steps.indexOf('commit that waits for the disk');
    expect(steps[0]).toBe('insert identity');
    expect(steps.slice(attempted + 1, attempted + 4)).toEqual([
      'select identity',
      'select rules_in_force',
      'update scim_group',
    ]);
  }));

test('a change that must read the traveler commits first, and again before the call', () =>
  withRecording(async ({ fixture, stepsOf }) => {
    const { id } = await fixture.bridge.users.create(users, person('Ada'));
    const steps = await stepsOf(() => fixture.patch(id, emailsOf('countess@corp.example')));
    const commits = steps.filter((step) => step.startsWith('commit') || step.startsWith('travel API'));
    expect(commits).toEqual([
      'commit that waits for the disk',
      'travel API: read',
      'commit that waits for the disk',
      'travel API: patch',
      'commit',
    ]);
  }));

test('a manager is saved before it is looked up, after the commit of the write', () =>
  withRecording(async ({ fixture, stepsOf }) => {
    const { id } = await fixture.bridge.users.create(users, person('Ada'));
    const boss = await fixture.bridge.users.create(users, person('Boss'));
    const steps = await stepsOf(() => fixture.patch(id, managedBy(boss.id)));
    expect(steps.slice(0, 3)).toEqual([
      'select identity',
      'update identity',
      'commit that waits for the disk',
    ]);
    expect(steps.filter((step) => step.startsWith('travel API'))).toEqual(['travel API: patch']);
  }));

test('a page is one reading, beside the counters that tell the total', () =>
  withRecording(async ({ fixture: { bridge }, stepsOf }) => {
    for (const name of ['Ada', 'Boss', 'Cara']) await bridge.users.create(users, person(name));
    const order = { by: 'position', descending: false } as const;
    const readPage = (offset: number) =>
      bridge.users.list(users, {
        where: { all: [] },
        order,
        start: { offset },
        limit: 1,
        residual: undefined,
        withGroups: false,
      });
    for (const offset of [0, 1]) {
      const steps = await stepsOf(() => readPage(offset));
      // The statement of the page first names the table that tells whether a user is in a group.
      expect(steps.sort()).toEqual(['raw group_member', 'select identity', 'select list_counter']);
    }
    expect(await readPage(1)).toMatchObject({ total: 3 });
  }));

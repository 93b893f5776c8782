import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { ProvisioningError } from '../../src/provisioning/provisioning-error.ts';
import { urns } from '../../src/schema/resource.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import {
  addressOf,
  managedBy,
  type ProvisioningFixture,
  person,
  provisioningFixture,
  withFixture,
} from '../fixtures/provisioning.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const users = 'default';
const names = ['Ada', 'Bob', 'Cy', 'Dee', 'Eve', 'Fay', 'Gus', 'Hal'];
const unmanaged = { [urns.enterprise]: {} };

/** Creates users whose managers form a cycle. Returns their SCIM ids in order; the last user has no manager, to break the cycle. */
async function createCycle(
  { bridge, findings, reconcileAfter }: ProvisioningFixture,
  size: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, name] of names.slice(0, size).entries()) {
    const manager = addressOf(names[(index + 1) % size] ?? '');
    ids.push((await bridge.users.create(users, person(name, managedBy(manager)))).id);
  }
  await reconcileAfter(0);
  const found = await Promise.all(ids.map((id) => findings(id)));
  const leftOut = found.findIndex((codes) => codes.includes('managerId: managerCircle'));
  expect(found.filter((codes) => codes.length > 0)).toEqual([['managerId: managerCircle']]);
  return [...ids.slice(leftOut + 1), ...ids.slice(0, leftOut + 1)];
}

async function managerOf(fixture: ProvisioningFixture, id: string): Promise<string | undefined> {
  return (await fixture.traveler(id))?.managerId;
}

const sizes = [3, 4, 8];
const breaks: [string, number, (fixture: ProvisioningFixture, id: string) => Promise<unknown>][] =
  sizes.flatMap((size) =>
    Array.from({ length: size - 1 }, (_, at) => at).flatMap((at): typeof breaks => [
      [`link ${at} of ${size} is taken away`, at, (fixture, id) => fixture.patch(id, unmanaged)],
      [`link ${at} of ${size} goes elsewhere`, at, (fixture, id) => fixture.patch(id, managedBy('Xavier'))],
      [`member ${at} of ${size} is deleted`, at, (fixture, id) => fixture.bridge.users.remove(users, id)],
      [
        `member ${at} of ${size} is deactivated and its traveler deleted`,
        at,
        async (fixture, id) => {
          fixture.travel.travelers.delete((await fixture.identity(id)).travelId ?? '');
          await fixture.patch(id, { active: false });
        },
      ],
    ]),
  );

test.each(breaks)('a cycle of managers is resolved at once when %s', (title, at, openCycle) =>
  withFixture(async (fixture) => {
    await fixture.bridge.users.create(users, person('Xavier', { externalId: 'Xavier' }));
    const ids = await createCycle(fixture, Number(/ of (\d)/.exec(title)?.[1]));
    await openCycle(fixture, ids[at] ?? '');
    await fixture.reconcileAfter(0);
    const leftOut = ids.at(-1) ?? '';
    // The expected manager is the first user of the cycle, who may have been deleted.
    const first = fixture.travel.travelers.get((await fixture.identity(ids[0] ?? '')).travelId ?? '');
    const isThere = first !== undefined && !(at === 0 && title.includes('deleted'));
    expect(await managerOf(fixture, leftOut)).toBe(isThere ? first.id : undefined);
    if (isThere) expect(await fixture.findings(leftOut)).toEqual([]);
  }),
);

test('a cycle of managers is resolved if the process died right after the attempt that opened it', () =>
  withFixture(async (fixture) => {
    const ids = await createCycle(fixture, 4);
    fixture.travel.faultFor = ({ verb }) => (verb === 'patch' ? 'hang' : undefined);
    const patched = fixture.patch(ids[1] ?? '', unmanaged);
    await waitUntilIdle();
    fixture.clock.advance(800);
    await patched;
    await fixture.restart();
    await fixture.reconcileAfter(1_000);
    expect(await managerOf(fixture, ids.at(-1) ?? '')).toBe((await fixture.traveler(ids[0] ?? ''))?.id);
  }));

test('a deactivated manager does not open a cycle', () =>
  withFixture(async (fixture) => {
    const ids = await createCycle(fixture, 3);
    await fixture.patch(ids[0] ?? '', { active: false });
    await fixture.reconcileAfter(0);
    expect(await fixture.findings(ids.at(-1) ?? '')).toEqual(['managerId: managerCircle']);
  }));

type Action =
  | { kind: 'manager'; who: number; of: number | undefined }
  | { kind: 'delete'; who: number }
  | { kind: 'vanish'; who: number }
  | { kind: 'post'; who: number }
  | { kind: 'active'; who: number; active: boolean };

const randomHistory = fc.integer({ min: 3, max: 8 }).chain((size) => {
  const who = fc.nat({ max: size - 1 });
  const of = fc.option(who, { nil: undefined, freq: 6 });
  const action: fc.Arbitrary<Action> = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('manager' as const), who, of }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), who }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('vanish' as const), who }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('post' as const), who }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('active' as const), who, active: fc.boolean() }) },
  );
  // The actions of one step happen at the same time.
  const steps = fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });
  return fc.record({ managers: fc.array(who, { minLength: size, maxLength: size }), steps });
});

interface History {
  ids: Map<number, string>;
  /** The manager that the IdP names for each user. */
  managers: Map<number, number | undefined>;
}

async function execute(
  fixture: ProvisioningFixture,
  { ids, managers }: History,
  action: Action,
): Promise<void> {
  const id = ids.get(action.who);
  if (action.kind === 'post') {
    if (id !== undefined) return;
    const of = managers.get(action.who);
    const extra = of === undefined ? {} : managedBy(addressOf(names[of] ?? ''));
    // The same user is not posted again until the POST is answered.
    ids.set(action.who, '');
    ids.set(
      action.who,
      (await fixture.bridge.users.create(fixture.connection.id, person(names[action.who] ?? '', extra))).id,
    );
    return;
  }
  if (action.kind === 'manager') managers.set(action.who, action.of);
  if (id === undefined || id === '') return;
  switch (action.kind) {
    case 'delete':
      ids.delete(action.who);
      return fixture.bridge.users.remove(fixture.connection.id, id);
    case 'vanish': {
      const { travelId, desired } = await fixture.identity(id);
      fixture.travel.travelers.delete(travelId ?? '');
      // Any call for the traveler answers 404.
      return fixture.patch(id, { preferredLanguage: desired.preferredLanguage === 'fr' ? 'en' : 'fr' });
    }
    case 'active':
      return fixture.patch(id, { active: action.active });
    case 'manager':
      return fixture.patch(
        id,
        action.of === undefined ? unmanaged : managedBy(addressOf(names[action.of] ?? '')),
      );
  }
}

/** Executes an action and ignores refusals: a user deleted in the same step may no longer exist, or may make a POST fail with 409. */
async function tryExecute(fixture: ProvisioningFixture, history: History, action: Action): Promise<void> {
  try {
    await execute(fixture, history, action);
  } catch (error) {
    if (!(error instanceof ProvisioningError)) throw error;
    if (history.ids.get(action.who) === '') history.ids.delete(action.who);
  }
}

/** Describes each violation of the rules about managers when no work is left. */
async function findViolations(fixture: ProvisioningFixture, { ids }: History): Promise<string[]> {
  const { travelers: people } = fixture.travel;
  const leadsTo = (from: string | undefined, to: string) => {
    const visited = new Set<string>();
    for (let next = from; next !== undefined && !visited.has(next); next = people.get(next)?.managerId) {
      if (next === to) return true;
      visited.add(next);
    }
    return false;
  };
  const violations: string[] = [];
  for (const [, id] of ids) {
    const { desired, travelId } = await fixture.identity(id);
    const traveler = await fixture.traveler(id);
    const codes = (await fixture.findings(id)).filter((finding) => finding.startsWith('managerId'));
    const { manager } = (desired[urns.enterprise] ?? {}) as { manager?: { value: string } };
    const target = [...people.values()].find(({ email }) => email === manager?.value);
    const isLinked = async (userId: string) => (await fixture.identity(userId)).travelId === target?.id;
    const isThere = target && (await Promise.all([...ids.values()].map(isLinked))).includes(true);
    const has = traveler?.managerId;
    const report = `${String(desired.userName)} of ${manager?.value}: ${has}, ${codes}`;
    if (!traveler || travelId === undefined) continue;
    if (has !== undefined && leadsTo(has, traveler.id)) violations.push(`${report}: a cycle`);
    else if (manager === undefined || !isThere) {
      if (has !== undefined) violations.push(`${report}: should have none`);
    } else if (has === target.id) {
      const expected = target.archived ? 'managerId: managerInactive' : '';
      if (codes.join() !== expected) violations.push(`${report}: not the finding "${expected}"`);
    } else if (target.id === traveler.id) {
      if (codes.join() !== 'managerId: managerSelf') violations.push(`${report}: no finding`);
    } else if (!leadsTo(target.id, traveler.id)) violations.push(`${report}: could have one`);
    else if (codes.join() !== 'managerId: managerCircle') violations.push(`${report}: no finding`);
  }
  return violations;
}

const { MODEL_RUNS } = process.env;
const runs = MODEL_RUNS === undefined ? { numRuns: 60, seed: 9_011 } : { numRuns: Number(MODEL_RUNS) };

test('after random changes of managers no cycle exists, and no manager is left out without one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const database = await openTestDatabase(directory, true);
  let last = 0;
  const property = fc.asyncProperty(randomHistory, async ({ managers, steps }) => {
    last += 1;
    const fixture = await provisioningFixture({ database, name: `cycles-${last}` });
    const history: History = { ids: new Map(), managers: new Map(managers.entries()) };
    for (const who of managers.keys()) await execute(fixture, history, { kind: 'post', who });
    for (const step of steps) await Promise.all(step.map((action) => tryExecute(fixture, history, action)));
    await fixture.waitForLeases();
    await fixture.reconcileAfter(0);
    expect(await findViolations(fixture, history)).toEqual([]);
  });
  try {
    await fc.assert(property, runs);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
}, 600_000);

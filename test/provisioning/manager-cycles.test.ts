import { urns } from '../../src/schema/resource.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import {
  addressOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const names = ['Ada', 'Bob', 'Cy', 'Dee'];
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

const sizes = [3, 4];
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

import { travelUsers } from '../../src/adapter/users.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { ownUsers } from '../../src/provisioning/calls/own-users.ts';
import { importer, isIncompleteImport, lastImportOf } from '../../src/provisioning/import/import.ts';
import { rulesSnapshots } from '../../src/provisioning/rules/rules-snapshots.ts';
import { json, type Recorded, travelServer } from '../adapter/travel-server.ts';
import {
  addressOf,
  allUsers,
  emailsOf,
  type ProvisioningFixture,
  person,
  usersWhere,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';

/** Adds travelers `p0`, `p1` and so on. The travel service has one more, the traveler of the credential, who is hidden. */
function addTravelers({ travel }: ProvisioningFixture, size: number): TravelUser[] {
  return Array.from({ length: size }, (_, number) =>
    travel.addTraveler({ email: `p${number}@corp.example` }),
  );
}

async function countUsers({ bridge }: ProvisioningFixture): Promise<number> {
  return (await bridge.users.list(users, allUsers(0))).total;
}

/** The SCIM id of an imported person, as an IdP finds it. */
async function idOf({ bridge }: ProvisioningFixture, email: string): Promise<string | undefined> {
  const { rows } = await bridge.users.list(
    users,
    usersWhere({ field: 'userName', operator: 'eq', value: email }, 1),
  );
  return rows[0]?.id;
}

/** Runs an import at a later time and returns its log lines. */
async function importLater(fixture: ProvisioningFixture, connection = fixture.connection) {
  fixture.clock.advance(60_000);
  const logged: { level: string; fields: object; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    logged.push({ level, fields, message });
  };
  let last = 0;
  const newId = () => {
    last += 1;
    return `later-${fixture.clock.now()}-${last}`;
  };
  const log = { info: at('info'), warn: at('warn'), error: at('error') };
  const runtime = { ...fixture.clock, newId, random: () => 0.5, log, checkpoint: () => {} };
  const { store, connectionOf: configuredMappingOf } = fixture;
  const snapshots = rulesSnapshots({ rules: store.rules, runtime, configuredMappingOf });
  const own = ownUsers({ tasks: store.tasks, runtime });
  const deps = { ...store, rulesSnapshots: snapshots, ownUsers: own, wake: () => {}, runtime };
  const imported = await importer(deps).run(connection);
  await fixture.bridge.reconcileDue();
  return { imported, logged };
}

describe('a traveler that cannot be read', () => {
  test('is skipped with a warning without personal data, and the others are imported', () =>
    withFixture(async (fixture) => {
      const [first] = addTravelers(fixture, 3);
      const named = fixture.travel.addTraveler({ id: 'eve@corp.example', email: 'eve@corp.example' });
      for (const id of [first?.id, named.id]) fixture.travel.unreadable.add(id ?? '');
      const { imported, logged } = await importLater(fixture);
      expect(imported).toEqual({ read: 5, unreadable: 2, complete: true });
      // The bridge's own user is read, and stays hidden.
      expect(await countUsers(fixture)).toBe(2);
      const warnings = logged.filter(({ level }) => level === 'warn');
      expect(warnings).toEqual([
        expect.objectContaining({ fields: { connection: users, count: 2, travelUserIds: [first?.id] } }),
      ]);
      expect(JSON.stringify(logged)).not.toContain('@');
    }));

  test('counts as existing: its identity stays, claimed or not, and nothing is sent', () =>
    withFixture(async (fixture) => {
      const [unclaimed] = addTravelers(fixture, 1);
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      await fixture.importTravelers();
      const before = await countUsers(fixture);
      fixture.travel.calls.length = 0;
      for (const id of [unclaimed?.id, ada.travelUserId]) fixture.travel.unreadable.add(id ?? '');
      await importLater(fixture);
      expect(await countUsers(fixture)).toBe(before);
      expect(await fixture.identity(ada.id)).toMatchObject({ travelId: ada.travelUserId, state: 'synced' });
      expect(fixture.travel.calls.map(({ verb }) => verb)).toEqual(['readPage']);
    }));

  test('does not hide the travelers on the pages behind it', () =>
    withFixture(async (fixture) => {
      const people = addTravelers(fixture, 250);
      for (const { id } of people.slice(0, 120)) fixture.travel.unreadable.add(id);
      const { imported } = await importLater(fixture);
      expect(imported).toEqual({ read: 251, unreadable: 120, complete: true });
      expect(await countUsers(fixture)).toBe(250 - 120);
    }));
});

describe('an import that lists too few of the known travelers', () => {
  test('saves the listed ones, keeps the others, and logs an error', () =>
    withFixture(async (fixture) => {
      const people = addTravelers(fixture, 30);
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      await fixture.importTravelers();
      fixture.travel.travelers.clear();
      for (const traveler of people.slice(0, 3))
        fixture.travel.travelers.set(traveler.id, { ...traveler, firstName: 'New' });
      const newcomer = fixture.travel.addTraveler({ email: addressOf('Eve') });
      const { imported, logged } = await importLater(fixture);
      const incomplete = { known: 32, seen: 3 };
      expect(imported).toEqual({ read: 4, complete: true, incomplete });
      expect(logged.filter(({ level }) => level === 'error')).toEqual([
        expect.objectContaining({ fields: { connection: users, ...incomplete } }),
      ]);
      expect(await countUsers(fixture)).toBe(32);
      expect((await fixture.identity((await idOf(fixture, 'p0@corp.example')) ?? '')).observed).toMatchObject(
        {
          firstName: 'New',
        },
      );
      expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', travelId: ada.travelUserId });
      expect(fixture.travel.travelers.get(newcomer.id)).toEqual(newcomer);
    }));

  test('reports so until it lists enough of them, or an admin accepts the missing ones as deleted', () =>
    withFixture(async (fixture) => {
      const people = addTravelers(fixture, 30);
      await fixture.importTravelers();
      const { importer: own } = fixture.bridge;
      const importStates = () => fixture.store.tasks.listStates('import');
      const stateAfter = (read: number, isIncomplete: boolean) => [
        { connection: users, state: { isIncomplete, at: fixture.clock.wallClock(), ms: 0, read } },
      ];
      expect(await importStates()).toEqual(stateAfter(31, false));
      for (const { id } of people.slice(0, 20)) fixture.travel.travelers.delete(id);
      for (let hour = 0; hour < 2; hour += 1) {
        fixture.clock.advance(60_000);
        await fixture.importTravelers();
        expect(await importStates()).toEqual(stateAfter(11, true));
        expect(await countUsers(fixture)).toBe(30);
      }
      fixture.clock.advance(60_000);
      expect(await own.run(fixture.connection, undefined, { acceptMissing: true })).toEqual({
        read: 11,
        complete: true,
      });
      expect(await importStates()).toEqual(stateAfter(11, false));
      expect(await countUsers(fixture)).toBe(10);
    }));

  test.each([
    ['half of the known travelers are enough', 20, 10, 10],
    ['one traveler less than half is not enough', 20, 9, 20],
    ['with fewer than 20 known travelers every number is enough', 19, 0, 0],
    ['without known travelers every number is enough', 0, 0, 0],
  ])('%s', (_, known, seen, left) =>
    withFixture(async (fixture) => {
      fixture.travel.travelers.clear();
      const people = addTravelers(fixture, known);
      await fixture.importTravelers();
      for (const { id } of people.slice(seen)) fixture.travel.travelers.delete(id);
      await importLater(fixture);
      expect(await countUsers(fixture)).toBe(left);
    }),
  );

  test('does not count tombstones, whose travelers are still listed', () =>
    withFixture(async (fixture) => {
      const people = addTravelers(fixture, 20);
      for (let number = 0; number < 30; number += 1) {
        const leaver = await fixture.bridge.users.create(users, person(`L${number}`));
        await fixture.bridge.users.remove(users, leaver.id);
      }
      await fixture.importTravelers();
      for (const { id } of people) fixture.travel.travelers.delete(id);
      const { imported } = await importLater(fixture);
      expect(imported).toMatchObject({ incomplete: { known: 21, seen: 1 } });
      expect(await countUsers(fixture)).toBe(20);
    }));

  test('does not count new travelers, since another account has other people', () =>
    withFixture(async (fixture) => {
      addTravelers(fixture, 30);
      await fixture.importTravelers();
      fixture.travel.travelers.clear();
      for (let number = 0; number < 120; number += 1)
        fixture.travel.addTraveler({ email: `other${number}@corp.example` });
      const { imported } = await importLater(fixture);
      expect(imported).toMatchObject({ incomplete: { known: 31, seen: 0 } });
      expect(await countUsers(fixture)).toBe(150);
    }));
});

/** Serves the travelers of the fixture over HTTP, in responses that `answer` creates. */
async function serveTravelers(
  fixture: ProvisioningFixture,
  answer: (all: TravelUser[], url: URL) => unknown,
) {
  const server = await travelServer((request: Recorded, response) => {
    const url = new URL(request.url, 'http://x');
    const id = url.pathname.split('/')[3];
    const all = [...fixture.travel.travelers.values()];
    if (id === undefined) return json(response, 200, answer(all, url));
    const found = all.find((traveler) => traveler.id === id);
    return found ? json(response, 200, { data: found }) : json(response, 404, { code: 'notFound' });
  });
  const travel = travelUsers(server.client());
  return { server, connection: { ...fixture.connection, travel } };
}

describe('a travel API without totals', () => {
  const pageOf = (all: TravelUser[], { searchParams }: URL) => {
    const offset = Number(searchParams.get('offset'));
    return { data: all.slice(offset, offset + Number(searchParams.get('limit'))) };
  };

  test.each([1, 99, 199, 249])('reveals a deleted traveler among %i others', (size) =>
    withFixture(async (fixture) => {
      fixture.travel.travelers.clear();
      const people = addTravelers(fixture, size + 1);
      const { server, connection } = await serveTravelers(fixture, pageOf);
      await importLater(fixture, connection);
      expect(await countUsers(fixture)).toBe(size + 1);
      fixture.travel.travelers.delete(people[0]?.id ?? '');
      const { imported } = await importLater(fixture, connection);
      await server.close();
      expect(imported).toEqual({ read: size, complete: true });
      expect(await countUsers(fixture)).toBe(size);
      expect(await idOf(fixture, 'p0@corp.example')).toBeUndefined();
    }),
  );

  test('may delete a traveler during the import, and no other is treated as deleted', () =>
    withFixture(async (fixture) => {
      const people = addTravelers(fixture, 250);
      await fixture.importTravelers();
      const before = await idOf(fixture, 'p99@corp.example');
      const { server, connection } = await serveTravelers(fixture, (all, url) => {
        const page = pageOf(all, url);
        fixture.travel.travelers.delete(people[0]?.id ?? '');
        return page;
      });
      await importLater(fixture, connection);
      await importLater(fixture, connection);
      await server.close();
      expect(await countUsers(fixture)).toBe(249);
      expect(await idOf(fixture, 'p99@corp.example')).toBe(before);
    }));

  test('that always returns the same page ends the import, and no traveler is treated as deleted', () =>
    withFixture(async (fixture) => {
      addTravelers(fixture, 150);
      await fixture.importTravelers();
      const { server, connection } = await serveTravelers(fixture, (all) => ({ data: all.slice(0, 100) }));
      const { imported } = await importLater(fixture, connection);
      expect(server.requests.length).toBeLessThan(5);
      await server.close();
      expect(imported).toEqual({ read: 100, complete: false, endedEarly: {} });
      expect(await countUsers(fixture)).toBe(150);
    }));

  test('whose pages are smaller than requested is read to the end', () =>
    withFixture(async (fixture) => {
      addTravelers(fixture, 130);
      const { server, connection } = await serveTravelers(fixture, (all, url) => {
        const offset = Number(url.searchParams.get('offset'));
        return { data: all.slice(offset, offset + 50), meta: { limit: 50 } };
      });
      const { imported } = await importLater(fixture, connection);
      await server.close();
      expect(imported).toEqual({ read: 131, complete: true });
    }));
});

describe('a travel API whose list ends before its total', () => {
  const repeated = (all: TravelUser[]) => ({ data: all.slice(0, 40), meta: { total: 130, limit: 40 } });
  const empty = (all: TravelUser[], { searchParams }: URL) => {
    const offset = Number(searchParams.get('offset'));
    return { data: all.slice(offset, Math.max(offset, 40)), meta: { total: 130, limit: 40 } };
  };

  test.each([
    ['because its pages repeat', repeated],
    ['because a page is empty', empty],
  ])('%s, is a condition that names both numbers, and no traveler is treated as deleted', (_, answer) =>
    withFixture(async (fixture) => {
      addTravelers(fixture, 60);
      await fixture.importTravelers();
      const { server, connection } = await serveTravelers(fixture, answer);
      const { imported, logged } = await importLater(fixture, connection);
      await server.close();
      expect(imported).toEqual({ read: 40, complete: false, endedEarly: { total: 130 } });
      expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1);
      expect(await countUsers(fixture)).toBe(60);
      const [stored] = await fixture.store.tasks.listStates('import');
      expect(isIncompleteImport(stored?.state)).toBe(true);
      expect(lastImportOf(stored?.state)).toMatchObject({ read: 40, endedEarly: { total: 130 } });
    }),
  );

  test('treats none as deleted although so few are known that every number would be enough', () =>
    withFixture(async (fixture) => {
      const [first] = addTravelers(fixture, 15);
      await fixture.importTravelers();
      const only = (all: TravelUser[]) => ({ data: all.slice(-4), meta: { total: 16, limit: 4 } });
      const { server, connection } = await serveTravelers(fixture, only);
      await importLater(fixture, connection);
      await server.close();
      expect(await idOf(fixture, first?.email ?? '')).toBeDefined();
      expect(isIncompleteImport((await fixture.store.tasks.listStates('import'))[0]?.state)).toBe(true);
    }));
});

test('a missing traveler that cannot be read by id is not treated as deleted', () =>
  withFixture(async (fixture) => {
    const [first] = addTravelers(fixture, 3);
    await fixture.importTravelers();
    fixture.travel.travelers.delete(first?.id ?? '');
    fixture.travel.faultFor = ({ verb }) =>
      verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined;
    await importLater(fixture);
    expect(await countUsers(fixture)).toBe(3);
    fixture.travel.faultFor = () => undefined;
    await importLater(fixture);
    expect(await countUsers(fixture)).toBe(2);
  }));

test('imports that list travelers in a different order each time change nothing', () =>
  withFixture(async (fixture) => {
    addTravelers(fixture, 250);
    const ada = await fixture.bridge.users.create(users, person('Ada', emailsOf('ada@corp.example')));
    await fixture.importTravelers();
    const before = await fixture.store.identities.findPage(users, 0, 1_000);
    fixture.travel.calls.length = 0;
    for (const offset of [7, 100, 133]) {
      fixture.travel.pageOrder = (all) => [...all.slice(offset), ...all.slice(0, offset)].reverse();
      const { imported } = await importLater(fixture);
      expect(imported).toEqual({ read: 252, complete: true });
    }
    expect(await fixture.store.identities.findPage(users, 0, 1_000)).toEqual(before);
    expect(new Set(fixture.travel.calls.map(({ verb }) => verb))).toEqual(new Set(['readPage']));
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('a travel API that shuffles each page causes no deletion', () =>
  withFixture(async (fixture) => {
    addTravelers(fixture, 250);
    await fixture.importTravelers();
    let page = 0;
    fixture.travel.pageOrder = (all) => {
      page += 1;
      return [...all.slice(page * 37), ...all.slice(0, page * 37)];
    };
    await importLater(fixture);
    expect(await countUsers(fixture)).toBe(250);
  }));

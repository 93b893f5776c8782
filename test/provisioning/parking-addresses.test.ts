import { urns } from '../../src/schema/resource.ts';
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
const adminsAllowed = { scimUserMapping: [], roles: { allow: ['admin'] } };
const asAdmin = { [urns.travel]: { roles: [{ value: 'admin' }] } };

/** A user whose userName is no address, so that only a parking address can be used temporarily during a swap. */
function personWithPlainUserName(name: string) {
  return person(name, { userName: name.toLowerCase() });
}

async function createUsers(
  fixture: ProvisioningFixture,
  names: string[],
  connection = fixture.connection.id,
): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names)
    ids.push((await fixture.bridge.users.create(connection, personWithPlainUserName(name))).id);
  return ids;
}

async function createPair(fixture: ProvisioningFixture): Promise<[string, string]> {
  const [ada = '', bob = ''] = await createUsers(fixture, ['Ada', 'Bob']);
  return [ada, bob];
}

async function reconcileUntilIdle(fixture: ProvisioningFixture, rounds = 6): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await fixture.reconcileAfter(round < 3 ? 1_000 : 60_000);
}

async function emailOf(
  fixture: ProvisioningFixture,
  id: string,
  connection?: string,
): Promise<string | undefined> {
  return (await fixture.traveler(id, connection))?.email;
}

function parkedEmails({ travel }: ProvisioningFixture): string[] {
  return [...travel.travelers.values()]
    .map(({ email }) => email)
    .filter((email) => email.endsWith('.invalid'));
}

/** Gives the first person a parking address; all calls after that fail until the fault of the travel API is reset. */
async function failHalfway(fixture: ProvisioningFixture, [ada, bob]: [string, string]): Promise<void> {
  const { travel, patch } = fixture;
  await patch(ada, emailsOf(addressOf('Bob')));
  travel.faultFor = ({ verb }) =>
    verb === 'patch' && parkedEmails(fixture).length > 0 ? { kind: 'unavailable', text: '503' } : undefined;
  await patch(bob, emailsOf(addressOf('Ada')));
  expect(parkedEmails(fixture)).toHaveLength(1);
}

test('six pairs that exchange their addresses at once all get them', () =>
  withFixture(async (fixture) => {
    const names = Array.from({ length: 12 }, (_, index) => `P${index}`);
    const ids = await createUsers(fixture, names);
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: '503' });
    await Promise.all(ids.map((id, index) => fixture.patch(id, emailsOf(addressOf(names[index ^ 1] ?? '')))));
    fixture.travel.faultFor = () => undefined;
    await reconcileUntilIdle(fixture);
    const ends = await Promise.all(ids.map((id) => emailOf(fixture, id)));
    expect(ends).toEqual(names.map((_, index) => addressOf(names[index ^ 1] ?? '')));
    const findings = await Promise.all(ids.map((id) => fixture.findings(id)));
    expect(findings.flat()).toEqual([]);
  }));

test.each([
  ['the first', 0],
  ['the second', 1],
])('an administrator by the mapping never gets a parking address: %s of two who swap', (_, admin) =>
  withFixture(
    async (fixture) => {
      const [ada, bob] = await createPair(fixture);
      const id = [ada, bob][admin] ?? '';
      await fixture.patch(id, asAdmin);
      expect((await fixture.traveler(id))?.roles).toEqual(['admin']);
      const travelId = (await fixture.identity(id)).travelId;
      fixture.travel.calls.length = 0;
      await fixture.patch(ada, emailsOf(addressOf('Bob')));
      await fixture.patch(bob, emailsOf(addressOf('Ada')));
      await reconcileUntilIdle(fixture);
      expect([await emailOf(fixture, ada), await emailOf(fixture, bob)]).toEqual([
        addressOf('Bob'),
        addressOf('Ada'),
      ]);
      const sent = fixture.travel.writes().filter((call) => call.id === travelId);
      expect(
        sent.map(({ body }) => String(body?.email)).filter((email) => email.endsWith('.invalid')),
      ).toEqual([]);
    },
    { mapping: adminsAllowed },
  ),
);

test('two administrators by the mapping who want to swap get a finding', () =>
  withFixture(
    async (fixture) => {
      const [ada, bob] = await createPair(fixture);
      for (const id of [ada, bob]) await fixture.patch(id, asAdmin);
      await fixture.patch(ada, emailsOf(addressOf('Bob')));
      await fixture.patch(bob, emailsOf(addressOf('Ada')));
      await reconcileUntilIdle(fixture);
      expect(parkedEmails(fixture)).toEqual([]);
      const codes = [...(await fixture.findings(ada)), ...(await fixture.findings(bob))];
      expect(codes).toEqual(['email: emailTaken', 'email: emailTaken']);
      expect(await fixture.bridge.reconcileDue()).toBe(0);
    },
    { mapping: adminsAllowed },
  ));

test('who wants the address of a guarded administrator keeps the own one', () =>
  withFixture(async (fixture) => {
    const [ada, bob] = await createPair(fixture);
    const was = await fixture.traveler(bob);
    if (was) fixture.travel.travelers.set(was.id, { ...was, roles: ['admin'] });
    await fixture.patch(ada, emailsOf(addressOf('Bob')));
    await fixture.patch(bob, emailsOf(addressOf('Ada')));
    await reconcileUntilIdle(fixture);
    expect([await emailOf(fixture, ada), await emailOf(fixture, bob)]).toEqual([
      addressOf('Ada'),
      addressOf('Bob'),
    ]);
    expect(await fixture.bridge.reconcileDue()).toBe(0);
  }));

test('a third person may take an address that is free in the middle of a swap, and who waits for it has a finding', () =>
  withFixture(async (fixture) => {
    const both = await createPair(fixture);
    await failHalfway(fixture, both);
    const isParked = (await emailOf(fixture, both[0]))?.endsWith('.invalid');
    const [aside, other] = isParked ? both : [both[1], both[0]];
    fixture.travel.faultFor = () => undefined;
    const eve = person('Eve', { userName: 'eve', ...emailsOf(addressOf(isParked ? 'Ada' : 'Bob')) });
    const { id } = await fixture.bridge.users.create(users, eve);
    await reconcileUntilIdle(fixture);
    expect(await emailOf(fixture, id)).toBe(addressOf(isParked ? 'Ada' : 'Bob'));
    expect(await fixture.findings(other)).toEqual(['email: emailTaken']);
    expect(await emailOf(fixture, aside)).toBe(addressOf(isParked ? 'Bob' : 'Ada'));
  }));

test.each(['the first', 'the second'])(
  'after a swap no traveler keeps a parking address, also if a third person has waited for an address longer (%s)',
  (which) =>
    withFixture(async (fixture) => {
      const [ada, bob] = await createPair(fixture);
      const [cy = ''] = await createUsers(fixture, ['Cy']);
      await fixture.patch(cy, emailsOf(addressOf(which === 'the first' ? 'Ada' : 'Bob')));
      await fixture.patch(ada, emailsOf(addressOf('Bob')));
      await fixture.patch(bob, emailsOf(addressOf('Ada')));
      await reconcileUntilIdle(fixture);
      expect(parkedEmails(fixture)).toEqual([]);
      expect([await emailOf(fixture, ada), await emailOf(fixture, bob)]).toEqual([
        addressOf('Bob'),
        addressOf('Ada'),
      ]);
      expect(await fixture.findings(cy)).toEqual(['email: emailTaken']);
    }),
);

describe.each(['the person with the parking address', 'the other person'])('%s of two who swap', (which) => {
  test.each(['deactivated', 'deleted'])(
    'is %s in the middle, and nobody active keeps a parking address',
    (fate) =>
      withFixture(async (fixture) => {
        const both = await createPair(fixture);
        const [ada, bob] = both;
        await failHalfway(fixture, both);
        const isParked = async (id: string) => (await emailOf(fixture, id))?.endsWith('.invalid');
        const [aside, other] = (await isParked(ada)) ? [ada, bob] : [bob, ada];
        const [leaver, stayer] = which === 'the other' ? [other, aside] : [aside, other];
        if (fate === 'deleted') await fixture.bridge.users.remove(users, leaver);
        else await fixture.patch(leaver, { active: false });
        fixture.travel.faultFor = () => undefined;
        await reconcileUntilIdle(fixture);
        expect(await fixture.traveler(leaver)).toMatchObject({ archived: true });
        expect(await fixture.traveler(stayer)).toMatchObject({ archived: false });
        expect(await emailOf(fixture, stayer)).toMatch(/@corp\.example$/);
        expect(await fixture.bridge.reconcileDue()).toBe(0);
      }),
  );
});

test('where the travel API refuses parking addresses, the address is taken, and no other one is tried', () =>
  withFixture(async (fixture) => {
    const [ada, bob] = await createPair(fixture);
    fixture.travel.faultFor = ({ verb, body }) =>
      verb === 'patch' && String(body?.email).endsWith('.invalid')
        ? { kind: 'invalid', fields: [{ field: 'email', code: 'invalid', message: 'no such domain' }] }
        : undefined;
    await fixture.patch(ada, emailsOf(addressOf('Bob')));
    await fixture.patch(bob, { ...emailsOf(addressOf('Ada')), preferredLanguage: 'fr' });
    await reconcileUntilIdle(fixture, 10);
    for (let hour = 0; hour < 3; hour += 1) await fixture.importTravelers();
    expect(await fixture.findings(bob)).toContain('email: emailTaken');
    expect(
      fixture.travel.writes().filter(({ body }) => String(body?.email).endsWith('.invalid')).length,
    ).toBeLessThan(4);
    expect((await fixture.traveler(bob))?.lang).toBe('fr');
    expect(await fixture.bridge.reconcileDue()).toBe(0);
    fixture.travel.faultFor = () => undefined;
    await fixture.patch(ada, emailsOf('ada@new.example'));
    await reconcileUntilIdle(fixture);
    expect([await emailOf(fixture, ada), await emailOf(fixture, bob)]).toEqual([
      'ada@new.example',
      addressOf('Ada'),
    ]);
    expect([...(await fixture.findings(ada)), ...(await fixture.findings(bob))]).toEqual([]);
  }));

test('an unlinked traveler with a parking address is neither listed, found nor matched', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const address = 'parked-1@jetbridge.invalid';
    travel.addTraveler({ email: address });
    const known = travel.addTraveler({ email: 'known@corp.example' });
    await fixture.importTravelers();
    travel.travelers.set(known.id, { ...known, email: 'parked-2@JETBRIDGE.invalid' });
    await fixture.importTravelers();
    const emails = async () => JSON.stringify((await bridge.users.list(users, allUsers())).rows);
    expect(await emails()).not.toMatch(/parked-|known@/i);
    const byName = { field: 'userName', operator: 'eq', value: address } as const;
    expect((await bridge.users.list(users, usersWhere(byName))).rows).toEqual([]);
    const byEmail = { field: 'email', operator: 'eq', value: 'parked-2@jetbridge.invalid' } as const;
    expect((await bridge.users.list(users, usersWhere(byEmail))).rows).toEqual([]);
    const eve = await bridge.users.create(users, person('Eve', { userName: address, ...emailsOf(address) }));
    await reconcileUntilIdle(fixture);
    expect(await fixture.traveler(eve.id)).toBeUndefined();
    expect(await fixture.findings(eve.id)).toContain('email: noEmail');
  }));

test('no SCIM answer shows a parking address during a swap', () =>
  withFixture(async (fixture) => {
    const both = await createPair(fixture);
    await failHalfway(fixture, both);
    for (let round = 0; round < 3; round += 1) {
      await fixture.importTravelers();
      expect(JSON.stringify((await fixture.bridge.users.list(users, allUsers())).rows)).not.toMatch(
        /parked-/,
      );
      for (const id of both) {
        const { findings } = await fixture.identity(id);
        expect(JSON.stringify(findings)).not.toMatch(/parked-/);
        expect(findings.map(({ code }) => code)).not.toContain('drift');
      }
      await fixture.reconcileAfter(60_000);
    }
  }));

test('an address that is changed by hand during a swap is no drift', () =>
  withFixture(async (fixture) => {
    const both = await createPair(fixture);
    await failHalfway(fixture, both);
    for (const [id, traveler] of fixture.travel.travelers)
      if (traveler.email.endsWith('.invalid'))
        fixture.travel.travelers.set(id, { ...traveler, email: 'hand@corp.example' });
    await fixture.importTravelers();
    for (const id of both)
      expect(JSON.stringify(await fixture.identity(id).then(({ findings }) => findings))).not.toMatch(
        /drift|parked-/,
      );
    fixture.travel.faultFor = () => undefined;
    await reconcileUntilIdle(fixture);
    expect(await Promise.all(both.map((id) => emailOf(fixture, id)))).toEqual([
      addressOf('Bob'),
      addressOf('Ada'),
    ]);
  }));

test('a parking address is committed before it is sent', () =>
  withFixture(async (fixture) => {
    const [ada, bob] = await createPair(fixture);
    await fixture.patch(ada, emailsOf(addressOf('Bob')));
    let durable: unknown;
    fixture.travel.faultFor = async ({ verb, body }) => {
      if (verb === 'patch' && String(body?.email).endsWith('.invalid'))
        durable = [(await fixture.identity(bob)).applied.email?.sent, body?.email];
      return undefined;
    };
    await fixture.patch(bob, emailsOf(addressOf('Ada')));
    await reconcileUntilIdle(fixture);
    expect(durable).toEqual([expect.stringMatching(/^parked-.*@jetbridge\.invalid$/), expect.anything()]);
    expect((durable as unknown[])[0]).toBe((durable as unknown[])[1]);
  }));

test('a swap that becomes another one halfway ends: an address that nobody claims any more is given to who waits for it', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const create = async (name: string) => (await bridge.users.create(users, person(name))).id;
    const [grace, ada, alan] = [await create('Grace'), await create('Ada'), await create('Alan')];
    // Grace and Ada both get parking addresses, and then the travel API fails.
    const first = travel.holdCall('patch');
    const swapped = patch(grace, emailsOf(addressOf('Ada')));
    await patch(ada, emailsOf(addressOf('Grace')));
    travel.faultFor = () => ({ kind: 'unavailable', text: '503', isThrottled: true, retryAfterMs: 2_000 });
    first.release();
    await swapped;
    // Ada wants the address of Alan instead, and Alan the one that Ada has waited for.
    await patch(alan, emailsOf(addressOf('Grace')));
    await patch(ada, emailsOf(addressOf('Alan')));
    travel.faultFor = () => undefined;
    await reconcileUntilIdle(fixture);
    expect([
      await emailOf(fixture, grace),
      await emailOf(fixture, ada),
      await emailOf(fixture, alan),
    ]).toEqual([addressOf('Ada'), addressOf('Alan'), addressOf('Grace')]);
  }));

/** Each gives a traveler an address without the knowledge of the bridge. */
const hiddenHolders = {
  'unknown travelers': async ({ travel }: ProvisioningFixture, email: string) =>
    void travel.addTraveler({ email }),
  'people whose addresses were changed by hand': async (fixture: ProvisioningFixture, email: string) => {
    const { id } = await fixture.bridge.users.create(
      users,
      person(`Of ${email}`, emailsOf(`other-${email}`)),
    );
    const traveler = await fixture.traveler(id);
    if (!traveler) throw new Error('there is no traveler');
    fixture.travel.travelers.set(traveler.id, { ...traveler, email });
  },
};

test.each(Object.entries(hiddenHolders))(
  'two people swap their addresses although %s have their userNames',
  (_, hold) =>
    withFixture(async (fixture) => {
      const { bridge, patch } = fixture;
      const ids: string[] = [];
      for (const name of ['Ada', 'Bob']) {
        const userName = `${name.toLowerCase()}@login.example`;
        ids.push((await bridge.users.create(users, person(name, { userName }))).id);
        await hold(fixture, userName);
      }
      const [ada = '', bob = ''] = ids;
      await patch(ada, emailsOf(addressOf('Bob')));
      await patch(bob, emailsOf(addressOf('Ada')));
      await reconcileUntilIdle(fixture);
      expect(await emailOf(fixture, ada)).toBe(addressOf('Bob'));
      expect(await emailOf(fixture, bob)).toBe(addressOf('Ada'));
    }),
);

test('a traveler that leaves its parking address for one that a stranger has stays where it is, without a call for nothing', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const eve = await bridge.users.create(users, personWithPlainUserName('Eve'));
    const pair = await createPair(fixture);
    await failHalfway(fixture, pair);
    const [former] = [addressOf('Ada'), addressOf('Bob')].filter(
      (email) => ![...travel.travelers.values()].some((traveler) => traveler.email === email),
    );
    travel.addTraveler({ email: former ?? '' });
    travel.faultFor = () => undefined;
    // Both want the address of a third person, so that there is nothing left to exchange.
    for (const id of pair) await patch(id, emailsOf(addressOf('Eve')));
    await reconcileUntilIdle(fixture);
    travel.calls.length = 0;
    await reconcileUntilIdle(fixture);
    expect(travel.calls.filter(({ verb }) => verb === 'patch')).toEqual([]);
    expect((await fixture.traveler(eve.id))?.email).toBe(addressOf('Eve'));
  }));

test.each(['free', 'the address of a leaver'])(
  'an active person whose traveler has a parking address that the store has not sent gets the wanted one (%s)',
  (state) =>
    withFixture(async (fixture) => {
      const [ada, bob] = await createPair(fixture);
      const { travelers } = fixture.travel;
      const changeEmail = async (id: string, email: string) => {
        const traveler = await fixture.traveler(id);
        if (traveler) travelers.set(traveler.id, { ...traveler, email });
      };
      await changeEmail(ada, 'parked-1@jetbridge.invalid');
      if (state !== 'free') {
        await changeEmail(bob, addressOf('Ada'));
        await fixture.patch(bob, { active: false });
      }
      await fixture.importTravelers();
      await reconcileUntilIdle(fixture);
      expect((await fixture.traveler(ada))?.email).toBe(addressOf('Ada'));
      expect(await fixture.findings(ada)).toEqual([]);
    }),
);

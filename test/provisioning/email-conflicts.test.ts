import { holdFirstCall } from '../fixtures/holding-first.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';

/** A user whose userName is an address that differs from the email. */
function withLogin(name: string) {
  return person(name, { userName: `${name.toLowerCase()}@login.example` });
}

function listEmails({ travel }: ProvisioningFixture): string[] {
  return [...travel.travelers.values()].slice(1).map(({ email }) => email);
}

test('an address that an unknown traveler has is left out with a finding, and the rest is sent', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch, identity, findings } = fixture;
    travel.addTraveler({ email: 'boss@corp.example' });
    const ada = await bridge.users.create(users, person('Ada'));
    travel.calls.length = 0;
    await patch(ada.id, { ...emailsOf('boss@corp.example'), preferredLanguage: 'fr' });
    expect(travel.writes().map(({ body }) => body)).toEqual([
      { email: 'boss@corp.example', lang: 'fr' },
      { lang: 'fr' },
    ]);
    expect(await identity(ada.id)).toMatchObject({ state: 'synced', waitingFor: 'boss@corp.example' });
    expect(await findings(ada.id)).toEqual(['email: emailTaken']);
    expect(await fixture.traveler(ada.id)).toMatchObject({ email: addressOf('Ada'), lang: 'fr' });
  }));

test('an address that a known traveler has is not sent at all', () =>
  withFixture(async ({ bridge, travel, patch, findings }) => {
    await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    travel.calls.length = 0;
    await patch(ada.id, emailsOf(addressOf('Bob')));
    expect(travel.calls).toEqual([]);
    expect(await findings(ada.id)).toEqual(['email: emailTaken']);
  }));

test('a user who waits for an address gets it when the holder changes its own', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter, findings } = fixture;
    const bob = await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, emailsOf(addressOf('Bob')));
    await patch(bob.id, emailsOf('robert@corp.example'));
    await reconcileAfter(0);
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Bob'));
    expect(await findings(ada.id)).toEqual([]);
    expect((await fixture.identity(ada.id)).waitingFor).toBeUndefined();
  }));

test('a user who waits for an address gets it when the holder’s traveler is gone', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, travel, importTravelers } = fixture;
    const bob = await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, emailsOf(addressOf('Bob')));
    await patch(bob.id, { active: false });
    travel.travelers.delete(bob.travelUserId ?? '');
    fixture.clock.advance(60_000);
    await importTravelers();
    await importTravelers();
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Bob'));
  }));

test('a user who waits for the address of a deleted user gets it when an import finds the traveler gone', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, travel, importTravelers } = fixture;
    const bob = await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    await bridge.users.remove(users, bob.id);
    await patch(ada.id, emailsOf(addressOf('Bob')));
    expect(await fixture.findings(ada.id)).toEqual(['email: emailHeldByLeaver']);
    travel.travelers.delete(bob.travelUserId ?? '');
    fixture.clock.advance(60_000);
    await importTravelers();
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Bob'));
    expect(await fixture.findings(ada.id)).toEqual([]);
    expect(await fixture.identity(bob.id)).toMatchObject({ state: 'synced', travelId: undefined });
  }));

test('a user who waits for an address gets it when the traveler is deleted that was imported with it', () =>
  withFixture(
    async ({ bridge, clock, store, travel, importTravelers, patch, reconcileAfter, traveler }) => {
      travel.addTraveler({ email: addressOf('Ada') });
      await importTravelers();
      const { identities } = await store.identities.findPage(users, 0, 10);
      const id = identities.find(({ observed }) => observed?.email === addressOf('Ada'))?.id ?? '';
      await patch(id, { title: 'Engineer' });
      const bob = await bridge.users.create(users, person('Bob'));
      await patch(bob.id, emailsOf(addressOf('Ada')));
      await store.imports.saveObserved(users, [{ id, observed: undefined }], clock.now());
      await bridge.users.remove(users, id);
      await reconcileAfter(0);
      expect((await traveler(bob.id))?.email).toBe(addressOf('Ada'));
    },
    { policies: { deprovision: 'delete' } },
  ));

test('a user who waits for an unknown traveler’s address gets it when an import finds it changed', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, travel, importTravelers } = fixture;
    const boss = travel.addTraveler({ email: 'boss@corp.example' });
    await importTravelers();
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, emailsOf('boss@corp.example'));
    travel.travelers.set(boss.id, { ...boss, email: 'chief@corp.example' });
    await importTravelers();
    expect((await fixture.traveler(ada.id))?.email).toBe('boss@corp.example');
  }));

test('an address that becomes free while the identity begins to wait is still sent', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch, reconcileAfter } = fixture;
    const bob = await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    const heldCall = travel.holdCall('patch');
    const pendingPatch = patch(ada.id, { ...emailsOf(addressOf('Bob')), preferredLanguage: 'fr' });
    await heldCall.reached;
    await patch(bob.id, emailsOf('robert@corp.example'));
    heldCall.release();
    await pendingPatch;
    await reconcileAfter(0);
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Bob'));
  }));

test('a new user whose two addresses are taken gets a traveler as soon as the userName is free', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter } = fixture;
    await bridge.users.create(users, person('Bob'));
    const cy = await bridge.users.create(users, person('Cy', emailsOf('ada@login.example')));
    const ada = await bridge.users.create(
      users,
      person('Ada', { userName: 'ada@login.example', ...emailsOf(addressOf('Bob')) }),
    );
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'pending' });
    await patch(cy.id, emailsOf(addressOf('Cy')));
    await reconcileAfter(0);
    expect((await fixture.traveler(ada.id))?.email).toBe('ada@login.example');
    expect(await fixture.findings(ada.id)).toEqual(['email: emailTaken']);
  }));

test('two people swap their addresses', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter } = fixture;
    const ada = await bridge.users.create(users, withLogin('Ada'));
    const bob = await bridge.users.create(users, withLogin('Bob'));
    await patch(ada.id, emailsOf(addressOf('Bob')));
    await patch(bob.id, emailsOf(addressOf('Ada')));
    for (let round = 0; round < 4; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual([addressOf('Bob'), addressOf('Ada')]);
    expect([...(await fixture.findings(ada.id)), ...(await fixture.findings(bob.id))]).toEqual([]);
  }));

test('two people swap their addresses at the same moment', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter, travel } = fixture;
    const ada = await bridge.users.create(users, withLogin('Ada'));
    const bob = await bridge.users.create(users, withLogin('Bob'));
    const heldCall = travel.holdCall('patch');
    const first = patch(ada.id, { ...emailsOf(addressOf('Bob')), preferredLanguage: 'fr' });
    await heldCall.reached;
    const second = patch(bob.id, { ...emailsOf(addressOf('Ada')), preferredLanguage: 'fr' });
    await second;
    heldCall.release();
    await first;
    for (let round = 0; round < 4; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual([addressOf('Bob'), addressOf('Ada')]);
  }));

test('two people swap their addresses at the same moment when neither traveler’s address is known', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter, store, clock } = fixture;
    const ada = await bridge.users.create(users, withLogin('Ada'));
    const bob = await bridge.users.create(users, withLogin('Bob'));
    const unknown = [ada, bob].map(({ id }) => ({ id, observed: undefined }));
    await store.imports.saveObserved(users, unknown, clock.now());
    await Promise.all([patch(ada.id, emailsOf(addressOf('Bob'))), patch(bob.id, emailsOf(addressOf('Ada')))]);
    for (let round = 0; round < 4; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual([addressOf('Bob'), addressOf('Ada')]);
    expect([...(await fixture.findings(ada.id)), ...(await fixture.findings(bob.id))]).toEqual([]);
  }));

test('two people swap addresses whose lower case is not NFC', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter } = fixture;
    const [jan, jon] = ['J\u030can@corp.example', 'J\u030con@corp.example'] as const;
    const ada = await bridge.users.create(users, { ...withLogin('Ada'), ...emailsOf(jan) });
    const bob = await bridge.users.create(users, { ...withLogin('Bob'), ...emailsOf(jon) });
    await patch(ada.id, emailsOf(jon));
    await patch(bob.id, emailsOf(jan));
    for (let round = 0; round < 4; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual([jon, jan]);
  }));

test('of two people who swap their addresses the one who has left parks', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { userName: 'ada' }));
    const bob = await bridge.users.create(users, person('Bob', { userName: 'bob' }));
    await patch(bob.id, { active: false });
    await patch(ada.id, emailsOf(addressOf('Bob')));
    await patch(bob.id, emailsOf(addressOf('Ada')));
    for (let round = 0; round < 4; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual([addressOf('Bob'), expect.stringMatching(/^parked-/)]);
    expect([...(await fixture.findings(ada.id)), ...(await fixture.findings(bob.id))]).toEqual([]);
  }));

test('two people swap their addresses, one of whom has no traveler yet', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch, reconcileAfter } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { userName: 'ada' }));
    travel.faultFor = ({ verb }) => (verb === 'create' ? { kind: 'unavailable', text: '500' } : undefined);
    const bob = await bridge.users.create(users, person('Bob'));
    await patch(ada.id, emailsOf(addressOf('Bob')));
    await patch(bob.id, emailsOf(addressOf('Ada')));
    travel.faultFor = () => undefined;
    for (let round = 0; round < 4; round += 1) await reconcileAfter(60_000);
    expect(listEmails(fixture)).toEqual([addressOf('Bob'), addressOf('Ada')]);
    expect([...(await fixture.findings(ada.id)), ...(await fixture.findings(bob.id))]).toEqual([]);
  }));

test('three people exchange their addresses in a cycle', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter } = fixture;
    const names = ['Ada', 'Bob', 'Cy'];
    const ids: string[] = [];
    for (const name of names) ids.push((await bridge.users.create(users, withLogin(name))).id);
    for (const [index, id] of ids.entries()) {
      await patch(id, emailsOf(addressOf(names[(index + 1) % 3] ?? '')));
    }
    for (let round = 0; round < 6; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual(['Bob', 'Cy', 'Ada'].map(addressOf));
  }));

test('three people exchange their addresses in a cycle, and the address of one is not known meanwhile', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter, store, clock } = fixture;
    const names = ['Ada', 'Bob', 'Cy'];
    const ids: string[] = [];
    for (const name of names) ids.push((await bridge.users.create(users, withLogin(name))).id);
    const [ada = '', bob = '', cy = ''] = ids;
    await store.imports.saveObserved(users, [{ id: ada, observed: undefined }], clock.now());
    const { held, reached, release } = holdFirstCall(store.leases.finish);
    store.leases.finish = held;
    // Ada's attempt has looked for a cycle, and its outcome is not stored yet.
    const first = patch(ada, emailsOf(addressOf('Bob')));
    await reached;
    await patch(cy, emailsOf(addressOf('Ada')));
    await patch(bob, emailsOf(addressOf('Cy')));
    release();
    await first;
    for (let round = 0; round < 6; round += 1) await reconcileAfter(1_000);
    expect(listEmails(fixture)).toEqual(['Bob', 'Cy', 'Ada'].map(addressOf));
  }));

test('a cycle without a free address keeps its addresses, with a finding', () =>
  withFixture(
    async (fixture) => {
      const { bridge, patch, reconcileAfter } = fixture;
      const ada = await bridge.users.create(users, person('Ada', { userName: 'ada' }));
      const bob = await bridge.users.create(users, person('Bob', { userName: 'bob' }));
      await patch(ada.id, emailsOf(addressOf('Bob')));
      await patch(bob.id, emailsOf(addressOf('Ada')));
      await reconcileAfter(1_000);
      expect(listEmails(fixture)).toEqual([addressOf('Ada'), addressOf('Bob')]);
      expect(await fixture.findings(ada.id)).toEqual(['email: emailTaken']);
      expect(await fixture.findings(bob.id)).toEqual(['email: emailTaken']);
      expect(await bridge.reconcileDue()).toBe(0);
    },
    { parkingDomain: null },
  ));

test('the second of two users with one address gets the userName as address, with a finding', () =>
  withFixture(async (fixture) => {
    const { bridge, findings } = fixture;
    await bridge.users.create(users, person('Ada'));
    const eve = await bridge.users.create(users, { ...withLogin('Eve'), ...emailsOf(addressOf('Ada')) });
    expect((await fixture.traveler(eve.id))?.email).toBe('eve@login.example');
    expect(await findings(eve.id)).toEqual(['email: emailTaken']);
    expect((await fixture.identity(eve.id)).state).toBe('synced');
  }));

test.each(['a user', 'an unknown traveler'])(
  'a returned leaver whose two addresses are taken by %s and an unknown traveler keeps the parking address, without a call for nothing',
  (holder) =>
    withFixture(async (fixture) => {
      const { bridge, travel, patch, reconcileAfter, importTravelers } = fixture;
      const { id } = await bridge.users.create(users, { ...withLogin('Ada'), ...emailsOf(addressOf('Ada')) });
      await patch(id, { active: false });
      const eve = await bridge.users.create(users, person('Eve', emailsOf(addressOf('Ada'))));
      await reconcileAfter(1_000);
      if (holder !== 'a user') {
        await patch(eve.id, emailsOf(addressOf('Eve')));
        travel.addTraveler({ email: addressOf('Ada') });
      }
      travel.addTraveler({ email: 'ada@login.example' });
      await patch(id, { active: true });
      expect((await fixture.traveler(id))?.email).toMatch(/^parked-/);
      expect(await fixture.identity(id)).toMatchObject({ state: 'synced', waitingFor: addressOf('Ada') });
      await reconcileAfter(1_000);
      travel.calls.length = 0;
      await importTravelers();
      expect(travel.writes()).toEqual([]);
    }),
);

test('a returned leaver with a parking address gets the userName as address as soon as it is free', () =>
  withFixture(async ({ bridge, traveler, patch, reconcileAfter }) => {
    const { id } = await bridge.users.create(users, { ...withLogin('Ada'), ...emailsOf(addressOf('Ada')) });
    await patch(id, { active: false });
    await bridge.users.create(users, person('Eve', emailsOf(addressOf('Ada'))));
    const bob = await bridge.users.create(users, person('Bob', emailsOf('ada@login.example')));
    await reconcileAfter(1_000);
    await patch(id, { active: true });
    expect((await traveler(id))?.email).toMatch(/^parked-/);
    await patch(bob.id, emailsOf(addressOf('Bob')));
    await reconcileAfter(0);
    expect((await traveler(id))?.email).toBe('ada@login.example');
  }));

test('a returned leaver with a parking address, whose address an unknown traveler has, gets the userName as address', () =>
  withFixture(async ({ bridge, travel, traveler, findings, patch, reconcileAfter, importTravelers }) => {
    const { id } = await bridge.users.create(users, { ...withLogin('Ada'), ...emailsOf(addressOf('Ada')) });
    await patch(id, { active: false });
    const eve = await bridge.users.create(users, person('Eve', emailsOf(addressOf('Ada'))));
    await reconcileAfter(1_000);
    await patch(eve.id, emailsOf(addressOf('Eve')));
    const stranger = travel.addTraveler({ email: addressOf('Ada') });
    await patch(id, { active: true });
    expect((await traveler(id))?.email).toBe('ada@login.example');
    expect(await findings(id)).toEqual(['email: emailTaken']);
    travel.travelers.delete(stranger.id);
    travel.addTraveler({ email: addressOf('Bob') });
    await importTravelers();
    await patch(id, { title: 'Engineer' });
    expect((await traveler(id))?.email).toBe(addressOf('Ada'));
  }));

test('a traveler with a parking address does not take its userName from a user who waits for that address', () =>
  withFixture(async ({ bridge, travel, traveler, patch, reconcileAfter, importTravelers }) => {
    const { id } = await bridge.users.create(users, { ...withLogin('Ada'), ...emailsOf(addressOf('Ada')) });
    await patch(id, { active: false });
    await bridge.users.create(users, person('Eve', emailsOf(addressOf('Ada'))));
    const bob = await bridge.users.create(users, person('Bob', emailsOf('ada@login.example')));
    const carl = await bridge.users.create(users, person('Carl'));
    await patch(carl.id, emailsOf('ada@login.example'));
    await reconcileAfter(1_000);
    await patch(id, { active: true });
    await patch(bob.id, emailsOf(addressOf('Bob')));
    // The write comes before the attempt at the user who waits.
    await patch(id, { title: 'Engineer' });
    await reconcileAfter(0);
    expect((await traveler(carl.id))?.email).toBe('ada@login.example');
    expect((await traveler(id))?.email).toMatch(/^parked-/);
    travel.calls.length = 0;
    await importTravelers();
    expect(travel.writes()).toEqual([]);
  }));

test('a returned leaver who waits since before the return for the address of a user who waits for another one gets it', () =>
  withFixture(async ({ bridge, travel, traveler, patch, reconcileAfter }) => {
    travel.addTraveler({ email: 'boss@corp.example' });
    const bob = await bridge.users.create(users, withLogin('Bob'));
    const eve = await bridge.users.create(users, person('Eve'));
    await patch(bob.id, emailsOf(addressOf('Bob')));
    await patch(bob.id, emailsOf('boss@corp.example'));
    await patch(eve.id, { active: false, ...emailsOf(addressOf('Bob')) });
    await reconcileAfter(1_000);
    expect((await traveler(bob.id))?.email).toBe(addressOf('Bob'));
    await patch(eve.id, { active: true });
    await reconcileAfter(1_000);
    expect((await traveler(eve.id))?.email).toBe(addressOf('Bob'));
    expect((await traveler(bob.id))?.email).toBe('bob@login.example');
  }));

test('a user with the userName as address takes the shared address once it is free', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, reconcileAfter } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    const eve = await bridge.users.create(users, { ...withLogin('Eve'), ...emailsOf(addressOf('Ada')) });
    await patch(ada.id, emailsOf('a.king@corp.example'));
    await reconcileAfter(0);
    expect((await fixture.traveler(eve.id))?.email).toBe(addressOf('Ada'));
    expect(await fixture.findings(eve.id)).toEqual([]);
  }));

test('an address is never removed: without a valid one, the applied one stays', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, findings } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { userName: 'ada' }));
    travel.calls.length = 0;
    const { emails: _, ...without } = person('Ada', { userName: 'ada' });
    await bridge.users.change(users, ada.id, () => without, 'replace');
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Ada'));
    expect(travel.calls).toEqual([]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
    expect(await findings(ada.id)).toEqual(['email: emailInvalid']);
  }));

test('a new user without an address is pending, and gets a traveler with the first one', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, findings, patch } = fixture;
    const { emails: _, ...without } = person('Ada', { userName: 'ada' });
    const ada = await bridge.users.create(users, without);
    expect((await fixture.identity(ada.id)).state).toBe('pending');
    expect(await findings(ada.id)).toContain('email: noEmail');
    expect(travel.calls).toEqual([]);
    await patch(ada.id, emailsOf(addressOf('Ada')));
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Ada'));
  }));

test('a change of an address in upper and lower case alone is sent', () =>
  withFixture(async (fixture) => {
    const { bridge, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, emailsOf('Ada@Corp.example'));
    expect(await fixture.findings(ada.id)).toEqual([]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('without a parking domain the address of a leaver is taken', () =>
  withFixture(
    async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      await fixture.patch(ada.id, { active: false });
      const bob = await fixture.bridge.users.create(users, person('Bob'));
      await fixture.patch(bob.id, emailsOf(addressOf('Ada')));
      await fixture.reconcileAfter(61_000);
      expect(await fixture.findings(bob.id)).toEqual(['email: emailTaken']);
      expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Ada'));
      expect((await fixture.traveler(bob.id))?.email).toBe(addressOf('Bob'));
    },
    { parkingDomain: null },
  ));

test.each([
  ['the userName', 'bob@login.example'],
  ['a parking address', 'bob'],
])(
  'who waits for another address gives the present one up for %s, and takes its own when it can',
  (_, userName) =>
    withFixture(async (fixture) => {
      const { bridge, patch, reconcileAfter } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      const bob = await bridge.users.create(users, person('Bob', { userName }));
      const cy = await bridge.users.create(users, person('Cy'));
      await patch(bob.id, emailsOf(addressOf('Ada')));
      expect((await fixture.traveler(bob.id))?.email).toBe(addressOf('Bob'));
      await patch(cy.id, emailsOf(addressOf('Bob')));
      for (let round = 0; round < 3; round += 1) await reconcileAfter(1_000);
      expect((await fixture.traveler(cy.id))?.email).toBe(addressOf('Bob'));
      const aside = userName.includes('@') ? userName : expect.stringMatching(/^parked-/);
      expect((await fixture.traveler(bob.id))?.email).toEqual(aside);
      expect(await fixture.findings(bob.id)).toEqual(['email: emailTaken']);
      await patch(ada.id, emailsOf(addressOf('Ada2')));
      for (let round = 0; round < 3; round += 1) await reconcileAfter(1_000);
      expect((await fixture.traveler(bob.id))?.email).toBe(addressOf('Ada'));
      expect(await fixture.findings(bob.id)).toEqual([]);
    }),
);

test('a leaver gets a parking address, and waits for the own address after a reactivation', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, { active: false });
    const bob = await fixture.bridge.users.create(users, person('Bob', emailsOf(addressOf('Ada'))));
    for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
    expect((await fixture.traveler(bob.id))?.email).toBe(addressOf('Ada'));
    expect((await fixture.traveler(ada.id))?.email).toMatch(/@jetbridge\.invalid$/);
    await fixture.patch(ada.id, { active: true });
    for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
    expect(await fixture.findings(ada.id)).toContain('email: emailTaken');
    expect((await fixture.traveler(ada.id))?.archived).toBe(false);
    await fixture.patch(bob.id, emailsOf(addressOf('Bob')));
    for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Ada'));
    expect(await fixture.findings(ada.id)).toEqual([]);
  }));

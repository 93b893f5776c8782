import type { TravelFault } from '../fixtures/fake-travel.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';

/** The travelers apart from the credential's own. */
function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

/** The next call of the verb meets the trouble; those after it none. */
function once({ travel }: ProvisioningFixture, verb: string, trouble: TravelFault): void {
  travel.faultFor = (call) => {
    if (call.verb !== verb) return undefined;
    travel.faultFor = () => undefined;
    return trouble;
  };
}

test('a create whose answer was lost is found by its address, and makes no second traveler', () =>
  withFixture(async (fixture) => {
    once(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'dirty', creating: addressOf('Ada') });
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toHaveLength(1);
    expect(await fixture.identity(ada.id)).toMatchObject({
      state: 'synced',
      travelId: travelers(fixture)[0]?.id,
      creating: undefined,
    });
    expect(fixture.travel.writes().map(({ verb }) => verb)).toEqual(['create']);
  }));

test('what a lost create had sent and is no longer wanted is taken away', () =>
  withFixture(async (fixture) => {
    once(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    await fixture.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.not.objectContaining({ lang: 'fr' })]);
  }));

test.each<[string, TravelFault]>([
  ['before it is sent', 'hang'],
  ['after it was carried out', 'die'],
])('a process killed at a create, %s, leaves one traveler', (_, trouble) =>
  withFixture(async (fixture) => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    fixture.travel.faultFor = ({ verb }) => {
      if (verb === 'create') arrived();
      return verb === 'create' ? trouble : undefined;
    };
    const answer = fixture.bridge.users.create(users, person('Ada'));
    await arrival;
    fixture.clock.advance(800);
    const ada = await answer;
    await fixture.restart();
    await fixture.reconcileAfter(0);
    expect(travelers(fixture)).toHaveLength(1);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', creating: undefined });
  }),
);

test.each(['deactivated', 'deleted'])(
  'a process killed when it makes a vanished traveler anew leaves none behind who is then %s',
  (fate) =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      fixture.travel.travelers.delete(ada.travelUserId ?? '');
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      fixture.travel.faultFor = ({ verb }) => {
        if (verb === 'create') arrived();
        return verb === 'create' ? 'die' : undefined;
      };
      const answer = fixture.patch(ada.id, { preferredLanguage: 'fr' });
      await arrival;
      fixture.clock.advance(800);
      await answer;
      await fixture.restart();
      if (fate === 'deleted') await fixture.bridge.users.remove(users, ada.id);
      else await fixture.patch(ada.id, { active: false });
      await fixture.reconcileAfter(5_000);
      const { travelId } = await fixture.identity(ada.id);
      expect(travelers(fixture)).toEqual([expect.objectContaining({ id: travelId, archived: true })]);
    }),
);

test('a traveler who has the address already is linked, and made as the IdP wants', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({ email: 'ADA@corp.example', firstName: 'A.', currency: 'EUR' });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(ada.travelUserId).toBe(old.id);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ firstName: 'Ada', currency: 'EUR' })]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('an archived traveler who has the address is taken back into use', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: addressOf('Ada'), archived: true });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect((await fixture.traveler(ada.id))?.archived).toBe(false);
  }));

test('a traveler who is linked to somebody is not linked again', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const twin = person('Eve', emailsOf(addressOf('Ada')));
    const { userName: _, ...nameless } = twin;
    const eve = await fixture.bridge.users.create(users, { ...nameless, userName: 'eve' });
    expect(eve.travelUserId).toBeUndefined();
    expect(await fixture.identity(eve.id)).toMatchObject({ state: 'pending', waitingFor: addressOf('Ada') });
    expect(await fixture.findings(eve.id)).toEqual(['email: emailTaken']);
    expect((await fixture.identity(ada.id)).travelId).toBe(travelers(fixture)[0]?.id);
  }));

test('a policy of refuse leaves an existing traveler alone, and says so', () =>
  withFixture(
    async (fixture) => {
      const old = fixture.travel.addTraveler({ email: addressOf('Ada'), firstName: 'A.' });
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      expect(await fixture.identity(ada.id)).toMatchObject({
        state: 'pending',
        travelId: undefined,
        creating: undefined,
      });
      expect(await fixture.findings(ada.id)).toEqual(['email: existingUser']);
      expect(travelers(fixture)).toEqual([old]);
    },
    { policies: { onExistingUser: 'refuse' } },
  ));

test('a policy of refuse still finds our own traveler again after a lost answer', () =>
  withFixture(
    async (fixture) => {
      once(fixture, 'create', 'lose');
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      await fixture.reconcileAfter(2_000);
      expect((await fixture.identity(ada.id)).state).toBe('synced');
      expect(travelers(fixture)).toHaveLength(1);
    },
    { policies: { onExistingUser: 'refuse' } },
  ));

test('two reconcilers at once make one traveler', () =>
  withFixture(async (fixture) => {
    once(fixture, 'create', { kind: 'unavailable', text: 'down' });
    const people = await Promise.all(
      ['Ada', 'Bob', 'Cy', 'Di'].map((name) => fixture.bridge.users.create(users, person(name))),
    );
    const other = fixture.replica();
    fixture.clock.advance(2_000);
    await Promise.all([fixture.bridge.reconcileDue(), other.reconcileDue()]);
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toHaveLength(people.length);
  }));

test('a changed address finds the traveler of the lost create under the old one, and moves it', () =>
  withFixture(async (fixture) => {
    once(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('of two travelers found, the one under the announced address is ours', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: 'ada.king@corp.example', firstName: 'Other' });
    const { findByEmails: byEmail } = fixture.travel.users;
    fixture.travel.users.findByEmails = async (emails) => {
      const answer = await byEmail(emails);
      return answer.kind === 'ok' ? { ...answer, value: answer.value.toReversed() } : answer;
    };
    await fixture.restart();
    once(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    await fixture.reconcileAfter(2_000);
    const link = (await fixture.identity(ada.id)).travelId;
    expect(travelers(fixture).find(({ id }) => id === link)).toMatchObject({ email: addressOf('Ada') });
    expect(await fixture.findings(ada.id)).toEqual(['email: emailTaken']);
  }));

test('a create that arrives late is waited for before another address is tried', () =>
  withFixture(async (fixture) => {
    let late = () => {};
    fixture.travel.faultFor = ({ verb, body }) => {
      if (verb !== 'create' || body?.email !== addressOf('Ada')) return undefined;
      late = () => fixture.travel.addTraveler({ ...body, email: String(body.email) });
      return { kind: 'unavailable', text: 'time-out' };
    };
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    late();
    for (let look = 0; look < 4; look += 1) await fixture.reconcileAfter(5_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('a create that never arrived does not keep somebody from another address', () =>
  withFixture(async (fixture) => {
    once(fixture, 'create', { kind: 'unavailable', text: 'down' });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    for (let look = 0; look < 6; look += 1) await fixture.reconcileAfter(30_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('a user deleted while their create is open leaves no traveler in use', () =>
  withFixture(async (fixture) => {
    once(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.bridge.users.remove(users, ada.id);
    for (let look = 0; look < 4; look += 1) await fixture.reconcileAfter(10_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', creating: undefined });
  }));

test('a user deleted while their create hangs leaves no traveler in use', () =>
  withFixture(async (fixture) => {
    const held = fixture.travel.holdCall('create');
    const posted = fixture.bridge.users.create(users, person('Ada'));
    await held.reached;
    fixture.clock.advance(800);
    const ada = await posted;
    await fixture.bridge.users.remove(users, ada.id);
    held.release();
    await fixture.waitForLeases();
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test('a lost patch that is taken back by the IdP is taken back in the travel service too', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'en' }));
    once(fixture, 'patch', 'lose');
    await fixture.patch(ada.id, { preferredLanguage: 'fr', locale: 'fr', ...emailsOf('a@corp.example') });
    expect(await fixture.traveler(ada.id)).toMatchObject({ lang: 'fr', email: 'a@corp.example' });
    await fixture.patch(ada.id, { preferredLanguage: 'en', ...emailsOf(addressOf('Ada')) });
    await fixture.reconcileAfter(5_000);
    expect(await fixture.traveler(ada.id)).toMatchObject({ lang: 'en', email: addressOf('Ada') });
  }));

test('a lost patch that added a field which is then removed leaves no trace of it', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    once(fixture, 'patch', 'lose');
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    await fixture.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await fixture.reconcileAfter(5_000);
    expect(await fixture.traveler(ada.id)).not.toHaveProperty('lang');
  }));

test('a lost removal that is taken back by the IdP is sent again', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    once(fixture, 'patch', 'lose');
    await fixture.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    await fixture.reconcileAfter(5_000);
    expect((await fixture.traveler(ada.id))?.lang).toBe('fr');
  }));

test.each([
  ['', false],
  [', though an import saw it first', true],
])(
  'a patch of a killed process that the IdP takes back is taken back at the travel API too%s',
  (_, imports) =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'en' }));
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      fixture.travel.faultFor = () => {
        arrived();
        return 'die';
      };
      const answer = fixture.patch(ada.id, { preferredLanguage: 'fr' });
      await arrival;
      fixture.clock.advance(800);
      await answer;
      await fixture.restart();
      if (imports) await fixture.bridge.importer.run(fixture.connection);
      await fixture.patch(ada.id, { preferredLanguage: 'en' });
      await fixture.reconcileAfter(1_000);
      expect((await fixture.traveler(ada.id))?.lang).toBe('en');
    }),
);

import { addressOf, type BridgeHouse, emailsOf, inHouse, person } from '../support/bridge-house.ts';
import type { Trouble } from '../support/fake-travel.ts';

const users = 'default';

/** The travelers apart from the credential's own. */
function travelers({ travel }: BridgeHouse) {
  return [...travel.people.values()].slice(1);
}

/** The next call of the verb meets the trouble; those after it none. */
function once({ travel }: BridgeHouse, verb: string, trouble: Trouble): void {
  travel.trouble = (call) => {
    if (call.verb !== verb) return undefined;
    travel.trouble = () => undefined;
    return trouble;
  };
}

test('a create whose answer was lost is found by its address, and makes no second traveler', () =>
  inHouse(async (house) => {
    once(house, 'create', 'lose');
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'dirty', creating: addressOf('Ada') });
    await house.pass(2_000);
    expect(travelers(house)).toHaveLength(1);
    expect(await house.identity(ada.id)).toMatchObject({
      state: 'synced',
      travelId: travelers(house)[0]?.id,
      creating: undefined,
    });
    expect(house.travel.writes().map(({ verb }) => verb)).toEqual(['create']);
  }));

test('what a lost create had sent and is no longer wanted is taken away', () =>
  inHouse(async (house) => {
    once(house, 'create', 'lose');
    const ada = await house.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    await house.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await house.pass(2_000);
    expect(travelers(house)).toEqual([expect.not.objectContaining({ lang: 'fr' })]);
  }));

test.each<[string, Trouble]>([
  ['before it is sent', 'hang'],
  ['after it was carried out', 'die'],
])('a process killed at a create, %s, leaves one traveler', (_, trouble) =>
  inHouse(async (house) => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    house.travel.trouble = ({ verb }) => {
      if (verb === 'create') arrived();
      return verb === 'create' ? trouble : undefined;
    };
    const answer = house.bridge.users.create(users, person('Ada'));
    await arrival;
    house.clock.advance(800);
    const ada = await answer;
    await house.restart();
    await house.pass(0);
    expect(travelers(house)).toHaveLength(1);
    expect(await house.identity(ada.id)).toMatchObject({ state: 'synced', creating: undefined });
  }),
);

test.each(['deactivated', 'deleted'])(
  'a process killed when it makes a vanished traveler anew leaves none behind who is then %s',
  (fate) =>
    inHouse(async (house) => {
      const ada = await house.bridge.users.create(users, person('Ada'));
      house.travel.people.delete(ada.travelUserId ?? '');
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      house.travel.trouble = ({ verb }) => {
        if (verb === 'create') arrived();
        return verb === 'create' ? 'die' : undefined;
      };
      const answer = house.patch(ada.id, { preferredLanguage: 'fr' });
      await arrival;
      house.clock.advance(800);
      await answer;
      await house.restart();
      if (fate === 'deleted') await house.bridge.users.remove(users, ada.id);
      else await house.patch(ada.id, { active: false });
      await house.pass(5_000);
      const { travelId } = await house.identity(ada.id);
      expect(travelers(house)).toEqual([expect.objectContaining({ id: travelId, archived: true })]);
    }),
);

test('a traveler who has the address already is linked, and made as the IdP wants', () =>
  inHouse(async (house) => {
    const old = house.travel.add({ email: 'ADA@corp.example', firstName: 'A.', currency: 'EUR' });
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(ada.travelUserId).toBe(old.id);
    expect(travelers(house)).toEqual([expect.objectContaining({ firstName: 'Ada', currency: 'EUR' })]);
    expect((await house.identity(ada.id)).state).toBe('synced');
  }));

test('an archived traveler who has the address is taken back into use', () =>
  inHouse(async (house) => {
    house.travel.add({ email: addressOf('Ada'), archived: true });
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect((await house.traveler(ada.id))?.archived).toBe(false);
  }));

test('a traveler who is linked to somebody is not linked again', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    const twin = person('Eve', emailsOf(addressOf('Ada')));
    const { userName: _, ...nameless } = twin;
    const eve = await house.bridge.users.create(users, { ...nameless, userName: 'eve' });
    expect(eve.travelUserId).toBeUndefined();
    expect(await house.identity(eve.id)).toMatchObject({ state: 'pending', waitingFor: addressOf('Ada') });
    expect(await house.findings(eve.id)).toEqual(['email: emailTaken']);
    expect((await house.identity(ada.id)).travelId).toBe(travelers(house)[0]?.id);
  }));

test('a policy of refuse leaves an existing traveler alone, and says so', () =>
  inHouse(
    async (house) => {
      const old = house.travel.add({ email: addressOf('Ada'), firstName: 'A.' });
      const ada = await house.bridge.users.create(users, person('Ada'));
      expect(await house.identity(ada.id)).toMatchObject({
        state: 'pending',
        travelId: undefined,
        creating: undefined,
      });
      expect(await house.findings(ada.id)).toEqual(['email: existingUser']);
      expect(travelers(house)).toEqual([old]);
    },
    { policies: { onExistingUser: 'refuse' } },
  ));

test('a policy of refuse still finds our own traveler again after a lost answer', () =>
  inHouse(
    async (house) => {
      once(house, 'create', 'lose');
      const ada = await house.bridge.users.create(users, person('Ada'));
      await house.pass(2_000);
      expect((await house.identity(ada.id)).state).toBe('synced');
      expect(travelers(house)).toHaveLength(1);
    },
    { policies: { onExistingUser: 'refuse' } },
  ));

test('two reconcilers at once make one traveler', () =>
  inHouse(async (house) => {
    once(house, 'create', { kind: 'unavailable', text: 'down' });
    const people = await Promise.all(
      ['Ada', 'Bob', 'Cy', 'Di'].map((name) => house.bridge.users.create(users, person(name))),
    );
    const other = house.replica();
    house.clock.advance(2_000);
    await Promise.all([house.bridge.settleDue(), other.settleDue()]);
    await house.pass(2_000);
    expect(travelers(house)).toHaveLength(people.length);
  }));

test('a changed address finds the traveler of the lost create under the old one, and moves it', () =>
  inHouse(async (house) => {
    once(house, 'create', 'lose');
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.patch(ada.id, emailsOf('ada.king@corp.example'));
    await house.pass(2_000);
    expect(travelers(house)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('of two travelers found, the one under the announced address is ours', () =>
  inHouse(async (house) => {
    house.travel.add({ email: 'ada.king@corp.example', firstName: 'Other' });
    const { byEmail } = house.travel.users;
    house.travel.users.byEmail = async (emails) => {
      const answer = await byEmail(emails);
      return answer.kind === 'ok' ? { ...answer, value: answer.value.toReversed() } : answer;
    };
    await house.restart();
    once(house, 'create', 'lose');
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.patch(ada.id, emailsOf('ada.king@corp.example'));
    await house.pass(2_000);
    const link = (await house.identity(ada.id)).travelId;
    expect(travelers(house).find(({ id }) => id === link)).toMatchObject({ email: addressOf('Ada') });
    expect(await house.findings(ada.id)).toEqual(['email: emailTaken']);
  }));

test('a create that arrives late is waited for before another address is tried', () =>
  inHouse(async (house) => {
    let late = () => {};
    house.travel.trouble = ({ verb, body }) => {
      if (verb !== 'create' || body?.email !== addressOf('Ada')) return undefined;
      late = () => house.travel.add({ ...body, email: String(body.email) });
      return { kind: 'unavailable', text: 'time-out' };
    };
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.patch(ada.id, emailsOf('ada.king@corp.example'));
    late();
    for (let look = 0; look < 4; look += 1) await house.pass(5_000);
    expect(travelers(house)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
    expect((await house.identity(ada.id)).state).toBe('synced');
  }));

test('a create that never arrived does not keep somebody from another address', () =>
  inHouse(async (house) => {
    once(house, 'create', { kind: 'unavailable', text: 'down' });
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.patch(ada.id, emailsOf('ada.king@corp.example'));
    for (let look = 0; look < 6; look += 1) await house.pass(30_000);
    expect(travelers(house)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('a user deleted while their create is open leaves no traveler in use', () =>
  inHouse(async (house) => {
    once(house, 'create', 'lose');
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.bridge.users.remove(users, ada.id);
    for (let look = 0; look < 4; look += 1) await house.pass(10_000);
    expect(travelers(house)).toEqual([expect.objectContaining({ archived: true })]);
    expect(await house.identity(ada.id)).toMatchObject({ state: 'synced', creating: undefined });
  }));

test('a user deleted while their create hangs leaves no traveler in use', () =>
  inHouse(async (house) => {
    const held = house.travel.hold('create');
    const posted = house.bridge.users.create(users, person('Ada'));
    await held.reached;
    house.clock.advance(800);
    const ada = await posted;
    await house.bridge.users.remove(users, ada.id);
    held.release();
    await house.quiet();
    await house.pass(2_000);
    expect(travelers(house)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test('a lost patch that is taken back by the IdP is taken back in the travel service too', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada', { preferredLanguage: 'en' }));
    once(house, 'patch', 'lose');
    await house.patch(ada.id, { preferredLanguage: 'fr', locale: 'fr', ...emailsOf('a@corp.example') });
    expect(await house.traveler(ada.id)).toMatchObject({ lang: 'fr', email: 'a@corp.example' });
    await house.patch(ada.id, { preferredLanguage: 'en', ...emailsOf(addressOf('Ada')) });
    await house.pass(5_000);
    expect(await house.traveler(ada.id)).toMatchObject({ lang: 'en', email: addressOf('Ada') });
  }));

test('a lost patch that added a field which is then removed leaves no trace of it', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    once(house, 'patch', 'lose');
    await house.patch(ada.id, { preferredLanguage: 'fr' });
    await house.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await house.pass(5_000);
    expect(await house.traveler(ada.id)).not.toHaveProperty('lang');
  }));

test('a lost removal that is taken back by the IdP is sent again', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    once(house, 'patch', 'lose');
    await house.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await house.patch(ada.id, { preferredLanguage: 'fr' });
    await house.pass(5_000);
    expect((await house.traveler(ada.id))?.lang).toBe('fr');
  }));

test.each([
  ['', false],
  [', though an import saw it first', true],
])(
  'a patch of a killed process that the IdP takes back is taken back at the travel API too%s',
  (_, imports) =>
    inHouse(async (house) => {
      const ada = await house.bridge.users.create(users, person('Ada', { preferredLanguage: 'en' }));
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      house.travel.trouble = () => {
        arrived();
        return 'die';
      };
      const answer = house.patch(ada.id, { preferredLanguage: 'fr' });
      await arrival;
      house.clock.advance(800);
      await answer;
      await house.restart();
      if (imports) await house.bridge.importer.run(house.connection);
      await house.patch(ada.id, { preferredLanguage: 'en' });
      await house.pass(1_000);
      expect((await house.traveler(ada.id))?.lang).toBe('en');
    }),
);

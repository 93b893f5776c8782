import { verdictOn } from '../../src/provisioning/people/explain-person.ts';
import type { TravelFault } from '../fixtures/fake-travel.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
/** After this time no call without an answer is carried out any more. */
const LATE_MS = 51_000;

/** Returns all travelers except the one of the credential. */
function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

/** Gives the next call with this verb a fault; the calls after it succeed. */
function failOnce({ travel }: ProvisioningFixture, verb: string, fault: TravelFault): void {
  travel.faultFor = (call) => {
    if (call.verb !== verb) return undefined;
    travel.faultFor = () => undefined;
    return fault;
  };
}

test('a create whose answer was lost is found by its address, and creates no second traveler', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({
      state: 'dirty',
      creating: { email: addressOf('Ada') },
    });
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toHaveLength(1);
    expect(await fixture.identity(ada.id)).toMatchObject({
      state: 'synced',
      travelId: travelers(fixture)[0]?.id,
    });
    expect(fixture.travel.writes().map(({ verb }) => verb)).toEqual(['create']);
  }));

test('a value that a lost create has sent is removed if it is no longer wanted', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    await fixture.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.not.objectContaining({ lang: 'fr' })]);
  }));

test.each<[string, TravelFault]>([
  ['before it is sent', 'hang'],
  ['after it was carried out', 'die'],
])('one traveler exists after the process is killed during a create, %s', (_, fault) =>
  withFixture(async (fixture) => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    fixture.travel.faultFor = ({ verb }) => {
      if (verb === 'create') arrived();
      return verb === 'create' ? fault : undefined;
    };
    const answer = fixture.bridge.users.create(users, person('Ada'));
    await arrival;
    fixture.clock.advance(800);
    const ada = await answer;
    await fixture.restart();
    await fixture.reconcileAfter(0);
    expect(travelers(fixture)).toHaveLength(1);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced' });
    await fixture.reconcileAfter(LATE_MS);
    expect(travelers(fixture)).toHaveLength(1);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', creating: undefined });
  }),
);

test.each(['deactivated', 'deleted'])(
  'no traveler is left in use if the process dies while it creates a lost traveler again and the user is then %s',
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

test('an existing traveler with the address is linked, and updated to what the IdP wants', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({ email: 'ADA@corp.example', firstName: 'A.', currency: 'EUR' });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(ada.travelUserId).toBe(old.id);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ firstName: 'Ada', currency: 'EUR' })]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('an archived traveler with the address is linked and un-archived', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: addressOf('Ada'), archived: true });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect((await fixture.traveler(ada.id))?.archived).toBe(false);
  }));

test('a traveler that is linked to an identity is not linked to another one', () =>
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

test('two reconcilers that run at once create one traveler', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', { kind: 'unavailable', text: 'down' });
    const people = await Promise.all(
      ['Ada', 'Bob', 'Cy', 'Di'].map((name) => fixture.bridge.users.create(users, person(name))),
    );
    const other = fixture.replica();
    fixture.clock.advance(2_000);
    await Promise.all([fixture.bridge.reconcileDue(), other.reconcileDue()]);
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toHaveLength(people.length);
  }));

test('the traveler of a lost create is found by the old address and gets the changed one', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: addressOf('Ada') })]);
    await fixture.reconcileAfter(LATE_MS);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('of two travelers that are found, the one with the announced address is linked', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: 'ada.king@corp.example', firstName: 'Other' });
    const { findByEmails: byEmail } = fixture.travel.users;
    fixture.travel.users.findByEmails = async (emails) => {
      const answer = await byEmail(emails);
      return answer.kind === 'ok' ? { ...answer, value: answer.value.toReversed() } : answer;
    };
    await fixture.restart();
    failOnce(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    await fixture.reconcileAfter(2_000);
    await fixture.reconcileAfter(LATE_MS);
    const link = (await fixture.identity(ada.id)).travelId;
    expect(travelers(fixture).find(({ id }) => id === link)).toMatchObject({ email: addressOf('Ada') });
    expect(await fixture.findings(ada.id)).toEqual(['email: emailTaken']);
  }));

test('another address is tried only after the wait for a late create is over', () =>
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
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: addressOf('Ada') })]);
    await fixture.reconcileAfter(LATE_MS);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('a create that never arrived does not prevent a create with another address', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', { kind: 'unavailable', text: 'down' });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    for (let look = 0; look < 6; look += 1) await fixture.reconcileAfter(30_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('a create with another address is sent as soon as the wait for a late create is over', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', { kind: 'unavailable', text: 'down' });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const { readAgainAt = 0 } = await fixture.identity(ada.id);
    await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
    while (fixture.clock.now() < readAgainAt - 1_000) await fixture.reconcileAfter(1_000);
    const waiting = await fixture.identity(ada.id);
    expect(waiting.attempts).toBeGreaterThan(4);
    expect(verdictOn(waiting, { now: fixture.clock.now(), outage: undefined })).toEqual({
      status: 'waiting',
      because: `the travel API did not answer the create for ${addressOf('Ada')} and may still carry it out: a create with the new address could make a second traveler`,
      until: readAgainAt,
    });
    await fixture.reconcileAfter(1_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: 'ada.king@corp.example' })]);
  }));

test('no traveler is left in use if the user is deleted while the outcome of the create is unknown', () =>
  withFixture(async (fixture) => {
    failOnce(fixture, 'create', 'lose');
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.bridge.users.remove(users, ada.id);
    for (let look = 0; look < 6; look += 1) await fixture.reconcileAfter(10_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', creating: undefined });
  }));

test('no traveler is left in use if the user is deleted while the create hangs', () =>
  withFixture(async (fixture) => {
    const heldCall = fixture.travel.holdCall('create');
    const posted = fixture.bridge.users.create(users, person('Ada'));
    await heldCall.reached;
    fixture.clock.advance(800);
    const ada = await posted;
    const removed = fixture.bridge.users.remove(users, ada.id);
    await waitUntilIdle();
    fixture.clock.advance(800);
    await removed;
    heldCall.release();
    await fixture.waitForLeases();
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test('a PATCH whose answer was lost is reverted in the travel service if the IdP reverts the value', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'en' }));
    failOnce(fixture, 'patch', 'lose');
    await fixture.patch(ada.id, { preferredLanguage: 'fr', locale: 'fr', ...emailsOf('a@corp.example') });
    expect(await fixture.traveler(ada.id)).toMatchObject({ lang: 'fr', email: 'a@corp.example' });
    await fixture.patch(ada.id, { preferredLanguage: 'en', ...emailsOf(addressOf('Ada')) });
    await fixture.reconcileAfter(5_000);
    expect(await fixture.traveler(ada.id)).toMatchObject({ lang: 'en', email: addressOf('Ada') });
  }));

test('a field that a lost PATCH added is removed if the IdP removes it', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    failOnce(fixture, 'patch', 'lose');
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    await fixture.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await fixture.reconcileAfter(5_000);
    expect(await fixture.traveler(ada.id)).not.toHaveProperty('lang');
  }));

test('a value whose removal was lost is sent again if the IdP sets it again', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    failOnce(fixture, 'patch', 'lose');
    await fixture.bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    await fixture.reconcileAfter(5_000);
    expect((await fixture.traveler(ada.id))?.lang).toBe('fr');
  }));

test.each([
  ['', false],
  [', even if an import reads the traveler first', true],
])(
  'a PATCH of a killed process is reverted in the travel service if the IdP reverts the value%s',
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

test.each(['that it creates', 'that exists already'])(
  'a travel API that refuses `archived` in a create gets it by a PATCH of the traveler %s',
  (which) =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      const invalid = [{ field: 'archived', code: 'x', message: 'not at creation' }];
      travel.faultFor = ({ verb, body = {} }) =>
        verb === 'create' && 'archived' in body ? { kind: 'invalid', fields: invalid } : undefined;
      if (which === 'that exists already') travel.addTraveler({ email: addressOf('Ada') });
      await bridge.users.create(users, person('Ada', { active: false }));
      expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    }),
);

import type { TravelUser } from '../../src/model/traveler.ts';
import { addressOf, emailsOf, managedBy, person, withFixture } from '../fixtures/provisioning.ts';
import { approve, playFirstCycle, report, toShadow } from '../fixtures/shadow.ts';

const users = 'default';
const HOUR_MS = 3_600_000;

const named = (givenName: string) => ({ name: { givenName, familyName: 'Smith' } });

describe('shadow mode', () => {
  test('nothing is written, and the report says for each person what would be', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      travel.addTraveler({ email: addressOf('Same'), firstName: 'Same', lastName: 'Smith' });
      travel.addTraveler({ email: addressOf('Other'), firstName: 'Otto', lastName: 'Smith' });
      travel.addTraveler({ email: addressOf('Leaver'), firstName: 'Leaver', lastName: 'Smith' });
      travel.addTraveler({
        email: addressOf('Root'),
        roles: ['admin'],
        firstName: 'Root',
        lastName: 'Smith',
      });
      await toShadow(fixture);
      for (const name of ['New', 'Same', 'Other', 'Root']) await bridge.users.create(users, person(name));
      await bridge.users.create(users, person('Leaver', { active: false }));
      const { userName: _, ...nameless } = person('Nobody');
      await bridge.users.create(users, { ...nameless, userName: 'nobody', emails: [] });
      await fixture.reconcileAfter(HOUR_MS);
      expect(travel.writes()).toEqual([]);
      const shown = await report(fixture);
      expect(shown.of('New')).toEqual({
        outcome: 'create',
        fields: [
          { field: 'email', before: null, after: addressOf('New') },
          { field: 'firstName', before: null, after: 'New' },
          { field: 'lastName', before: null, after: 'Smith' },
        ],
        codes: [],
      });
      expect(shown.of('Same')).toMatchObject({ outcome: 'link', fields: [] });
      expect(shown.of('Other')).toMatchObject({
        outcome: 'link',
        fields: [{ field: 'firstName', before: 'Otto', after: 'Other' }],
      });
      expect(shown.of('Leaver')).toMatchObject({
        outcome: 'end',
        fields: [{ field: 'archived', before: false, after: true }],
      });
      expect(shown.of('Root')).toEqual({ outcome: 'leftOut', fields: [], codes: ['privileged'] });
      expect(shown.sums).toEqual({ create: 1, link: 2, end: 1, leftOut: 2 });
    }));

  test('a guarded departure is refused, and no other departure is counted', () =>
    withFixture(
      async (fixture) => {
        const { bridge, travel } = fixture;
        const [root, ...others] = await Promise.all(
          ['Root', 'One', 'Two', 'Three'].map((name) => bridge.users.create(users, person(name))),
        );
        const { travelId } = await fixture.identity(root?.id ?? '');
        const traveler = travel.travelers.get(travelId ?? '') as TravelUser;
        travel.travelers.set(traveler.id, { ...traveler, roles: ['admin'] });
        await toShadow(fixture);
        await expect(fixture.patch(root?.id ?? '', { active: false })).rejects.toMatchObject({
          kind: 'refused',
        });
        for (const { id } of others) await fixture.patch(id, { active: false });
        expect(travel.writes()).toEqual([]);
        const { digest, sums } = await report(fixture);
        expect(sums).toEqual({ end: 3, leftOut: 1 });
        expect(await approve(fixture, digest)).toEqual({ outcome: 'live', approved: 3, changed: 0 });
        for (const { id } of others) expect(await fixture.traveler(id)).toMatchObject({ archived: true });
        expect(await fixture.traveler(root?.id ?? '')).toMatchObject({ archived: false });
      },
      { policies: { safetyValve: { share: 0, minimum: 1, windowMs: HOUR_MS } } },
    ));

  test('what has changed since the report is shown, and alone goes through the safety valve', () =>
    withFixture(
      async (fixture) => {
        const { bridge, clock } = fixture;
        const ids: string[] = [];
        for (const name of ['One', 'Two', 'Three', 'Four'])
          ids.push((await bridge.users.create(users, person(name))).id);
        await toShadow(fixture);
        const [one = '', two = '', three = '', four = ''] = ids;
        for (const id of [one, two]) await fixture.patch(id, { active: false });
        clock.advance(60_000);
        const { digest } = await report(fixture);
        clock.advance(60_000);
        for (const id of [three, four]) await fixture.patch(id, { active: false });
        expect(await approve(fixture, digest)).toMatchObject({
          ...{ outcome: 'changed', changed: 2 },
          examples: [
            { id: four, outcome: 'end' },
            { id: three, outcome: 'end' },
          ],
        });
        expect(fixture.travel.writes().filter(({ verb }) => verb === 'patch')).toEqual([]);
        expect(await approve(fixture, digest, 2)).toEqual({ outcome: 'live', approved: 2, changed: 2 });
        const states = await Promise.all(ids.map(async (id) => (await fixture.identity(id)).state));
        expect(states.toSorted()).toEqual(['held', 'synced', 'synced', 'synced']);
        for (const id of [one, two]) expect(await fixture.traveler(id)).toMatchObject({ archived: true });
      },
      { policies: { safetyValve: { share: 0, minimum: 1, windowMs: HOUR_MS } } },
    ));

  test('of two users with one address the first gets the traveler, as in a live connection', () =>
    withFixture(async (fixture) => {
      const { bridge, clock } = fixture;
      await toShadow(fixture);
      await bridge.users.create(users, person('First'));
      clock.advance(1_000);
      const second = { ...person('First'), userName: 'second', externalId: '2' };
      const { id } = await bridge.users.create(users, second);
      const { digest, sums, people } = await report(fixture);
      expect(sums).toEqual({ create: 1, leftOut: 1 });
      for (const one of people)
        expect(await fixture.identity(one.id)).toMatchObject({ creating: undefined, travelId: undefined });
      expect(people.find((one) => one.id === id)).toMatchObject({ outcome: 'leftOut' });
      await approve(fixture, digest);
      expect(await fixture.identity(id)).toMatchObject({ state: 'pending' });
    }));

  test('a traveler of a live connection keeps its address while a user in shadow mode is planned to get it', () =>
    withFixture(
      async (fixture) => {
        const { bridge, travel, clock } = fixture;
        await bridge.users.create('other', person('Eve'));
        const bob = await bridge.users.create('other', person('Bob', { userName: 'bob' }));
        await fixture.patch(bob.id, emailsOf(addressOf('Eve')), 'other');
        await fixture.reconcileAfter(0);
        await toShadow(fixture);
        const carl = await bridge.users.create(users, person('Carl'));
        const held = travel.holdCall('findByEmails');
        const change = fixture.patch(carl.id, emailsOf(addressOf('Bob')));
        await held.reached;
        clock.advance(800);
        await change;
        await fixture.patch(bob.id, { title: 'Engineer' }, 'other');
        await fixture.reconcileAfter(0);
        held.release();
        await fixture.waitForLeases();
        await fixture.reconcileAfter(HOUR_MS);
        expect(travel.writes()).toEqual([]);
        expect((await fixture.traveler(bob.id, 'other'))?.email).toBe(addressOf('Bob'));
      },
      { more: ['other'] },
    ));

  test('a manager who has no traveler yet is part of the plan', () =>
    withFixture(async (fixture) => {
      await toShadow(fixture);
      const boss = await fixture.bridge.users.create(users, person('Boss'));
      const { id } = await fixture.bridge.users.create(users, person('Report', managedBy(boss.id)));
      const { digest, of } = await report(fixture);
      expect(of('Report').fields).toContainEqual({
        field: 'managerId',
        before: null,
        after: { travelerOf: addressOf('Boss') },
      });
      await approve(fixture, digest);
      expect((await fixture.traveler(id))?.managerId).toBe((await fixture.identity(boss.id)).travelId);
    }));

  test('travelers that no IdP has sent are listed, and nothing is planned for them', () =>
    withFixture(async (fixture) => {
      const { bridge, store, travel, clock } = fixture;
      travel.addTraveler({ email: addressOf('Stranger'), firstName: 'Stranger' });
      travel.addTraveler({ email: addressOf('Gone'), firstName: 'Gone', lastName: 'Smith', archived: true });
      await toShadow(fixture);
      await fixture.importTravelers();
      const { id } = await bridge.users.create(users, person('Gone'));
      await bridge.users.remove(users, id);
      const [stranger] = await store.identities.find(users, { by: 'email', value: addressOf('Stranger') });
      await store.reconcileQueue.markDirty(users, [stranger?.id ?? ''], clock.now());
      await fixture.reconcileAfter(HOUR_MS);
      expect((await report(fixture)).sums).toEqual({ notSent: 2 });
      expect(await fixture.findings(stranger?.id ?? '')).toEqual([]);
      expect(travel.writes()).toEqual([]);
    }));

  test('a connection goes back to shadow mode, and people who need nothing are the same', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      const { id } = await bridge.users.create(users, person('Ada'));
      await bridge.users.create(users, person('Bob'));
      await toShadow(fixture);
      await fixture.patch(id, named('Adele'));
      expect(travel.writes()).toEqual([]);
      const { digest, sums } = await report(fixture);
      expect(sums).toEqual({ change: 1, same: 1 });
      await approve(fixture, digest);
      expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Adele' });
      await toShadow(fixture);
      expect((await report(fixture)).sums).toEqual({ same: 2 });
    }));

  test('a restored database leaves a connection in shadow mode, and nothing of the backup is planned', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      await toShadow(fixture);
      const { id } = await bridge.users.create(users, person('Ada'));
      await fixture.restored();
      await fixture.reconcileAfter(HOUR_MS);
      expect(travel.writes()).toEqual([]);
      expect(await fixture.findings(id)).toEqual(['*: restored']);
      await bridge.users.change(users, id, () => person('Ada'), 'replace');
      expect(await fixture.findings(id)).toEqual(['*: shadowCreate']);
    }));

  test('a digest of an earlier time in shadow mode approves nothing', () =>
    withFixture(async (fixture) => {
      const { bridge, store, clock } = fixture;
      await toShadow(fixture);
      await bridge.users.create(users, person('Ada'));
      const { digest } = await report(fixture);
      await store.modes.change(users, { to: 'live', now: clock.now() });
      expect(await approve(fixture, digest)).toEqual({ outcome: 'notInShadow' });
      clock.advance(1_000);
      await toShadow(fixture);
      expect(await approve(fixture, digest)).toEqual({ outcome: 'outdated' });
      expect(await approve(fixture, 'no digest')).toEqual({ outcome: 'outdated' });
      expect(fixture.travel.writes()).toEqual([]);
    }));
});

test('the report of a first cycle equals what going live then does, person by person', () =>
  withFixture(async (fixture) => {
    // Each kind of user meets each kind of traveler once.
    const { planned, done } = await playFirstCycle(fixture, 35);
    expect(done).toEqual(planned);
  }));

test('going live wakes a user who waits for an address that has become free unseen', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await toShadow(fixture);
    const traveler = (await fixture.traveler(ada.id)) as TravelUser;
    travel.travelers.set(traveler.id, { ...traveler, email: addressOf('Bob') });
    await fixture.importTravelers();
    const bob = await bridge.users.create(users, { ...person('Bob'), userName: 'bob' });
    expect(await fixture.identity(bob.id)).toMatchObject({ state: 'pending' });
    await fixture.patch(ada.id, named('Adele'));
    travel.travelers.set(traveler.id, traveler);
    const { digest } = await report(fixture);
    expect(await approve(fixture, digest)).toMatchObject({ outcome: 'live' });
    expect(await fixture.traveler(bob.id)).toMatchObject({ email: addressOf('Bob') });
  }));

test('a traveler of a live connection keeps its address while a user waits for it who is in shadow mode by now', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel } = fixture;
      const bob = await bridge.users.create('other', person('Bob', { userName: 'bob' }));
      await bridge.users.create('other', person('Eve'));
      const carl = await bridge.users.create(users, person('Carl'));
      await fixture.patch(carl.id, emailsOf(addressOf('Bob')));
      expect(await fixture.findings(carl.id)).toEqual(['email: emailTaken']);
      await toShadow(fixture);
      await fixture.patch(bob.id, emailsOf(addressOf('Eve')), 'other');
      await fixture.reconcileAfter(0);
      expect(travel.writes()).toEqual([]);
    },
    { more: ['other'] },
  ));

test('going live asks anew for an address that a user has waited for before shadow mode', () =>
  withFixture(
    async (fixture) => {
      const { bridge } = fixture;
      const bob = await bridge.users.create('other', person('Bob', { userName: 'bob' }));
      await bridge.users.create('other', person('Eve'));
      const carl = await bridge.users.create(users, person('Carl'));
      await fixture.patch(carl.id, emailsOf(addressOf('Bob')));
      await toShadow(fixture);
      await fixture.patch(bob.id, emailsOf(addressOf('Eve')), 'other');
      await fixture.reconcileAfter(0);
      const { digest } = await report(fixture);
      await approve(fixture, digest);
      await fixture.reconcileAfter(0);
      expect(await fixture.traveler(carl.id)).toMatchObject({ email: addressOf('Bob') });
      expect(await fixture.findings(bob.id, 'other')).toEqual(['email: emailTaken']);
    },
    { more: ['other'] },
  ));

test('a newcomer who needs the address of a leaver in shadow mode has a traveler under the userName meanwhile', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      await toShadow(fixture);
      await fixture.patch(ada.id, { active: false });
      // The bridge has not seen yet that the traveler of the leaver has another address.
      const traveler = (await fixture.traveler(ada.id)) as TravelUser;
      travel.travelers.set(traveler.id, { ...traveler, email: addressOf('Eve') });
      const bert = person('Bert', emailsOf(addressOf('Eve')));
      const { id } = await bridge.users.create('other', bert);
      await fixture.reconcileAfter(0);
      expect(await fixture.traveler(id, 'other')).toMatchObject({ email: addressOf('Bert') });
      const { digest } = await report(fixture);
      await approve(fixture, digest);
      await fixture.reconcileAfter(0);
      expect(await fixture.traveler(id, 'other')).toMatchObject({ email: addressOf('Eve') });
    },
    { more: ['other'] },
  ));

test.each(['had no answer and', 'was not carried out, and'])(
  'a create of the time before shadow mode that %s has made no traveler keeps its address from nobody',
  (what) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel } = fixture;
        const failure = { kind: 'unavailable', text: 'down' } as const;
        const fault = what === 'had no answer and' ? failure : { ...failure, isThrottled: true as const };
        travel.faultFor = ({ verb }) => (verb === 'create' ? fault : undefined);
        await bridge.users.create(users, person('Ada'));
        travel.faultFor = () => undefined;
        await toShadow(fixture);
        await fixture.reconcileAfter(HOUR_MS);
        const other = await bridge.users.create('other', person('Bob', emailsOf(addressOf('Ada'))));
        await fixture.reconcileAfter(HOUR_MS);
        expect(await fixture.traveler(other.id, 'other')).toMatchObject({ email: addressOf('Ada') });
      },
      { more: ['other'] },
    ),
);

test('the records of a traveler that is gone stay with the link while another one is planned', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const { id } = await bridge.users.create(users, person('Ada'));
    const { travelId = '', applied } = await fixture.identity(id);
    await toShadow(fixture);
    travel.travelers.delete(travelId);
    for (let round = 0; round < 2; round += 1) {
      fixture.clock.advance(60_000);
      await fixture.importTravelers();
    }
    const { sums } = await report(fixture);
    expect(sums).toMatchObject({ create: 1 });
    expect(await fixture.identity(id)).toMatchObject({ travelId, applied });
  }));

test.each(['archive', 'delete'] as const)(
  'a DELETE in shadow mode is planned with deprovision %s, and carried out after going live',
  (deprovision) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel } = fixture;
        const { id } = await bridge.users.create(users, person('Ada'));
        const { travelId = '' } = await fixture.identity(id);
        await toShadow(fixture);
        await bridge.users.remove(users, id);
        await fixture.reconcileAfter(HOUR_MS);
        expect(travel.writes()).toEqual([]);
        const { digest, sums } = await report(fixture);
        expect(sums).toEqual({ end: 1 });
        expect(await approve(fixture, digest)).toEqual({ outcome: 'live', approved: 1, changed: 0 });
        const traveler = travel.travelers.get(travelId);
        if (deprovision === 'archive') expect(traveler).toMatchObject({ archived: true });
        else expect(traveler).toBeUndefined();
      },
      { policies: { deprovision } },
    ),
);

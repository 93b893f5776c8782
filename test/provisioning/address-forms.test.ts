import { emailsOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/** The travel API has the address in a form under which it finds nobody: a write of it is 409, a look-up finds no one. */
function occupy({ travel }: ProvisioningFixture, email: string): void {
  travel.faultFor = ({ body }) => (body?.email === email ? { kind: 'conflict' } : undefined);
}

function creates({ travel }: ProvisioningFixture): number {
  return travel.calls.filter(({ verb }) => verb === 'create').length;
}

const taken = 'eve@corp.example';
const eve = person('Eve', { userName: 'eve' });

test('a create that meets a conflict with nobody waits with a finding, and is not sent for ever', () =>
  withFixture(async (fixture) => {
    occupy(fixture, taken);
    const { id } = await fixture.bridge.users.create(users, eve);
    for (let turn = 0; turn < 8; turn += 1) await fixture.reconcileAfter(60_000);
    const sent = creates(fixture);
    for (let turn = 0; turn < 8; turn += 1) await fixture.reconcileAfter(60_000);
    expect(creates(fixture)).toBe(sent);
    expect(sent).toBeLessThanOrEqual(6);
    const { state, creating, travelId, nextAttemptAt, findings } = await fixture.identity(id);
    expect({ state, creating, travelId, nextAttemptAt }).toEqual({ state: 'pending' });
    expect(findings).toMatchObject([{ field: 'email', code: 'emailTaken', value: taken }]);
    expect(findings[0]?.remedy).not.toBe('');
  }));

test('it is sent again after an import, and joins once the address is free', () =>
  withFixture(async (fixture) => {
    occupy(fixture, taken);
    const { id } = await fixture.bridge.users.create(users, eve);
    for (let turn = 0; turn < 8; turn += 1) await fixture.reconcileAfter(60_000);
    const sent = creates(fixture);
    await fixture.importTravelers();
    expect(creates(fixture)).toBeGreaterThan(sent);
    expect((await fixture.identity(id)).state).toBe('pending');
    fixture.travel.faultFor = () => undefined;
    await fixture.importTravelers();
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await fixture.traveler(id))?.email).toBe(taken);
  }));

test('it is sent again when the identity provider corrects the address', () =>
  withFixture(async (fixture) => {
    occupy(fixture, taken);
    const { id } = await fixture.bridge.users.create(users, eve);
    for (let turn = 0; turn < 8; turn += 1) await fixture.reconcileAfter(60_000);
    await fixture.patch(id, emailsOf('eve.smith@corp.example'));
    await fixture.reconcileAfter(0);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await fixture.traveler(id))?.email).toBe('eve.smith@corp.example');
  }));

test('where the userName is an address, it serves meanwhile, as for any address that is taken', () =>
  withFixture(async (fixture) => {
    occupy(fixture, taken);
    const { id } = await fixture.bridge.users.create(users, { ...eve, userName: 'eve@login.example' });
    for (let turn = 0; turn < 8; turn += 1) await fixture.reconcileAfter(60_000);
    expect(await fixture.findings(id)).toEqual(['email: emailTaken']);
    expect((await fixture.traveler(id))?.email).toBe('eve@login.example');
    expect((await fixture.identity(id)).state).toBe('synced');
  }));

test('a conflict with somebody who is gone a moment later is met once', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => {
      if (verb !== 'create') return undefined;
      fixture.travel.faultFor = () => undefined;
      return { kind: 'conflict' };
    };
    const { id } = await fixture.bridge.users.create(users, eve);
    await fixture.reconcileAfter(60_000);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await fixture.traveler(id))?.email).toBe(taken);
  }));

test.each([
  ['in capitals', 'EVE@CORP.example', taken],
  ['decomposed', 'e\u0301va@corp.example', '\u00e9va@corp.example'],
  ['composed', '\u00e9va@corp.example', 'e\u0301va@corp.example'],
])('a traveler whose address was written %s by hand is linked', (_form, stored, wanted) =>
  withFixture(async (fixture) => {
    const before = fixture.travel.addTraveler({ email: stored });
    await fixture.importTravelers();
    const { id } = await fixture.bridge.users.create(users, { ...eve, ...emailsOf(wanted) });
    await fixture.reconcileAfter(0);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', travelId: before.id });
    expect(fixture.travel.travelers.size).toBe(2);
  }),
);

test('two people whose addresses are the same only to compatibility folding get a traveler each', () =>
  withFixture(async (fixture) => {
    const ligature = await fixture.bridge.users.create(users, person('\ufb01ona'));
    const plain = await fixture.bridge.users.create(users, person('fiona'));
    await fixture.reconcileAfter(0);
    const travelers = [await fixture.traveler(ligature.id), await fixture.traveler(plain.id)];
    expect(travelers.map((traveler) => traveler?.email)).toEqual([
      '\ufb01ona@corp.example',
      'fiona@corp.example',
    ]);
    expect(travelers[0]?.id).not.toBe(travelers[1]?.id);
  }));

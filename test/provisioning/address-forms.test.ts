import { emailsOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/**
 * Makes the travel API refuse an address (409) that no search finds, as if a traveler had it in a form that the API compares
 * in writes but not in searches.
 */
function occupy({ travel }: ProvisioningFixture, email: string): void {
  travel.faultFor = ({ body }) => (body?.email === email ? { kind: 'conflict' } : undefined);
}

function countCreates({ travel }: ProvisioningFixture): number {
  return travel.calls.filter(({ verb }) => verb === 'create').length;
}

const takenEmail = 'eve@corp.example';
const eve = person('Eve', { userName: 'eve' });

test('a create that conflicts with no traveler that can be found is retried a few times and then waits with a finding', () =>
  withFixture(async (fixture) => {
    occupy(fixture, takenEmail);
    const { id } = await fixture.bridge.users.create(users, eve);
    for (let round = 0; round < 8; round += 1) await fixture.reconcileAfter(60_000);
    const sent = countCreates(fixture);
    for (let round = 0; round < 8; round += 1) await fixture.reconcileAfter(60_000);
    expect(countCreates(fixture)).toBe(sent);
    expect(sent).toBeLessThanOrEqual(6);
    const { state, creating, travelId, nextAttemptAt, findings } = await fixture.identity(id);
    expect({ state, creating, travelId, nextAttemptAt }).toEqual({ state: 'pending' });
    expect(findings).toMatchObject([{ field: 'email', code: 'emailTaken', value: takenEmail }]);
    expect(findings[0]?.remedy).not.toBe('');
  }));

test('a create that waits because of its address is sent after each import, and succeeds when the address is free', () =>
  withFixture(async (fixture) => {
    occupy(fixture, takenEmail);
    const { id } = await fixture.bridge.users.create(users, eve);
    for (let round = 0; round < 8; round += 1) await fixture.reconcileAfter(60_000);
    const sent = countCreates(fixture);
    await fixture.importTravelers();
    expect(countCreates(fixture)).toBeGreaterThan(sent);
    expect((await fixture.identity(id)).state).toBe('pending');
    fixture.travel.faultFor = () => undefined;
    await fixture.importTravelers();
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await fixture.traveler(id))?.email).toBe(takenEmail);
  }));

test('a create that waits because of its address is sent when the IdP changes the address', () =>
  withFixture(async (fixture) => {
    occupy(fixture, takenEmail);
    const { id } = await fixture.bridge.users.create(users, eve);
    for (let round = 0; round < 8; round += 1) await fixture.reconcileAfter(60_000);
    await fixture.patch(id, emailsOf('eve.smith@corp.example'));
    await fixture.reconcileAfter(0);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await fixture.traveler(id))?.email).toBe('eve.smith@corp.example');
  }));

test('if the userName is an address, the traveler has it as email while the wanted address is taken', () =>
  withFixture(async (fixture) => {
    occupy(fixture, takenEmail);
    const { id } = await fixture.bridge.users.create(users, { ...eve, userName: 'eve@login.example' });
    for (let round = 0; round < 8; round += 1) await fixture.reconcileAfter(60_000);
    expect(await fixture.findings(id)).toEqual(['email: emailTaken']);
    expect((await fixture.traveler(id))?.email).toBe('eve@login.example');
    expect((await fixture.identity(id)).state).toBe('synced');
  }));

test('a create that meets a conflict only once succeeds without a finding', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => {
      if (verb !== 'create') return undefined;
      fixture.travel.faultFor = () => undefined;
      return { kind: 'conflict' };
    };
    const { id } = await fixture.bridge.users.create(users, eve);
    await fixture.reconcileAfter(60_000);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await fixture.traveler(id))?.email).toBe(takenEmail);
  }));

test.each([
  ['in capitals', 'EVE@CORP.example', takenEmail],
  ['decomposed', 'e\u0301va@corp.example', '\u00e9va@corp.example'],
  ['composed', '\u00e9va@corp.example', 'e\u0301va@corp.example'],
])(
  'a traveler whose address was stored %s by hand is linked to the user with this address',
  (_form, stored, wanted) =>
    withFixture(async (fixture) => {
      const existing = fixture.travel.addTraveler({ email: stored });
      await fixture.importTravelers();
      const { id } = await fixture.bridge.users.create(users, { ...eve, ...emailsOf(wanted) });
      await fixture.reconcileAfter(0);
      expect(await fixture.identity(id)).toMatchObject({ state: 'synced', travelId: existing.id });
      expect(fixture.travel.travelers.size).toBe(2);
    }),
);

test('two users whose addresses are equal only under Unicode compatibility folding get a traveler each', () =>
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

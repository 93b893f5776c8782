import { type BridgeHouse, emailsOf, inHouse, person } from '../support/bridge-house.ts';

const users = 'default';

/** The travel API has the address in a form under which it finds nobody: a write of it is 409, a look-up finds no one. */
function occupy({ travel }: BridgeHouse, email: string): void {
  travel.trouble = ({ body }) => (body?.email === email ? { kind: 'conflict' } : undefined);
}

function creates({ travel }: BridgeHouse): number {
  return travel.calls.filter(({ verb }) => verb === 'create').length;
}

const taken = 'eve@corp.example';
const eve = person('Eve', { userName: 'eve' });

test('a create that meets a conflict with nobody waits with a finding, and is not sent for ever', () =>
  inHouse(async (house) => {
    occupy(house, taken);
    const { id } = await house.bridge.users.create(users, eve);
    for (let turn = 0; turn < 8; turn += 1) await house.pass(60_000);
    const sent = creates(house);
    for (let turn = 0; turn < 8; turn += 1) await house.pass(60_000);
    expect(creates(house)).toBe(sent);
    expect(sent).toBeLessThanOrEqual(6);
    const { state, creating, travelId, nextAttemptAt, findings } = await house.identity(id);
    expect({ state, creating, travelId, nextAttemptAt }).toEqual({ state: 'pending' });
    expect(findings).toMatchObject([{ field: 'email', code: 'emailTaken', value: taken }]);
    expect(findings[0]?.remedy).not.toBe('');
  }));

test('it is sent again after an import, and joins once the address is free', () =>
  inHouse(async (house) => {
    occupy(house, taken);
    const { id } = await house.bridge.users.create(users, eve);
    for (let turn = 0; turn < 8; turn += 1) await house.pass(60_000);
    const sent = creates(house);
    await house.imported();
    expect(creates(house)).toBeGreaterThan(sent);
    expect((await house.identity(id)).state).toBe('pending');
    house.travel.trouble = () => undefined;
    await house.imported();
    expect(await house.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await house.traveler(id))?.email).toBe(taken);
  }));

test('it is sent again when the identity provider corrects the address', () =>
  inHouse(async (house) => {
    occupy(house, taken);
    const { id } = await house.bridge.users.create(users, eve);
    for (let turn = 0; turn < 8; turn += 1) await house.pass(60_000);
    await house.patch(id, emailsOf('eve.smith@corp.example'));
    await house.pass(0);
    expect(await house.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await house.traveler(id))?.email).toBe('eve.smith@corp.example');
  }));

test('where the userName is an address, it serves meanwhile, as for any address that is taken', () =>
  inHouse(async (house) => {
    occupy(house, taken);
    const { id } = await house.bridge.users.create(users, { ...eve, userName: 'eve@login.example' });
    for (let turn = 0; turn < 8; turn += 1) await house.pass(60_000);
    expect(await house.findings(id)).toEqual(['email: emailTaken']);
    expect((await house.traveler(id))?.email).toBe('eve@login.example');
    expect((await house.identity(id)).state).toBe('synced');
  }));

test('a conflict with somebody who is gone a moment later is met once', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb }) => {
      if (verb !== 'create') return undefined;
      house.travel.trouble = () => undefined;
      return { kind: 'conflict' };
    };
    const { id } = await house.bridge.users.create(users, eve);
    await house.pass(60_000);
    expect(await house.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    expect((await house.traveler(id))?.email).toBe(taken);
  }));

test.each([
  ['in capitals', 'EVE@CORP.example', taken],
  ['decomposed', 'e\u0301va@corp.example', '\u00e9va@corp.example'],
  ['composed', '\u00e9va@corp.example', 'e\u0301va@corp.example'],
])('a traveler whose address was written %s by hand is linked', (_form, stored, wanted) =>
  inHouse(async (house) => {
    const before = house.travel.add({ email: stored });
    await house.imported();
    const { id } = await house.bridge.users.create(users, { ...eve, ...emailsOf(wanted) });
    await house.pass(0);
    expect(await house.identity(id)).toMatchObject({ state: 'synced', travelId: before.id });
    expect(house.travel.people.size).toBe(2);
  }),
);

test('two people whose addresses are the same only to compatibility folding get a traveler each', () =>
  inHouse(async (house) => {
    const ligature = await house.bridge.users.create(users, person('\ufb01ona'));
    const plain = await house.bridge.users.create(users, person('fiona'));
    await house.pass(0);
    const travelers = [await house.traveler(ligature.id), await house.traveler(plain.id)];
    expect(travelers.map((traveler) => traveler?.email)).toEqual([
      '\ufb01ona@corp.example',
      'fiona@corp.example',
    ]);
    expect(travelers[0]?.id).not.toBe(travelers[1]?.id);
  }));

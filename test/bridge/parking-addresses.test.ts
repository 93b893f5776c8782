import { urns } from '../../src/schema/resource.ts';
import {
  addressOf,
  type BridgeHouse,
  emailsOf,
  everybody,
  inHouse,
  listed,
  person,
} from '../support/bridge-house.ts';

const users = 'default';
const adminsAllowed = { scimUserMapping: [], roles: { allow: ['admin'] } };
const asAdmin = { [urns.travel]: { roles: [{ value: 'admin' }] } };

/** Somebody whose userName is no address, so that they can only step aside to a parking address. */
function nameless(name: string) {
  return person(name, { userName: name.toLowerCase() });
}

async function joined(
  house: BridgeHouse,
  names: string[],
  connection = house.connection.id,
): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push((await house.bridge.users.create(connection, nameless(name))).id);
  return ids;
}

async function pair(house: BridgeHouse): Promise<[string, string]> {
  const [ada = '', bob = ''] = await joined(house, ['Ada', 'Bob']);
  return [ada, bob];
}

async function rest(house: BridgeHouse, rounds = 6): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await house.pass(round < 3 ? 1_000 : 60_000);
}

async function emailOf(house: BridgeHouse, id: string, connection?: string): Promise<string | undefined> {
  return (await house.traveler(id, connection))?.email;
}

function parked({ travel }: BridgeHouse): string[] {
  return [...travel.people.values()].map(({ email }) => email).filter((email) => email.endsWith('.invalid'));
}

/** The first person steps aside to a parking address, and everything that follows fails until `travel.trouble` is reset. */
async function stuckInTheMiddle(house: BridgeHouse, [ada, bob]: [string, string]): Promise<void> {
  const { travel, patch } = house;
  await patch(ada, emailsOf(addressOf('Bob')));
  travel.trouble = ({ verb }) =>
    verb === 'patch' && parked(house).length > 0 ? { kind: 'unavailable', text: '503' } : undefined;
  await patch(bob, emailsOf(addressOf('Ada')));
  expect(parked(house)).toHaveLength(1);
}

test('thirty pairs that exchange their addresses at once all get them', () =>
  inHouse(async (house) => {
    const names = Array.from({ length: 60 }, (_, index) => `P${index}`);
    const ids = await joined(house, names);
    house.travel.trouble = () => ({ kind: 'unavailable', text: '503' });
    await Promise.all(ids.map((id, index) => house.patch(id, emailsOf(addressOf(names[index ^ 1] ?? '')))));
    house.travel.trouble = () => undefined;
    await rest(house);
    const ends = await Promise.all(ids.map((id) => emailOf(house, id)));
    expect(ends).toEqual(names.map((_, index) => addressOf(names[index ^ 1] ?? '')));
    const findings = await Promise.all(ids.map((id) => house.findings(id)));
    expect(findings.flat()).toEqual([]);
  }));

test.each([
  ['the first', 0],
  ['the second', 1],
])('an administrator by the mapping never gets a parking address: %s of two who swap', (_, admin) =>
  inHouse(
    async (house) => {
      const [ada, bob] = await pair(house);
      const id = [ada, bob][admin] ?? '';
      await house.patch(id, asAdmin);
      expect((await house.traveler(id))?.roles).toEqual(['admin']);
      const travelId = (await house.identity(id)).travelId;
      house.travel.calls.length = 0;
      await house.patch(ada, emailsOf(addressOf('Bob')));
      await house.patch(bob, emailsOf(addressOf('Ada')));
      await rest(house);
      expect([await emailOf(house, ada), await emailOf(house, bob)]).toEqual([
        addressOf('Bob'),
        addressOf('Ada'),
      ]);
      const sent = house.travel.writes().filter((call) => call.id === travelId);
      expect(
        sent.map(({ body }) => String(body?.email)).filter((email) => email.endsWith('.invalid')),
      ).toEqual([]);
    },
    { mapping: adminsAllowed },
  ),
);

test('two administrators by the mapping who would swap are told so', () =>
  inHouse(
    async (house) => {
      const [ada, bob] = await pair(house);
      for (const id of [ada, bob]) await house.patch(id, asAdmin);
      await house.patch(ada, emailsOf(addressOf('Bob')));
      await house.patch(bob, emailsOf(addressOf('Ada')));
      await rest(house);
      expect(parked(house)).toEqual([]);
      const codes = [...(await house.findings(ada)), ...(await house.findings(bob))];
      expect(codes).toContain('email: emailSwapBlocked');
      expect(await house.bridge.settleDue()).toBe(0);
    },
    { mapping: adminsAllowed },
  ));

test.each([
  ['the first', 0],
  ['the second', 1],
])('nobody steps aside for a guarded administrator, who keeps the address: %s of two', (_, admin) =>
  inHouse(async (house) => {
    const [ada, bob] = await pair(house);
    const travelId = (await house.identity([ada, bob][admin] ?? '')).travelId ?? '';
    const was = house.travel.people.get(travelId);
    if (was) house.travel.people.set(travelId, { ...was, roles: ['admin'] });
    await house.patch(ada, emailsOf(addressOf('Bob')));
    await house.patch(bob, emailsOf(addressOf('Ada')));
    await rest(house);
    expect([await emailOf(house, ada), await emailOf(house, bob)]).toEqual([
      addressOf('Ada'),
      addressOf('Bob'),
    ]);
    expect(await house.bridge.settleDue()).toBe(0);
  }),
);

test.each(['POST', 'PATCH', 'POST of another connection'])(
  'a third person who wants an address in the middle of a swap (%s) does not keep those who swap from it',
  (kind) =>
    inHouse(
      async (house) => {
        const both = await pair(house);
        const [ada, bob] = both;
        const [cy = ''] = await joined(house, ['Cy']);
        await stuckInTheMiddle(house, both);
        const free =
          parked(house).length && (await emailOf(house, ada))?.endsWith('.invalid') ? 'Ada' : 'Bob';
        house.travel.trouble = () => undefined;
        const eve = person('Eve', { userName: 'eve', ...emailsOf(addressOf(free)) });
        if (kind === 'PATCH') await house.patch(cy, emailsOf(addressOf(free)));
        else if (kind === 'POST') await house.bridge.users.create(users, eve);
        else await house.bridge.users.create('other', eve).catch(() => undefined);
        await rest(house);
        expect([await emailOf(house, ada), await emailOf(house, bob)]).toEqual([
          addressOf('Bob'),
          addressOf('Ada'),
        ]);
        expect(parked(house)).toEqual([]);
      },
      { more: ['other'] },
    ),
);

test.each(['the first', 'the second'])(
  'a third person who has waited for an address longer does not strand anybody at a parking address (%s)',
  (which) =>
    inHouse(async (house) => {
      const [ada, bob] = await pair(house);
      const [cy = ''] = await joined(house, ['Cy']);
      await house.patch(cy, emailsOf(addressOf(which === 'the first' ? 'Ada' : 'Bob')));
      await house.patch(ada, emailsOf(addressOf('Bob')));
      await house.patch(bob, emailsOf(addressOf('Ada')));
      await rest(house);
      expect(parked(house)).toEqual([]);
      expect([await emailOf(house, ada), await emailOf(house, bob)]).toEqual([
        addressOf('Bob'),
        addressOf('Ada'),
      ]);
      expect(await house.findings(cy)).toEqual(['email: emailTaken']);
    }),
);

describe.each(['the one who stepped aside', 'the other'])('%s of two who swap', (which) => {
  test.each(['deactivated', 'deleted'])(
    'is %s in the middle, and nobody active keeps a parking address',
    (fate) =>
      inHouse(async (house) => {
        const both = await pair(house);
        const [ada, bob] = both;
        await stuckInTheMiddle(house, both);
        const isParked = async (id: string) => (await emailOf(house, id))?.endsWith('.invalid');
        const [aside, other] = (await isParked(ada)) ? [ada, bob] : [bob, ada];
        const [leaver, stayer] = which === 'the other' ? [other, aside] : [aside, other];
        if (fate === 'deleted') await house.bridge.users.remove(users, leaver);
        else await house.patch(leaver, { active: false });
        house.travel.trouble = () => undefined;
        await rest(house);
        expect(await house.traveler(leaver)).toMatchObject({ archived: true });
        expect(await house.traveler(stayer)).toMatchObject({ archived: false });
        expect(await emailOf(house, stayer)).toMatch(/@corp\.example$/);
        expect(await house.bridge.settleDue()).toBe(0);
      }),
  );
});

test('a parking address that the travel API refuses is told, with the others and a remedy, and not tried again and again', () =>
  inHouse(async (house) => {
    const [ada, bob] = await pair(house);
    house.travel.trouble = ({ verb, body }) =>
      verb === 'patch' && String(body?.email).endsWith('.invalid')
        ? { kind: 'invalid', fields: [{ field: 'email', code: 'invalid', message: 'no such domain' }] }
        : undefined;
    await house.patch(ada, emailsOf(addressOf('Bob')));
    await house.patch(bob, { ...emailsOf(addressOf('Ada')), preferredLanguage: 'fr' });
    await rest(house, 10);
    for (let hour = 0; hour < 3; hour += 1) await house.imported();
    const blocked = (await house.identity(bob)).findings.find(({ code }) => code === 'emailSwapBlocked');
    expect(blocked?.reason).toContain('ada');
    expect(blocked?.remedy).toContain('emailSwap.parkingDomain');
    expect(
      house.travel.writes().filter(({ body }) => String(body?.email).endsWith('.invalid')).length,
    ).toBeLessThan(4);
    expect((await house.traveler(bob))?.lang).toBe('fr');
    expect(await house.bridge.settleDue()).toBe(0);
    house.travel.trouble = () => undefined;
    await house.patch(ada, emailsOf('ada@new.example'));
    await rest(house);
    expect([await emailOf(house, ada), await emailOf(house, bob)]).toEqual([
      'ada@new.example',
      addressOf('Ada'),
    ]);
    expect([...(await house.findings(ada)), ...(await house.findings(bob))]).toEqual([]);
  }));

test('an unlinked traveler with a parking address is not shown, found or matched', () =>
  inHouse(async (house) => {
    const { bridge, travel } = house;
    const address = 'parked-1@jetbridge.invalid';
    travel.add({ email: address });
    const known = travel.add({ email: 'known@corp.example' });
    await house.imported();
    travel.people.set(known.id, { ...known, email: 'parked-2@JETBRIDGE.invalid' });
    await house.imported();
    const emails = async () => JSON.stringify((await bridge.users.list(users, everybody())).rows);
    expect(await emails()).not.toMatch(/parked-/i);
    const byName = { field: 'userName', is: 'eq', value: address } as const;
    expect((await bridge.users.list(users, listed(byName))).rows).toEqual([]);
    const byEmail = { field: 'email', is: 'eq', value: 'parked-2@jetbridge.invalid' } as const;
    expect((await bridge.users.list(users, listed(byEmail))).rows).toEqual([]);
    const eve = await bridge.users.create(users, person('Eve', { userName: address, ...emailsOf(address) }));
    await rest(house);
    expect(await house.traveler(eve.id)).toBeUndefined();
    expect(await house.findings(eve.id)).toContain('email: noEmail');
  }));

test('nobody is shown or told a parking address in the middle of a swap', () =>
  inHouse(async (house) => {
    const both = await pair(house);
    await stuckInTheMiddle(house, both);
    for (let round = 0; round < 3; round += 1) {
      await house.imported();
      expect(JSON.stringify((await house.bridge.users.list(users, everybody())).rows)).not.toMatch(/parked-/);
      for (const id of both) {
        const { findings } = await house.identity(id);
        expect(JSON.stringify(findings)).not.toMatch(/parked-/);
        expect(findings.map(({ code }) => code)).not.toContain('drift');
      }
      await house.pass(60_000);
    }
  }));

test('an address that is changed by hand while it is parked is no drift', () =>
  inHouse(async (house) => {
    const both = await pair(house);
    await stuckInTheMiddle(house, both);
    for (const [id, traveler] of house.travel.people)
      if (traveler.email.endsWith('.invalid'))
        house.travel.people.set(id, { ...traveler, email: 'hand@corp.example' });
    await house.imported();
    for (const id of both)
      expect(JSON.stringify(await house.identity(id).then(({ findings }) => findings))).not.toMatch(
        /drift|parked-/,
      );
    house.travel.trouble = () => undefined;
    await rest(house);
    expect(await Promise.all(both.map((id) => emailOf(house, id)))).toEqual([
      addressOf('Bob'),
      addressOf('Ada'),
    ]);
  }));

test('a parking address is durable before it is sent', () =>
  inHouse(async (house) => {
    const [ada, bob] = await pair(house);
    await house.patch(ada, emailsOf(addressOf('Bob')));
    let durable: unknown;
    house.travel.trouble = async ({ verb, body }) => {
      if (verb === 'patch' && String(body?.email).endsWith('.invalid'))
        durable = [(await house.identity(bob)).progress.announced?.email?.value, body?.email];
      return undefined;
    };
    await house.patch(bob, emailsOf(addressOf('Ada')));
    await rest(house);
    expect(durable).toEqual([expect.stringMatching(/^parked-.*@jetbridge\.invalid$/), expect.anything()]);
    expect((durable as unknown[])[0]).toBe((durable as unknown[])[1]);
  }));

import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const down = { kind: 'unavailable', text: '503' } as const;
const HOUR_MS = 3_600_000;

/** The fields that the create sends for a user. */
const sent = { email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith', lang: 'fr' };

function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

/** Creates a user whose create call fails without being carried out, and adds a traveler with the same address by hand. */
async function failCreateBesideStranger(
  fixture: ProvisioningFixture,
  stranger: object,
  afterMs: number,
): Promise<string> {
  const { bridge, travel } = fixture;
  const start = Math.floor((travel.now?.() ?? 0) / 1_000) * 1_000;
  travel.faultFor = ({ verb }) => {
    if (verb !== 'create') return undefined;
    const createdAt = new Date(start + afterMs).toISOString().replace(/\.\d+Z$/, 'Z');
    travel.addTraveler({ createdAt, email: addressOf('Ada'), ...stranger });
    travel.faultFor = () => undefined;
    return down;
  };
  return (await bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }))).id;
}

const clocks: Record<string, (fixture: ProvisioningFixture) => void> = {
  'has the right time': () => {},
  'is an hour ahead': ({ travel, clock }) => {
    travel.now = () => clock.now() + HOUR_MS;
  },
  'is an hour behind': ({ travel, clock }) => {
    travel.now = () => clock.now() - HOUR_MS;
  },
  'does not send its time': ({ travel }) => {
    travel.now = undefined;
  },
};

const strangers: [string, object, number][] = [
  ['in the same second, with another value', { ...sent, lang: 'de', currency: 'EUR' }, 0],
  ['in the same second, with one value missing', { firstName: 'Ada', lastName: 'Smith', currency: 'EUR' }, 0],
  ['two minutes before, with all values equal', { ...sent, currency: 'EUR' }, -120_000],
  ['a minute after, with another value', { ...sent, lang: 'de', currency: 'EUR' }, 60_000],
];

describe.each(Object.keys(clocks))('where the travel API %s', (clockName) => {
  const inTime = (
    test: (fixture: ProvisioningFixture) => Promise<void>,
    options: Parameters<typeof withFixture>[1] = {},
  ) =>
    withFixture(async (fixture) => {
      clocks[clockName]?.(fixture);
      await test(fixture);
    }, options);

  // Without the time of the travel API, a traveler with all values is that of the create.
  const isTimeKnown = clockName !== 'does not send its time';
  const others = strangers.filter(
    ([, stranger, afterMs]) => isTimeKnown || !('email' in stranger && afterMs < 0),
  );

  test.each(others)(
    'a traveler made by hand %s is linked without owning its fields',
    (_, stranger, afterMs) =>
      inTime(async (fixture) => {
        const ada = await failCreateBesideStranger(fixture, stranger, afterMs);
        await fixture.bridge.users.change(users, ada, () => person('Ada'), 'replace');
        for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(51_000);
        const [only, ...others] = travelers(fixture);
        expect(others).toEqual([]);
        expect(only).toMatchObject({ ...stranger, firstName: 'Ada' });
        expect(await fixture.identity(ada)).toMatchObject({
          state: 'synced',
          travelId: only?.id,
          findings: [],
        });
      }),
  );

  test.each(others)(
    'a corrected address does not rename a traveler made by hand %s',
    (_, stranger, afterMs) =>
      inTime(async (fixture) => {
        const ada = await failCreateBesideStranger(fixture, stranger, afterMs);
        await fixture.patch(ada, emailsOf('ada.king@corp.example'));
        for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(51_000);
        const [other, own, ...others] = travelers(fixture);
        expect(others).toEqual([]);
        expect(other).toMatchObject({ ...stranger, email: addressOf('Ada') });
        expect(own).toMatchObject({ email: 'ada.king@corp.example', firstName: 'Ada' });
        expect((await fixture.identity(ada)).travelId).toBe(own?.id);
      }),
  );

  test.each(strangers)('a DELETE does not archive a traveler made by hand %s', (_, stranger, afterMs) =>
    inTime(async (fixture) => {
      const ada = await failCreateBesideStranger(fixture, stranger, afterMs);
      await fixture.bridge.users.remove(users, ada);
      for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(51_000);
      const archived = !isTimeKnown && 'email' in stranger && afterMs < 0;
      expect(travelers(fixture)).toEqual([expect.objectContaining({ ...stranger, archived })]);
    }),
  );

  test('a value that the IdP removes before the traveler of a lost create is found goes', () =>
    inTime(async (fixture) => {
      fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
      const { id } = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
      fixture.travel.faultFor = () => undefined;
      await fixture.bridge.users.change(users, id, () => person('Ada'), 'replace');
      for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(51_000);
      expect((await fixture.traveler(id))?.lang).toBeUndefined();
      expect(travelers(fixture)).toHaveLength(1);
    }));

  test('the traveler of a lost create is still found and gets the address that was corrected meanwhile', () =>
    inTime(async (fixture) => {
      fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
      const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
      fixture.travel.faultFor = () => undefined;
      await fixture.patch(ada.id, emailsOf('ada.king@corp.example'));
      for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(51_000);
      const linked = await fixture.traveler(ada.id);
      expect(linked).toMatchObject({ email: 'ada.king@corp.example' });
      expect(travelers(fixture)).toHaveLength(1);
    }));
});

test('a create that a gateway has sent twice is the own one', () =>
  withFixture(async ({ bridge, travel, traveler }) => {
    travel.faultFor = ({ verb }) => {
      if (verb === 'create') travel.addTraveler(sent);
      return undefined;
    };
    const ada = await bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    expect(await traveler(ada.id)).toMatchObject(sent);
  }));

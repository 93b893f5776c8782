import { type TravelClient, travelClient } from '../../src/adapter/http/client.ts';
import { travelLookups } from '../../src/adapter/lookups.ts';
import { profiles } from '../../src/adapter/profiles/profiles.ts';
import { travelUsers } from '../../src/adapter/users.ts';
import type { TravelAnswer, TravelLookups, TravelUsers } from '../../src/model/travel-ports.ts';
import type { TravelerChange, TravelUser } from '../../src/model/traveler.ts';
import { readTravelerPages } from '../../src/provisioning/import/traveler-pages.ts';
import { fields } from '../../src/translator/fields/fields.ts';
import { type Habits, type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';

type ProfileName = keyof typeof profiles;

interface Fixture {
  api: OtherTravelApi;
  client: TravelClient;
  users: TravelUsers;
  lookups: TravelLookups;
}

const clock = { now: Date.now, wallClock: Date.now, wait: async () => {} };
const limits = { timeoutMs: 5_000, concurrency: 8, perSecond: undefined };

/** The adapter in front of a travel API in this process that has the form of the profile. */
async function withApi(
  profile: ProfileName,
  test: (fixture: Fixture) => Promise<void>,
  { habits = {}, token }: { habits?: Partial<Habits>; token?: string } = {},
): Promise<void> {
  const api = await otherTravelApi(habits, { style: profile });
  const settings = { url: api.url, token: token ?? api.key, profile: profiles[profile]({}) };
  const client = travelClient({ ...limits, ...settings, clock });
  const log = { warn: () => {}, error: () => {} };
  try {
    const lookups = travelLookups({ client, now: Date.now, log });
    await test({ api, client, users: travelUsers(client), lookups });
  } finally {
    client.close();
    await api.close();
  }
}

function okValue<T>(answer: TravelAnswer<T>): T {
  if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer));
  return answer.value;
}

const ada = { email: 'ada@corp.example', firstName: 'Ada', lastName: 'Lovelace' };

/** Collections to which travelers refer, and a manager. */
function addReferences(api: OtherTravelApi) {
  const field = (name: string, dataType: string) =>
    api.add('customFields', { name, dataType, resourceType: 'user' }).id;
  const [team, floor, badges] = [
    field('Team', 'text'),
    field('Floor', 'option'),
    field('Badges', 'optionsList'),
  ];
  const option = (customFieldId: string, data: string) =>
    api.add('customFieldOptions', { customFieldId, data }).id;
  return {
    ...{ team, floor, badges },
    options: {
      floor: [option(floor, '1'), option(floor, '2')],
      badges: [option(badges, 'A'), option(badges, 'B')],
    } as const,
    costCenterId: api.add('costCenters', { name: 'R&D' }).id,
    billingProfileId: api.add('billingProfiles', { name: 'Main' }).id,
    travelPolicyId: api.add('travelPolicies', { name: 'Standard' }).id,
    managerId: api.addTraveler({ email: 'boss@corp.example' }).id,
  };
}

/** A value of each field of the table. */
function wholeTraveler(references: ReturnType<typeof addReferences>): TravelerChange {
  const { costCenterId, billingProfileId, travelPolicyId, managerId } = references;
  return {
    ...{ ...ada, costCenterId, billingProfileId, travelPolicyId, managerId },
    phoneNumber: '+33 612345678',
    lang: 'fr',
    address: {
      streetAddress: '12 rue X',
      city: 'Paris',
      region: 'IDF',
      postalCode: '75002',
      countryCode: 'FR',
    },
    dateOfBirth: '1990-02-28',
    gender: 'female',
    currency: 'EUR',
    separateIcsEmails: true,
  };
}

/** What every profile shows, each in a travel API of its form. */
const cases: { title: string; habits?: Partial<Habits>; test(fixture: Fixture): Promise<void> }[] = [
  {
    title: 'a traveler is created, changed, archived, restored and deleted',
    test: async ({ api, users }) => {
      const { id, createdAt } = okValue(await users.create(ada, 'key-1'));
      expect(api.traveler(id)).toMatchObject({ ...ada, archived: false });
      expect(Date.parse(createdAt)).toBeGreaterThan(0);
      const changed = { firstName: 'Augusta', lastName: null };
      expect(okValue(await users.patch(id, changed)).firstName).toBe('Augusta');
      expect(api.traveler(id)).not.toHaveProperty('lastName');
      for (const archived of [true, false]) {
        expect(okValue(await users.patch(id, { archived }))).toMatchObject({ id, archived });
        expect(okValue(await users.read(id))).toMatchObject({ archived });
        expect(api.traveler(id)?.archived).toBe(archived);
      }
      expect((await users.remove(id)).kind).toBe('ok');
      expect(api.traveler(id)).toBeUndefined();
    },
  },
  {
    title: 'each field of the table is written, read, and removed again',
    test: async ({ api, users }) => {
      const whole = wholeTraveler(addReferences(api));
      const { id, ...made } = okValue(await users.create(whole, 'key-1'));
      expect(made).toMatchObject(whole);
      expect(made.otherFields).toBeUndefined();
      expect(api.traveler(id)).toMatchObject(whole);
      const names = fields.map(({ key }) => key.split('.')[0] ?? key);
      expect(new Set(Object.keys(whole))).toEqual(new Set(names));
      for (const name of names.filter((one) => one !== 'email')) {
        const after = okValue(await users.patch(id, { [name]: null }));
        expect([after, api.traveler(id)].map((one) => one && name in one)).toEqual([false, false]);
      }
      expect(okValue(await users.read(id))).toEqual({
        ...{ id, email: ada.email, archived: false, createdAt: made.createdAt },
      });
    },
  },
  {
    title: 'a part of the address is changed or removed, and the others stay',
    test: async ({ api, users }) => {
      const address = { city: 'Paris', region: 'IDF', countryCode: 'FR' };
      const { id } = okValue(await users.create({ ...ada, address }, 'key-1'));
      const after = okValue(await users.patch(id, { address: { city: 'Lyon', region: null } }));
      expect(after.address).toEqual({ city: 'Lyon', countryCode: 'FR' });
      expect(api.traveler(id)?.address).toEqual({ city: 'Lyon', countryCode: 'FR' });
    },
  },
  {
    title: 'custom fields of every type and roles are replaced whole',
    test: async ({ api, users }) => {
      const { team, floor, badges, options } = addReferences(api);
      const text = { customFieldId: team, values: [{ data: 'Sales' }] };
      const one = { customFieldId: floor, values: [{ customFieldOptionId: options.floor[0] }] };
      const several = {
        customFieldId: badges,
        values: options.badges.map((customFieldOptionId) => ({ customFieldOptionId })),
      };
      const held = ({ customFields = [] }: Partial<TravelUser> = {}) =>
        customFields
          .map(({ customFieldId, values }) => [
            customFieldId,
            values.map(({ customFieldOptionId, data }) => customFieldOptionId ?? data).sort(),
          ])
          .sort();
      const all = { customFields: [text, one, several], roles: ['guest', 'manager'] };
      const made = okValue(await users.create({ ...ada, ...all }, 'key-1'));
      const expected = [
        [team, ['Sales']],
        [floor, [options.floor[0]]],
        [badges, options.badges.toSorted()],
      ].sort();
      expect(held(made)).toEqual(expected);
      expect(held(api.traveler(made.id))).toEqual(expected);
      expect(made.roles).toEqual(['guest', 'manager']);
      const next = { customFields: [text], roles: ['manager'] };
      expect(held(okValue(await users.patch(made.id, next)))).toEqual([[team, ['Sales']]]);
      expect(api.traveler(made.id)).toMatchObject({ roles: ['manager'] });
    },
  },
  {
    title: 'a preference is set and removed, and the others stay',
    test: async ({ api, users }) => {
      const travelerPrefs = { flightSeatPosition: 'aisle' };
      const { id } = okValue(await users.create({ ...ada, travelerPrefs }, 'key-1'));
      const added = okValue(await users.patch(id, { travelerPrefs: { meal: 'vegan' } }));
      expect(added.travelerPrefs).toEqual({ flightSeatPosition: 'aisle', meal: 'vegan' });
      const removed = okValue(await users.patch(id, { travelerPrefs: { flightSeatPosition: null } }));
      expect(removed.travelerPrefs).toEqual({ meal: 'vegan' });
      expect(okValue(await users.read(id)).travelerPrefs).toEqual({ meal: 'vegan' });
      expect(removed.otherFields).toBeUndefined();
      expect(api.traveler(id)).toMatchObject({ travelerPrefs: { meal: 'vegan' } });
    },
  },
  {
    title: 'what the bridge does not know stays, is named, and can be removed',
    test: async ({ api, users }) => {
      const { id } = api.addTraveler({ ...ada, seat: 'window', meal: 'vegan' });
      expect(okValue(await users.patch(id, { lang: 'fr' })).otherFields).toEqual(['meal', 'seat']);
      expect(api.traveler(id)).toMatchObject({ seat: 'window', meal: 'vegan' });
      expect(okValue(await users.patch(id, { seat: null })).otherFields).toEqual(['meal']);
      expect(api.traveler(id)).toEqual(expect.not.objectContaining({ seat: 'window' }));
    },
  },
  {
    title: 'a change archives a traveler or its opposite, and changes other fields',
    test: async ({ api, users }) => {
      const { id, archived } = okValue(await users.create({ ...ada, archived: true }, 'key-1'));
      if (!archived) okValue(await users.patch(id, { archived: true }));
      expect(api.traveler(id)).toMatchObject({ ...ada, archived: true });
      const back = okValue(await users.patch(id, { archived: false, firstName: 'Augusta' }));
      expect(back).toMatchObject({ archived: false, firstName: 'Augusta' });
      const left = okValue(await users.patch(id, { archived: true, email: 'left@corp.example' }));
      expect(left).toMatchObject({ archived: true, email: 'left@corp.example' });
      expect(api.traveler(id)).toMatchObject({ archived: true, email: 'left@corp.example' });
    },
  },
  {
    title: 'an address that another traveler has is a conflict',
    test: async ({ api, users }) => {
      const { id } = api.addTraveler({ email: 'eve@corp.example' });
      api.addTraveler(ada);
      expect(await users.create(ada, 'key-1')).toEqual({ kind: 'conflict' });
      expect(await users.patch(id, { email: ada.email })).toEqual({ kind: 'conflict' });
    },
  },
  {
    title: 'refused values are named as the bridge names its fields',
    test: async ({ api, users }) => {
      const { team, floor } = addReferences(api);
      const namesIn = (answer: TravelAnswer<unknown>) =>
        answer.kind === 'invalid' ? answer.fields.map(({ field }) => field).sort() : answer;
      const wrong: TravelerChange = {
        email: 'nobody',
        managerId: 'nobody',
        address: { countryCode: 'France' },
        customFields: [
          { customFieldId: team, values: [{ data: 'Sales' }] },
          { customFieldId: floor, values: [{ customFieldOptionId: 'none' }] },
        ],
      };
      const refused = ['address.countryCode', `customFields.${floor}`, 'email', 'managerId'];
      expect(namesIn(await users.create(wrong, 'key-1'))).toEqual(refused);
      const { id } = api.addTraveler(ada);
      expect(namesIn(await users.patch(id, wrong))).toEqual(refused);
      expect(api.traveler(id)).toMatchObject(ada);
    },
  },
  {
    title: 'a traveler that does not exist is not found',
    test: async ({ users }) => {
      const change = { firstName: 'Ada' };
      for (const id of ['none', '..']) {
        const archived = await users.patch(id, { archived: true });
        const answers = [
          await users.read(id),
          await users.patch(id, change),
          archived,
          await users.remove(id),
        ];
        // Without an error code, the answer may be that of a gateway (docs/operations/a-gateway-answers.md).
        const isBare = (answer: TravelAnswer<unknown>) =>
          answer.kind === 'unavailable' && answer.bareStatus === 404;
        const kinds = answers.map((answer) => (isBare(answer) ? 'notFound' : answer.kind));
        expect(kinds).toEqual(['notFound', 'notFound', 'notFound', 'notFound']);
      }
    },
  },
  {
    title: 'a search finds travelers in the order of the addresses, in another case and archived ones too',
    test: async ({ api, users }) => {
      api.addTraveler({ email: 'other@corp.example' });
      api.addTraveler({ email: 'eve@corp.example', archived: true });
      api.addTraveler(ada);
      const found = okValue(
        await users.findByEmails(['Ada@CORP.example', 'EVE@corp.example', 'no@corp.example']),
      );
      expect(found.map(({ email, archived }) => [email, archived])).toEqual([
        ['ada@corp.example', false],
        ['eve@corp.example', true],
      ]);
    },
  },
  {
    title: 'all pages of the travelers are read, and the last one is known',
    test: async ({ api, users }) => {
      for (let number = 0; number < 250; number += 1) api.addTraveler({ email: `p${number}@corp.example` });
      const ids: string[] = [];
      for await (const pages of readTravelerPages(users)) {
        if ('kind' in pages) throw new Error(JSON.stringify(pages));
        for (const page of pages) ids.push(...page.users.map(({ id }) => id));
      }
      expect(ids).toEqual(api.travelers().map(({ id }) => id));
      const page = okValue(await users.readPage(0, 100));
      expect(page).toMatchObject({ length: 100, isLast: false, isTotalGiven: false, unreadable: [] });
    },
  },
  {
    title: 'the user of the credential is known',
    test: async ({ api, lookups }) => {
      expect(okValue(await lookups.readOwnUser())).toMatchObject({ id: api.selfId, roles: ['admin'] });
    },
  },
  {
    title: 'cost centers, billing profiles, travel policies and custom fields with their options are read',
    test: async ({ api, lookups }) => {
      const { team, floor, badges, options, costCenterId, ...ids } = addReferences(api);
      api.edit('customFields', team, { disabled: true, validationRegexp: '^.$' });
      api.edit('customFieldOptions', options.floor[1], { disabled: true });
      api.edit('costCenters', costCenterId, { archived: true });
      const { customFields, ...others } = okValue(await lookups.current());
      expect(others).toMatchObject({
        costCenters: [{ id: costCenterId, name: 'R&D', archived: true }],
        billingProfiles: [{ id: ids.billingProfileId, name: 'Main', archived: false }],
        travelPolicies: [{ id: ids.travelPolicyId, name: 'Standard', archived: false }],
        scimUserMappings: [],
      });
      expect(customFields).toEqual([
        { id: team, name: 'Team', dataType: 'text', disabled: true, validationRegexp: '^.$', options: [] },
        {
          ...{ id: floor, name: 'Floor', dataType: 'option', disabled: false },
          options: [
            { id: options.floor[0], data: '1', disabled: false },
            { id: options.floor[1], data: '2', disabled: true },
          ],
        },
        {
          ...{ id: badges, name: 'Badges', dataType: 'optionsList', disabled: false },
          options: options.badges.map((id, index) => ({ id, data: 'AB'[index], disabled: false })),
        },
      ]);
    },
  },
  {
    title: 'a long collection is read to its end, and a forbidden one counts as empty',
    test: async ({ api, lookups }) => {
      for (let number = 0; number < 230; number += 1) api.add('costCenters', { name: `C${number}` });
      const { costCenters, travelPolicies } = okValue(await lookups.current());
      expect([costCenters.length, travelPolicies]).toEqual([230, []]);
    },
    habits: { forbidden: new Set(['travelPolicies'] as const) },
  },
  {
    title: 'a create whose answer is lost makes one traveler, also if it is repeated',
    test: async ({ api, users }) => {
      api.failCall = () => ({ answer: 'reset', carriedOut: 'atOnce' });
      expect(await users.create(ada, 'key-1')).toMatchObject({ kind: 'unavailable', isUnanswered: true });
      api.failCall = () => undefined;
      const again = await users.create(ada, 'key-1');
      expect(['ok', 'conflict']).toContain(again.kind);
      expect(api.travelers().filter(({ email }) => email === ada.email)).toHaveLength(1);
    },
  },
  {
    title: 'limits, outages and time-outs are told apart, for each call',
    test: async ({ api, users }) => {
      const { id } = api.addTraveler(ada);
      const failures = [
        [
          { answer: 429, headers: { 'retry-after': '7' } },
          { retryAfterMs: 7_000, isThrottled: true },
        ],
        [
          { answer: 503, headers: { 'retry-after': '7' } },
          { isThrottled: true, isDoubtful: true },
        ],
        [{ answer: 500 }, {}],
        [{ answer: 413 }, { isRejected: true }],
        [{ answer: 'reset' }, { isUnanswered: true }],
      ] as const;
      for (const [failure, meaning] of failures) {
        api.failCall = ({ method }) => (method === 'GET' ? undefined : failure);
        const changes = [
          await users.create(ada, 'key-1'),
          await users.patch(id, { firstName: 'Augusta' }),
          await users.patch(id, { archived: true }),
          await users.remove(id),
        ];
        api.failCall = () => failure;
        const reads = [
          await users.read(id),
          await users.findByEmails([ada.email]),
          await users.readPage(0, 10),
        ];
        for (const answer of [...changes, ...reads])
          expect(answer).toMatchObject({ kind: 'unavailable', ...meaning });
      }
    },
  },
  {
    title: 'a page of a gateway says nothing about a traveler, nor does a missing collection',
    test: async ({ api, users }) => {
      const { id } = api.addTraveler(ada);
      api.failCall = () => ({ answer: 404, body: '<html>no route</html>' });
      for (const answer of [
        await users.read(id),
        await users.patch(id, { lang: 'fr' }),
        await users.remove(id),
      ])
        expect(answer.kind).toBe('unavailable');
      api.failCall = () => ({ answer: 404 });
      expect((await users.create(ada, 'key-1')).kind).toBe('unavailable');
      expect((await users.findByEmails([ada.email])).kind).toBe('unavailable');
    },
  },
];

describe.each(Object.keys(profiles) as ProfileName[])('the adapter with the profile %s', (profile) => {
  test.each(cases)('$title', ({ test: run, habits = {} }) => withApi(profile, run, { habits }));

  test('a credential that the travel API refuses is told', () =>
    withApi(
      profile,
      async ({ users, lookups }) => {
        const answers = [
          await users.create(ada, 'key-1'),
          await users.read('t'),
          await lookups.readOwnUser(),
        ];
        expect(answers).toEqual(answers.map(() => ({ kind: 'unauthorized' })));
      },
      { token: 'another' },
    ));
});

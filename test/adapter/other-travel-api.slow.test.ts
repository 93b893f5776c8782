import type { JsonObject } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import {
  type Habits,
  type OtherTravelApi,
  otherTravelApi,
  type Style,
} from '../fixtures/other-travel-api.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** The whole service in front of a travel API of another kind. */
interface Fixture {
  api: OtherTravelApi;
  service: RunningService;
  /** One SCIM request, and what came back. */
  scim(target: string, body?: object): Promise<{ status: number; json: JsonObject & { id: string } }>;
  /** Waits until the findings and the state of the only person are these. */
  comesTo(state: string, codes?: string[]): Promise<void>;
}

async function withOther(
  habits: Partial<Habits>,
  test: (fixture: Fixture) => Promise<void>,
  profile: Style = 'jetbridge',
): Promise<void> {
  const api = await otherTravelApi(habits, { style: profile });
  const settings = writeSettingsFile({}, { default: { mapping: undefined, travelApi: { profile } } });
  const service = await startService({
    ...{ TRAVEL_API_URL: api.url, TRAVEL_API_KEY: api.key, JETBRIDGE_CONFIG: settings.path },
  });
  const scim: Fixture['scim'] = async (target, body) => {
    const [method = '', path = ''] = target.split(' ');
    const response = await fetch(`${service.url}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${service.scimToken}`,
        ...(body ? { 'content-type': 'application/scim+json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
  };
  const comesTo: Fixture['comesTo'] = (state, codes = []) =>
    eventually(async () => {
      const claimed = (await service.people('default')).filter((one) => one.claimed);
      expect(claimed.map((one) => [one.state, one.findings.map(({ code }) => code)])).toEqual([
        [state, codes],
      ]);
    });
  try {
    await test({ api, service, scim, comesTo });
  } finally {
    await service.close();
    await api.close();
    settings.remove();
  }
}

const ada = (more: JsonObject = {}): JsonObject => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
  userName: 'Ada@Corp.example',
  name: { givenName: 'Ada', familyName: 'Smith' },
  emails: [{ value: 'Ada@Corp.example', type: 'work', primary: true }],
  ...more,
});

const replace = (path: string, value: unknown) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', path, value }],
});

const inDepartment = (department: string) => ada({ [enterprise]: { department } });

/** A custom field for users that the department fills. */
function departmentField(api: OtherTravelApi, dataType: string, options: string[] = []) {
  const { id } = api.add('customFields', { name: 'Department', dataType, resourceType: 'user' });
  api.add('scimUserMappings', { scimAttribute: `${enterprise}:department`, customFieldId: id });
  const ids = options.map((data) => api.add('customFieldOptions', { customFieldId: id, data }).id);
  return { id, options: ids };
}

describe.each<Style>(['jetbridge', 'generic-rest'])(
  'with another travel API of the profile %s',
  (profile) => {
    test('a person is created, changed, deactivated and deleted', () =>
      withOther(
        {},
        async ({ api, scim, comesTo }) => {
          const { status, json } = await scim('POST /Users', ada());
          expect(status).toBe(201);
          await comesTo('synced');
          const { id } = api.traveler('ada@corp.example') ?? { id: '' };
          expect((await scim(`PATCH /Users/${json.id}`, replace('name.givenName', 'Augusta'))).status).toBe(
            200,
          );
          await comesTo('synced');
          expect(api.traveler(id)).toMatchObject({ firstName: 'Augusta', archived: false });
          expect((await scim(`PATCH /Users/${json.id}`, replace('active', false))).status).toBe(200);
          await comesTo('synced');
          expect(api.traveler(id)?.archived).toBe(true);
          expect((await scim(`PATCH /Users/${json.id}`, replace('active', true))).status).toBe(200);
          await eventually(async () => expect(api.traveler(id)?.archived).toBe(false));
          expect((await scim(`DELETE /Users/${json.id}`)).status).toBe(204);
          await eventually(async () => expect(api.traveler(id)?.archived).toBe(true));
          expect(api.travelers()).toHaveLength(2);
        },
        profile,
      ));

    test('an existing traveler is found by an email in another case, and linked', () =>
      withOther(
        {},
        async ({ api, scim, comesTo }) => {
          const { id } = api.addTraveler({ email: 'ada@corp.example', firstName: 'A.', lastName: 'Smith' });
          expect((await scim('POST /Users', ada())).status).toBe(201);
          await comesTo('synced');
          expect(api.travelers()).toHaveLength(2);
          expect(api.traveler(id)).toMatchObject({ firstName: 'Ada' });
        },
        profile,
      ));

    test.each([400, 413, 415])(
      'a %i to a deactivation is not told to the identity provider, and it is carried out later',
      (status) =>
        withOther(
          {},
          async ({ api, scim, comesTo }) => {
            const { json } = await scim('POST /Users', ada());
            await comesTo('synced');
            api.failCall = ({ method, path }) =>
              method === 'PATCH' || path.endsWith('/deactivate') ? { answer: status } : undefined;
            expect((await scim(`PATCH /Users/${json.id}`, replace('active', false))).status).toBe(200);
            expect((await scim(`GET /Users/${json.id}`)).json.active).toBe(false);
            expect((await scim(`DELETE /Users/${json.id}`)).status).toBe(204);
            expect(api.traveler('ada@corp.example')?.archived).toBe(false);
            api.failCall = () => undefined;
            await eventually(async () => expect(api.traveler('ada@corp.example')?.archived).toBe(true));
          },
          profile,
        ),
    );

    test('a call that is carried out late creates no second traveler', () =>
      withOther(
        {},
        async ({ api, scim, comesTo }) => {
          let isFirst = true;
          api.failCall = ({ method }) => {
            if (method !== 'POST' || !isFirst) return undefined;
            isFirst = false;
            return { answer: 504, carriedOut: 'onDemand' };
          };
          await scim('POST /Users', ada());
          expect(api.carryOutLate()).toBe(1);
          await comesTo('synced');
          expect(api.travelers().map(({ email }) => email)).toEqual([
            'bridge@travel.example',
            'ada@corp.example',
          ]);
        },
        profile,
      ));
  },
);

describe('with a travel API that differs from the embedded one', () => {
  test.each([
    ['says which type it takes', true],
    ['does not say which type it takes', false],
  ])(
    'a PATCH whose media type is refused is sent once more, where the travel API %s',
    (_title, givesAcceptPatch) =>
      withOther({ givesAcceptPatch }, async ({ api, scim, comesTo }) => {
        const { json } = await scim('POST /Users', ada());
        for (const name of ['Augusta', 'Ada', 'Byron']) {
          await scim(`PATCH /Users/${json.id}`, replace('name.givenName', name));
          await comesTo('synced');
        }
        const patches = api.writes().filter(({ method }) => method === 'PATCH');
        expect(patches.map(({ status }) => status)).toEqual([415, 200, 200, 200]);
      }),
  );

  test('an option is sent once by its id alone, and stays when its text changes', () =>
    withOther({}, async ({ api, scim, comesTo }) => {
      const { id, options } = departmentField(api, 'option', ['Sales', 'Legal']);
      const { json } = await scim('POST /Users', inDepartment('Sales'));
      await comesTo('synced');
      const customFields = () => api.traveler('ada@corp.example')?.customFields;
      expect(customFields()).toMatchObject([
        { customFieldId: id, values: [{ customFieldOptionId: options[0] }] },
      ]);
      const count = api.writes().length;
      await scim(`PUT /Users/${json.id}`, inDepartment('Sales'));
      await scim(`PUT /Users/${json.id}`, ada({ ...inDepartment('Sales'), title: 'Buyer' }));
      await comesTo('synced');
      expect(api.writes()).toHaveLength(count);
      await scim(`PUT /Users/${json.id}`, inDepartment('Legal'));
      await comesTo('synced');
      expect(customFields()).toMatchObject([
        { values: [{ customFieldOptionId: options[1], data: 'Legal' }] },
      ]);
    }));

  test('a lookup that is forbidden from the start does not stop provisioning', () =>
    withOther(
      { forbidden: new Set(['costCenters', 'scimUserMappings'] as const) },
      async ({ api, service, scim, comesTo }) => {
        const user = ada({ [enterprise]: { costCenter: 'Sales' } });
        expect((await scim('POST /Users', user)).status).toBe(201);
        await comesTo('synced', ['costCenterUnknown']);
        expect(api.traveler('ada@corp.example')?.firstName).toBe('Ada');
        expect(await (await fetch(`${service.url}/metrics`)).text()).not.toContain('jetbridge_lookup_stale{');
      },
    ));

  test('a lookup that becomes forbidden keeps its last value, and the metrics show it', () =>
    withOther({}, async ({ api, service, scim }) => {
      const { id } = api.add('costCenters', { name: 'Sales' });
      const inCenter = (costCenter: string) => ada({ [enterprise]: { costCenter } });
      const { json } = await scim('POST /Users', inCenter('Sales'));
      await eventually(async () => expect(api.traveler('ada@corp.example')?.costCenterId).toBe(id));
      api.habits.forbidden.add('costCenters');
      // A name that is not found has the lookups read anew.
      let turn = 0;
      await eventually(async () => {
        turn += 1;
        await scim(`PUT /Users/${json.id}`, inCenter(`none ${turn}`));
        const metrics = (await (await fetch(`${service.url}/metrics`)).text()).split('\n');
        expect(metrics.filter((line) => line.startsWith('jetbridge_lookup_stale'))).toEqual([
          'jetbridge_lookup_stale{connection="default",part="costCenters"} 1',
        ]);
      });
      await scim(`PUT /Users/${json.id}`, inCenter('Sales'));
      await eventually(async () => expect(api.traveler('ada@corp.example')?.costCenterId).toBe(id));
    }));

  test('a mandatory custom field without a value is a finding, and its value creates the traveler', () =>
    withOther({}, async ({ api, scim, comesTo }) => {
      const { id } = departmentField(api, 'text');
      api.edit('customFields', id, { mandatory: true });
      const { status, json } = await scim('POST /Users', ada());
      expect(status).toBe(201);
      await comesTo('pending', ['refusedByTravelApi']);
      await scim(`PUT /Users/${json.id}`, inDepartment('Sales'));
      await comesTo('synced');
      expect(api.traveler('ada@corp.example')?.customFields).toMatchObject([{ values: [{ data: 'Sales' }] }]);
    }));
});

describe.each(['id', 'index'] as const)(
  'with a travel API that refuses disabled custom fields, and names them by %s,',
  (namesCustomFieldsBy) => {
    test('a refused value that was only repeated is left out with a finding, and the change arrives', () =>
      withOther({ namesCustomFieldsBy }, async ({ api, scim, comesTo }) => {
        const { id } = departmentField(api, 'text');
        const add = (name: string) =>
          api.add('customFields', { name, dataType: 'text', resourceType: 'user' }).id;
        const [badge, room] = [add('Badge'), add('Room')];
        const { json } = await scim('POST /Users', inDepartment('Sales'));
        await comesTo('synced');
        const traveler = () => api.traveler('ada@corp.example');
        const held = (customFieldId: string, data: string) => ({ customFieldId, values: [{ data }] });
        api.editTraveler(traveler()?.id ?? '', {
          customFields: [held(badge, '0815'), held(room, 'B12'), held(id, 'Sales')],
        });
        api.edit('customFields', badge, { disabled: true });
        await scim(`PUT /Users/${json.id}`, inDepartment('Legal'));
        await comesTo('synced', ['customFieldLost']);
        const byId = (a: { customFieldId: string }, b: { customFieldId: string }) =>
          a.customFieldId.localeCompare(b.customFieldId);
        // Their order is the order of their ids, and the ids are random.
        expect(traveler()?.customFields?.toSorted(byId)).toMatchObject(
          [held(room, 'B12'), held(id, 'Legal')].toSorted(byId),
        );
        const patches = api.writes().filter(({ method, status }) => method === 'PATCH' && status !== 415);
        expect(patches.map(({ status }) => status)).toEqual([422, 200]);
        await scim(`PUT /Users/${json.id}`, inDepartment('Sales'));
        await comesTo('synced', ['customFieldLost']);
        api.edit('customFields', badge, { disabled: false });
        api.editTraveler(traveler()?.id ?? '', {
          customFields: [held(badge, '0816'), held(room, 'B12'), held(id, 'Sales')],
        });
        await scim(`PUT /Users/${json.id}`, inDepartment('Legal'));
        await comesTo('synced');
      }));

    test('a value of the identity provider is sent again when its field is enabled again', () =>
      withOther({ namesCustomFieldsBy }, async ({ api, scim, comesTo }) => {
        const { id } = departmentField(api, 'text');
        const title = api.add('customFields', { name: 'Title', dataType: 'text', resourceType: 'user' }).id;
        api.add('scimUserMappings', { scimAttribute: 'title', customFieldId: title });
        const as = (department: string) => ada({ title: 'Buyer', [enterprise]: { department } });
        const { json } = await scim('POST /Users', as('Sales'));
        await comesTo('synced');
        const values = () =>
          api
            .traveler('ada@corp.example')
            ?.customFields?.map((one) => [one.customFieldId, one.values[0]?.data])
            .sort();
        expect(values()).toEqual(
          [
            [id, 'Sales'],
            [title, 'Buyer'],
          ].sort(),
        );
        api.edit('customFields', title, { disabled: true });
        await scim(`PUT /Users/${json.id}`, as('Legal'));
        await comesTo('synced', ['customFieldLost']);
        await scim(`PUT /Users/${json.id}`, as('Finance'));
        await comesTo('synced', ['customFieldDisabled', 'customFieldLost']);
        expect(values()).toEqual([[id, 'Finance']]);
        api.edit('customFields', title, { disabled: false });
        // A cost center that nobody knows has the lookups read anew, which takes a minute otherwise.
        const unknown = (costCenter: string) =>
          ada({ title: 'Buyer', [enterprise]: { department: 'Sales', costCenter } });
        let turn = 0;
        await eventually(async () => {
          turn += 1;
          await scim(`PUT /Users/${json.id}`, unknown(`none ${turn}`));
          expect(values()).toEqual(
            [
              [id, 'Sales'],
              [title, 'Buyer'],
            ].sort(),
          );
        });
      }));
  },
);

describe('with the profile generic-rest', () => {
  const profile = 'generic-rest';

  test('a change by hand between the read and the PUT of a change stays, and the change arrives', () =>
    withOther(
      {},
      async ({ api, scim, comesTo }) => {
        const { json } = await scim('POST /Users', ada());
        await comesTo('synced');
        const { id } = api.traveler('ada@corp.example') ?? { id: '' };
        let isFirst = true;
        api.failCall = ({ method }) => {
          if (method === 'PUT' && isFirst) {
            isFirst = false;
            api.editTraveler(id, { seat: 'window' });
          }
          return undefined;
        };
        await scim(`PATCH /Users/${json.id}`, replace('name.givenName', 'Augusta'));
        await eventually(async () => expect(api.traveler(id)?.firstName).toBe('Augusta'));
        expect(api.traveler(id)).toMatchObject({ seat: 'window' });
      },
      profile,
    ));

  test('the rest of a change whose first half has arrived is sent, and nothing twice', () =>
    withOther(
      {},
      async ({ api, scim, comesTo }) => {
        const { json } = await scim('POST /Users', ada());
        await comesTo('synced');
        const count = api.writes().length;
        let isFirst = true;
        api.failCall = ({ method }) => {
          if (method !== 'PUT' || !isFirst) return undefined;
          isFirst = false;
          return { answer: 500 };
        };
        const user = { ...ada({ active: false }), name: { givenName: 'Augusta', familyName: 'Smith' } };
        expect((await scim(`PUT /Users/${json.id}`, user)).status).toBe(200);
        const traveler = () => api.traveler('ada@corp.example');
        await eventually(async () =>
          expect(traveler()).toMatchObject({ archived: true, firstName: 'Augusta' }),
        );
        await comesTo('synced');
        expect(
          api
            .writes()
            .slice(count)
            .map(({ method, status }) => [method, status]),
        ).toEqual([
          ['POST', 200],
          ['PUT', 500],
          ['PUT', 200],
        ]);
      },
      profile,
    ));

  test('a leaver whose other values are refused is deactivated, and the refusal is a finding', () =>
    withOther(
      { mandatoryUserFields: ['lastName'] },
      async ({ api, scim, comesTo }) => {
        const { json } = await scim('POST /Users', ada());
        await comesTo('synced');
        const user = { ...ada({ active: false }), name: { givenName: 'Augusta' } };
        expect((await scim(`PUT /Users/${json.id}`, user)).status).toBe(200);
        await comesTo('refused', ['refusedByTravelApi']);
        const names = { firstName: 'Augusta', lastName: 'Smith' };
        expect(api.traveler('ada@corp.example')).toMatchObject({ archived: true, ...names });
      },
      profile,
    ));

  test('an inactive person is created, and the traveler has no access', () =>
    withOther(
      {},
      async ({ api, scim, comesTo }) => {
        expect((await scim('POST /Users', ada({ active: false }))).status).toBe(201);
        await eventually(async () => expect(api.traveler('ada@corp.example')?.archived).toBe(true));
        await comesTo('synced');
      },
      profile,
    ));
});

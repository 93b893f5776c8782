import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { expandTrace } from '../../src/translator/trace.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };
const toProject = { scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'cf-1' }] };
const finance = { id: 'cc-1', name: 'Finance', archived: false };

test('a field whose attributes the IdP never wrote stays as it is in the travel service', () =>
  withFixture(async ({ bridge, travel, traveler, patch }) => {
    travel.addTraveler({ email: 'ada@corp.example', phoneNumber: '+33 1 23 45 67 89', currency: 'EUR' });
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, { nickName: 'Countess', name: { givenName: 'Ada', familyName: 'King' } });
    expect(await traveler(ada.id)).toMatchObject({
      phoneNumber: '+33 1 23 45 67 89',
      currency: 'EUR',
      lastName: 'King',
    });
  }));

test('a PATCH carries along the custom fields and roles of others, which are read just before', () =>
  withFixture(
    async ({ bridge, travel, traveler }) => {
      travel.lookupData.customFields.push(project);
      const ada = await bridge.users.create(users, person('Ada', { title: 'Engines' }));
      const now = await traveler(ada.id);
      if (!now) throw new Error('no traveler');
      const foreign = { customFieldId: 'cf-9', values: [{ data: 'by hand' }] };
      travel.travelers.set(now.id, {
        ...now,
        roles: ['premium'],
        customFields: [...(now.customFields ?? []), foreign],
      });
      travel.calls.length = 0;
      const roles = { roles: [{ value: 'organizer' }] };
      await bridge.users.change(
        users,
        ada.id,
        (user) => ({ ...user, title: 'Looms', [urns.travel]: roles }),
        'patch',
      );
      expect(travel.calls.map(({ verb }) => verb)).toEqual(['read', 'patch']);
      const after = await traveler(ada.id);
      expect(after?.customFields).toEqual([{ customFieldId: 'cf-1', values: [{ data: 'Looms' }] }, foreign]);
      expect(after?.roles).toEqual(['premium', 'organizer']);
    },
    { mapping: toProject },
  ));

test('only the role that the IdP removes is removed', () =>
  withFixture(async ({ bridge, travel, traveler, patch }) => {
    const roles = (...values: string[]) => ({ [urns.travel]: { roles: values.map((value) => ({ value })) } });
    const ada = await bridge.users.create(users, person('Ada', roles('organizer', 'premium')));
    const now = await traveler(ada.id);
    if (!now) throw new Error('no traveler');
    travel.travelers.set(now.id, { ...now, roles: [...(now.roles ?? []), 'guestCreator'] });
    await patch(ada.id, roles('premium'));
    expect((await traveler(ada.id))?.roles).toEqual(['premium', 'guestCreator']);
  }));

test('a removed rule releases its field: the value stays and is not owned any more', () =>
  withFixture(async ({ bridge, travel, traveler, identity, patch }) => {
    travel.lookupData = {
      ...travel.lookupData,
      customFields: [project],
      scimUserMappings: [{ scimAttribute: 'title', customFieldId: 'cf-1' }],
    };
    const ada = await bridge.users.create(users, person('Ada', { title: 'Engines' }));
    expect((await identity(ada.id)).applied).toHaveProperty(['customFields.cf-1']);
    travel.lookupData = { ...travel.lookupData, scimUserMappings: [] };
    travel.calls.length = 0;
    await patch(ada.id, { title: 'Looms' });
    expect(travel.writes()).toEqual([]);
    expect((await traveler(ada.id))?.customFields).toEqual([
      { customFieldId: 'cf-1', values: [{ data: 'Engines' }] },
    ]);
    expect((await identity(ada.id)).applied).not.toHaveProperty(['customFields.cf-1']);
  }));

test('a name that is no longer found keeps the sent value while its source is unchanged', () =>
  withFixture(async ({ bridge, travel, traveler, patch, findings }) => {
    travel.lookupData = { ...travel.lookupData, costCenters: [finance] };
    const costCenter = (name: string) => ({ [urns.enterprise]: { costCenter: name } });
    const ada = await bridge.users.create(users, person('Ada', costCenter('Finance')));
    travel.lookupData = { ...travel.lookupData, costCenters: [{ ...finance, name: 'Money' }] };
    await patch(ada.id, { nickName: 'Countess' });
    expect((await traveler(ada.id))?.costCenterId).toBe('cc-1');
    await patch(ada.id, costCenter('Nowhere'));
    expect(await traveler(ada.id)).not.toHaveProperty('costCenterId');
    expect(await findings(ada.id)).toEqual(['costCenterId: costCenterUnknown']);
  }));

test('a resolved id stays with its source value even if another entry gets the name', () =>
  withFixture(async ({ bridge, travel, traveler, patch }) => {
    travel.lookupData = { ...travel.lookupData, costCenters: [finance] };
    const ada = await bridge.users.create(
      users,
      person('Ada', { [urns.enterprise]: { costCenter: 'Finance' } }),
    );
    const renamed = { ...finance, name: 'Old Finance' };
    travel.lookupData = {
      ...travel.lookupData,
      costCenters: [renamed, { id: 'cc-2', name: 'Finance', archived: false }],
    };
    await patch(ada.id, { nickName: 'Countess' });
    expect((await traveler(ada.id))?.costCenterId).toBe('cc-1');
  }));

describe('an option of a custom field that was renamed, while another option takes its name', () => {
  const looms = { id: 'o-1', data: 'Looms', disabled: false };
  const engines = { id: 'o-2', data: 'Engines', disabled: false };
  const skills = (...options: (typeof looms)[]) => [
    { id: 'cf-1', name: 'Skills', dataType: 'optionsList', disabled: false, options },
  ];
  const renamed = skills(
    { ...looms, data: 'Old looms' },
    engines,
    { id: 'o-3', data: 'Looms', disabled: false },
    { id: 'o-4', data: 'Ships', disabled: false },
  );

  /** Creates a user with these values of a custom field with options, and then renames the option. */
  const withRenamedOption = (
    rule: { scimAttribute: string; transforms?: string[] },
    user: ScimResource,
    test: (fixture: ProvisioningFixture, id: string) => Promise<void>,
  ) =>
    withFixture(
      async (fixture) => {
        const { travel, bridge } = fixture;
        travel.lookupData = { ...travel.lookupData, customFields: skills(looms, engines) };
        const { id } = await bridge.users.create(users, person('Ada', user));
        travel.lookupData = { ...travel.lookupData, customFields: renamed };
        await test(fixture, id);
      },
      { mapping: { scimUserMapping: [{ ...rule, customFieldId: 'cf-1' }] } },
    );
  const optionsOf = async ({ traveler }: ProvisioningFixture, id: string) =>
    (await traveler(id))?.customFields?.[0]?.values.map(({ customFieldOptionId }) => customFieldOptionId);

  test('stays with the people who have it, until their value changes or the option is deleted', () =>
    withRenamedOption({ scimAttribute: 'title' }, { title: 'Looms' }, async (fixture, id) => {
      await fixture.patch(id, { nickName: 'Countess' });
      expect(await optionsOf(fixture, id)).toEqual(['o-1']);
      expect(await fixture.findings(id)).toEqual([]);
      await fixture.patch(id, { title: 'Engines' });
      await fixture.patch(id, { title: 'Looms' });
      expect(await optionsOf(fixture, id)).toEqual(['o-3']);
    }));

  test('is replaced once it is deleted', () =>
    withRenamedOption({ scimAttribute: 'title' }, { title: 'Looms' }, async (fixture, id) => {
      const { travel } = fixture;
      const [field] = renamed;
      const left = field?.options.filter(({ id: option }) => option !== 'o-1') ?? [];
      travel.lookupData = { ...travel.lookupData, customFields: skills(...left) };
      await fixture.patch(id, { nickName: 'Countess' });
      expect(await optionsOf(fixture, id)).toEqual(['o-3']);
    }));

  test.each([[], ['titlecase']])('stays in a list that grows (transforms: %s)', (...transforms) =>
    withRenamedOption(
      { scimAttribute: 'photos', transforms },
      { photos: [{ value: 'looms' }, { value: 'engines' }] },
      async (fixture, id) => {
        const photos = ['ships', 'engines', 'looms'].map((value) => ({ value }));
        await fixture.patch(id, { photos });
        expect(await optionsOf(fixture, id)).toEqual(['o-4', 'o-2', 'o-1']);
      },
    ),
  );
});

test('a value that is not found is looked up once more in fresh lookups', () =>
  withFixture(async ({ bridge, travel, traveler }) => {
    travel.beforeRefresh = () => {
      travel.lookupData = { ...travel.lookupData, costCenters: [finance] };
    };
    const ada = await bridge.users.create(
      users,
      person('Ada', { [urns.enterprise]: { costCenter: 'Finance' } }),
    );
    expect((await traveler(ada.id))?.costCenterId).toBe('cc-1');
  }));

test('a value that the travel API spells differently is not sent again, and is no drift', () =>
  withFixture(async ({ bridge, travel, findings, patch }) => {
    const phoneNumbers = [{ value: '+33123456789', type: 'work' }];
    const ada = await bridge.users.create(users, person('Ada', { phoneNumbers }));
    for (const traveler of travel.travelers.values())
      if (traveler.phoneNumber) traveler.phoneNumber = '(33) 123456789';
    const bob = await bridge.users.create(users, person('Bob'));
    const { patch: send } = travel.users;
    travel.users.patch = async (id, body) => {
      const answer = await send(id, body);
      const spelled = answer.kind === 'ok' && { ...answer.value, phoneNumber: '(33) 123456789' };
      if (spelled) travel.travelers.set(id, spelled);
      return spelled ? { kind: 'ok', value: spelled } : answer;
    };
    await patch(bob.id, { phoneNumbers });
    travel.calls.length = 0;
    await patch(bob.id, { nickName: 'B' });
    expect(travel.calls).toEqual([]);
    expect(await findings(bob.id)).toEqual([]);
    expect(ada.travelUserId).toBeDefined();
  }));

test('drift is reported and not corrected, and a later change of the IdP is sent', () =>
  withFixture(async ({ bridge, travel, traveler, findings, importTravelers, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    const now = await traveler(ada.id);
    if (!now) throw new Error('no traveler');
    travel.travelers.set(now.id, { ...now, lastName: 'Byron' });
    await importTravelers();
    expect(await findings(ada.id)).toEqual(['lastName: drift']);
    expect(travel.writes()).toHaveLength(1);
    await patch(ada.id, { name: { givenName: 'Ada', familyName: 'King' } });
    expect((await traveler(ada.id))?.lastName).toBe('King');
    expect(await findings(ada.id)).toEqual([]);
  }));

test('a refused value is remembered, the rest is sent, and it is tried again only with another value', () =>
  withFixture(async ({ bridge, travel, traveler, identity, findings, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    refuseLang(travel, 'fr');
    travel.calls.length = 0;
    await patch(ada.id, { preferredLanguage: 'fr', name: { givenName: 'Ada', familyName: 'King' } });
    expect(travel.calls.map(({ body }) => body)).toEqual([
      { lang: 'fr', lastName: 'King' },
      { lastName: 'King' },
    ]);
    expect(await identity(ada.id)).toMatchObject({ state: 'refused', travelId: ada.travelUserId });
    expect(await findings(ada.id)).toEqual(['lang: refusedByTravelApi']);
    await patch(ada.id, { nickName: 'Countess' });
    await patch(ada.id, {});
    expect(travel.calls).toHaveLength(2);
    await patch(ada.id, { preferredLanguage: 'en' });
    expect((await traveler(ada.id))?.lang).toBe('en');
    expect(await identity(ada.id)).toMatchObject({ state: 'synced', refused: {} });
  }));

test('a refused value is tried again when the lookups change', () =>
  withFixture(async ({ bridge, travel, traveler, identity, patch }) => {
    refuseLang(travel, 'fr');
    const ada = await bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    expect((await identity(ada.id)).state).toBe('refused');
    travel.faultFor = () => undefined;
    await patch(ada.id, { nickName: 'one' });
    expect(await traveler(ada.id)).not.toHaveProperty('lang');
    travel.lookupData = { ...travel.lookupData, costCenters: [finance] };
    await patch(ada.id, { nickName: 'two' });
    expect((await traveler(ada.id))?.lang).toBe('fr');
    expect((await identity(ada.id)).state).toBe('synced');
  }));

test('a change that the travel API refuses because the traveler has changed, as by its own first copy, may have been carried out', () =>
  withFixture(async ({ bridge, travel, traveler, patch, findings, reconcileAfter }) => {
    const ada = await bridge.users.create(users, person('Ada', { title: 'Engineer' }));
    const now = await traveler(ada.id);
    travel.faultFor = ({ verb, body }) => {
      if (verb !== 'patch' || !now) return undefined;
      travel.travelers.set(now.id, { ...now, ...body });
      return { kind: 'unavailable', text: '412', isRejected: true, isDoubtful: true };
    };
    await patch(ada.id, { name: { givenName: 'Augusta', familyName: 'Smith' } });
    expect((await traveler(ada.id))?.firstName).toBe('Augusta');
    travel.faultFor = () => undefined;
    await patch(ada.id, { name: { givenName: 'Ada', familyName: 'Smith' } });
    await reconcileAfter(61_000);
    expect((await traveler(ada.id))?.firstName).toBe('Ada');
    expect(await findings(ada.id)).toEqual([]);
  }));

test('the trace of the last translation is saved with the outcome', () =>
  withFixture(async ({ bridge, identity }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    const { trace } = await identity(ada.id);
    expect(expandTrace(trace).find(({ field }) => field === 'firstName')).toMatchObject({
      outcome: 'set',
      after: 'Ada',
    });
  }));

function refuseLang(travel: Parameters<Parameters<typeof withFixture>[0]>[0]['travel'], lang: string): void {
  const message = 'not spoken here';
  travel.faultFor = ({ body }) =>
    body?.lang === lang ? { kind: 'invalid', fields: [{ field: 'lang', code: 'lang', message }] } : undefined;
}

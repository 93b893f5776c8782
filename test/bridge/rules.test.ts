import { type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';

const users = 'default';
const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };

/** Runs the background until it has followed the rules and worked off what that made due. */
async function followed(house: BridgeHouse): Promise<void> {
  await house.bridge.run().stop();
  await house.bridge.settleDue();
}

test('a changed scimUserMapping collection is followed by everybody whom it concerns', () =>
  inHouse(async (house) => {
    const { bridge, travel } = house;
    travel.known = { ...travel.known, customFields: [project] };
    const ada = await bridge.users.create(users, person('Ada', { title: 'Engines' }));
    const bob = await bridge.users.create(users, person('Bob'));
    travel.calls.length = 0;
    travel.known = {
      ...travel.known,
      scimUserMappings: [{ scimAttribute: 'title', customFieldId: 'cf-1' }],
    };
    await followed(house);
    expect(travel.writes().map(({ id }) => id)).toEqual([ada.travelUserId]);
    expect((await house.traveler(ada.id))?.customFields).toEqual([
      { customFieldId: 'cf-1', values: [{ data: 'Engines' }] },
    ]);
    const versions = [
      (await house.identity(ada.id)).rulesVersion,
      (await house.identity(bob.id)).rulesVersion,
    ];
    expect(new Set(versions).size).toBe(1);
    expect((await bridge.users.read(users, ada.id)).version).toBe(1);
  }));

test('rules that did not change touch nobody', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    const { revision } = await house.identity(ada.id);
    await followed(house);
    expect((await house.identity(ada.id)).revision).toBe(revision);
  }));

test('a cost center that appears is followed by whoever named it', () =>
  inHouse(async (house) => {
    const urn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const ada = await house.bridge.users.create(users, person('Ada', { [urn]: { costCenter: 'Finance' } }));
    expect(await house.findings(ada.id)).toEqual(['costCenterId: costCenterUnknown']);
    house.travel.known = {
      ...house.travel.known,
      costCenters: [{ id: 'cc-1', name: 'Finance', archived: false }],
    };
    await followed(house);
    expect((await house.traveler(ada.id))?.costCenterId).toBe('cc-1');
    expect(await house.findings(ada.id)).toEqual([]);
  }));

test('new writes use the new rules at once', () =>
  inHouse(async (house) => {
    const { travel } = house;
    await house.bridge.users.create(users, person('Ada'));
    travel.known = {
      ...travel.known,
      scimUserMappings: [{ scimAttribute: 'nickName', userAttribute: 'firstName' }],
    };
    const bob = await house.bridge.users.create(users, person('Bob', { nickName: 'Bobby' }));
    expect((await house.traveler(bob.id))?.firstName).toBe('Bobby');
  }));

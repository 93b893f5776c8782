import { type Json, urns } from '../../src/schema/resource.ts';
import { addressOf, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const costCenters = [
  { id: 'c-1', name: 'Sales', archived: false },
  { id: 'c-2', name: 'Research', archived: false },
];
const travelAttributes = (values: { [name: string]: Json }) => ({ [urns.travel]: values });

test.each(['replace', 'patch'] as const)(
  'a new name of a cost center beside the old id counts after a %s, and stays when other attributes change',
  (kind) =>
    withFixture(async (fixture) => {
      const { travel, bridge, traveler, findings, patch, identity } = fixture;
      travel.lookupData.costCenters = costCenters;
      const ada = await bridge.users.create(
        users,
        person('Ada', travelAttributes({ costCenter: { id: 'c-1', name: 'Sales' } })),
      );
      expect((await traveler(ada.id))?.costCenterId).toBe('c-1');
      const changed = travelAttributes({ costCenter: { id: 'c-1', name: 'Research' } });
      await bridge.users.change(users, ada.id, (current) => ({ ...current, ...changed }), kind);
      expect((await traveler(ada.id))?.costCenterId).toBe('c-2');
      expect((await identity(ada.id)).desired).toMatchObject(changed);
      await patch(ada.id, { nickName: 'A' });
      await patch(ada.id, travelAttributes({ costCenter: { name: 'Research', id: 'c-1' } }));
      expect((await traveler(ada.id))?.costCenterId).toBe('c-2');
      expect(await findings(ada.id)).toEqual([]);
      await patch(ada.id, travelAttributes({ costCenter: { id: 'c-1', name: 'Reserch' } }));
      expect(await findings(ada.id)).toEqual(['costCenterId: costCenterUnknown']);
      await patch(ada.id, travelAttributes({ costCenter: { id: 'c-2', name: 'Reserch' } }));
      expect((await traveler(ada.id))?.costCenterId).toBe('c-2');
    }),
);

test('a new email of a manager beside the old id counts', () =>
  withFixture(async ({ bridge, traveler, patch }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const next = await bridge.users.create(users, person('Next'));
    const managed = (id: string, email: string) => travelAttributes({ manager: { id, email } });
    const id = boss.travelUserId ?? '';
    const ada = await bridge.users.create(users, person('Ada', managed(id, addressOf('Boss'))));
    await patch(ada.id, managed(id, addressOf('Next')));
    expect((await traveler(ada.id))?.managerId).toBe(next.travelUserId);
  }));

test('a new URI of a manager beside the old value counts', () =>
  withFixture(async ({ bridge, traveler, patch }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const next = await bridge.users.create(users, person('Next'));
    const managed = (value: string, id: string) => ({
      [urns.enterprise]: { manager: { value, $ref: `../Users/${id}` } },
    });
    const ada = await bridge.users.create(users, person('Ada', managed(boss.id, boss.id)));
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
    await patch(ada.id, managed(boss.id, next.id));
    expect((await traveler(ada.id))?.managerId).toBe(next.travelUserId);
  }));

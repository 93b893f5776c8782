import type { ScimResource } from '../../src/schema/resource.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { noLookups } from '../../src/translator/translation.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const LIMIT = 100;
const mapping = {
  scimUserMapping: [
    { template: 'Gold', when: 'groups[display eq "Travel managers"]', userAttribute: 'travelPolicyId' },
  ],
};

/** The people of a group whose members get a policy, and what becomes of them. */
interface Members {
  fixture: ProvisioningFixture;
  group: string;
  ids: string[];
  change(change: { name?: string; remove?: string[]; add?: string[] }): Promise<void>;
  follow(): Promise<void>;
  held(): Promise<string[]>;
  policies(): Promise<number>;
  decide(ids: string[], answer: 'approved' | 'discarded'): Promise<void>;
}

/** What the limit has left when the people become members. */
type Left = 'all' | 'nothing';

async function withMembers(
  { count, left }: { count: number; left: Left },
  test: (members: Members) => Promise<void>,
  options: NonNullable<Parameters<typeof withFixture>[1]> = {},
): Promise<void> {
  await withFixture(
    async (fixture) => {
      const { bridge, store, clock, travel } = fixture;
      travel.lookupData = { ...noLookups, travelPolicies: [{ id: 'p', name: 'Gold', archived: false }] };
      const limit = { people: LIMIT, windowMs: 3_600_000 };
      for (let index = 0; left === 'nothing' && index < LIMIT; index += 1)
        await store.holds.admitMembershipChange(users, `elsewhere ${index}`, limit, clock.now());
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1)
        ids.push((await bridge.users.create(users, person(`P${index}`))).id);
      const values = (some: string[] = []) => some.map((value) => ({ value }));
      const group = await bridge.groups.create(users, { displayName: 'Travel managers' }, values(ids));
      const follow = async () => {
        while (await store.memberships.markSome(users, clock.now()));
        await bridge.reconcileDue();
      };
      await follow();
      await test({
        ...{ fixture, group: group.id, ids, follow },
        change: async ({ name, remove = [], add = [] }) => {
          const attributes = (current: ScimResource) => ({
            ...current,
            ...(name ? { displayName: name } : {}),
          });
          const members = [
            { kind: 'remove' as const, values: remove },
            { kind: 'add' as const, members: values(add) },
          ];
          await bridge.groups.change(users, group.id, { attributes, members }, false);
          await follow();
        },
        held: async () =>
          (await store.holds.findHeldPeople({ cause: 'groups', limit: 500 })).map(({ id }) => id),
        policies: async () =>
          [...travel.travelers.values()].filter(({ travelPolicyId }) => travelPolicyId === 'p').length,
        decide: async (some, answer) => {
          await saveDecision(store, users, { ids: some }, answer, clock.now(), 'Grace');
          await follow();
        },
      });
    },
    { mapping, ...options },
  );
}

test('first values are not held, however many people get them', () =>
  withMembers({ count: 5, left: 'nothing' }, async ({ policies, held }) => {
    expect(await policies()).toBe(5);
    expect(await held()).toEqual([]);
  }));

test('beyond 100 people within an hour, the loss of a value waits for an admin, and the other attributes follow the IdP', () =>
  withMembers({ count: LIMIT + 3, left: 'all' }, async ({ fixture, change, policies, held, decide }) => {
    await change({ name: 'Travel' });
    expect(await policies()).toBe(3);
    const [first = '', second = '', third = ''] = await held();
    expect(await held()).toHaveLength(3);
    expect(await fixture.identity(first)).toMatchObject({ state: 'held', hold: { cause: 'groups' } });
    expect(await fixture.findings(first)).toEqual(['*: groupsHeld']);
    await fixture.patch(first, { name: { givenName: 'Ada', familyName: 'Lovelace' } });
    expect(await fixture.traveler(first)).toMatchObject({ lastName: 'Lovelace', travelPolicyId: 'p' });
    expect(await held()).toContain(first);

    await decide([second], 'approved');
    expect((await fixture.traveler(second))?.travelPolicyId).toBeUndefined();
    expect(await fixture.identity(second)).toMatchObject({ state: 'synced', hold: undefined });

    await decide([third], 'discarded');
    expect(await fixture.identity(third)).toMatchObject({ state: 'synced', hold: undefined });
    expect(await fixture.findings(third)).toEqual(['*: groupsDiscarded']);
    await fixture.patch(third, { title: 'Engineer' });
    expect((await fixture.traveler(third))?.travelPolicyId).toBe('p');
    expect(await held()).toEqual([first]);
  }));

test('a hold stays when the hour is over, and ends when the group has its name again', () =>
  withMembers({ count: 1, left: 'nothing' }, async ({ fixture, change, follow, policies, held }) => {
    await change({ name: 'Travel' });
    expect(await held()).toHaveLength(1);
    fixture.clock.advance(2 * 3_600_000);
    await follow();
    const [only = ''] = await held();
    await fixture.patch(only, { title: 'Engineer' });
    expect(await policies()).toBe(1);
    await change({ name: 'Travel managers' });
    expect(await held()).toEqual([]);
    expect(await policies()).toBe(1);
  }));

test('a discarded change counts until the groups of the person change again', () =>
  withMembers({ count: 1, left: 'nothing' }, async ({ fixture, group, change, held, decide }) => {
    await change({ name: 'Travel' });
    const [only = ''] = await held();
    await decide([only], 'discarded');
    expect((await fixture.traveler(only))?.travelPolicyId).toBe('p');
    fixture.clock.advance(3_600_000);
    await fixture.bridge.groups.remove(users, group);
    const other = await fixture.bridge.groups.create(users, { displayName: 'Travel managers' }, [
      { value: only },
    ]);
    await fixture.bridge.reconcileDue();
    await fixture.bridge.groups.change(
      users,
      other.id,
      { attributes: (same) => same, members: [{ kind: 'remove', values: [only] }] },
      false,
    );
    await fixture.bridge.reconcileDue();
    expect((await fixture.traveler(only))?.travelPolicyId).toBeUndefined();
  }));

test('an approval does not reach a later change of groups at the same version', () =>
  withMembers({ count: 1, left: 'nothing' }, async ({ fixture, ids, change, held, decide, policies }) => {
    await change({ name: 'Travel' });
    const [only = ''] = await held();
    await decide([only], 'approved');
    expect(await policies()).toBe(0);
    await change({ name: 'Travel managers' });
    expect(await policies()).toBe(1);
    await change({ remove: [only] });
    expect(await held()).toEqual([only]);
    expect(ids).toContain(only);
    expect((await fixture.traveler(only))?.travelPolicyId).toBe('p');
  }));

test('leavers who lose their groups first are archived, and nothing of them stays held', () =>
  withMembers({ count: 1, left: 'nothing' }, async ({ fixture, change, held }) => {
    await change({ name: 'Travel' });
    const [only = ''] = await held();
    await fixture.patch(only, { active: false });
    expect((await fixture.traveler(only))?.archived).toBe(true);
    expect(await held()).toEqual([]);
  }));

test('a change of the rules that name groups is held by itself, and people held for their groups stay so', () =>
  withMembers({ count: LIMIT + 1, left: 'all' }, async ({ fixture, change, held, policies }) => {
    const { bridge, store, clock } = fixture;
    await change({ name: 'Travel' });
    const [version] = await store.rules.listMappings(users, 1);
    const parsed = parseMapping({
      scimUserMapping: [...mapping.scimUserMapping, { scimAttribute: 'title', userAttribute: 'lastName' }],
    });
    if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
    const expected = version?.generation ?? 0;
    await bridge.applyMapping({
      ...{ connection: users, expected, author: 'a', source: 'page' },
      ...parsed,
      now: clock.now(),
    });
    await bridge.startBackground().stop();
    await bridge.reconcileDue();
    expect(await held()).toHaveLength(1);
    expect(await policies()).toBe(1);
  }));

test('a preview of the mapping in force changes nothing for people who are held', () =>
  withMembers({ count: 2, left: 'nothing' }, async ({ fixture, change, held }) => {
    await change({ name: 'Travel' });
    expect(await held()).toHaveLength(2);
    const preview = await fixture.bridge.mappingPreviewer.run(fixture.connection, { examples: 10 });
    expect(preview).toMatchObject({ people: 2, changed: 0, findings: [] });
  }));

test('a person whom the scope leaves out is not held for groups, and stays active if an admin has discarded the archive', () =>
  withMembers(
    { count: 3, left: 'nothing' },
    async ({ fixture, ids, change, held, decide }) => {
      const [first = '', last = ''] = [ids[0], ids.at(-1)];
      for (const id of [first, last]) await fixture.patch(id, { userType: 'Service' });
      expect((await fixture.identity(last)).hold?.cause).toBe('safetyValve');
      await decide([last], 'discarded');
      await change({ name: 'Travel' });
      expect(await held()).toHaveLength(1);
      expect(await fixture.identity(last)).toMatchObject({ state: 'synced', hold: undefined });
      await decide([last], 'discarded');
      expect(await fixture.traveler(last)).toMatchObject({ archived: false, travelPolicyId: 'p' });
      await fixture.patch(last, { userType: 'Employee' });
      expect(await held()).toContain(last);
    },
    {
      mapping: { ...mapping, scope: 'not (userType eq "Service")', outOfScope: 'archive' },
      policies: { safetyValve: { share: 0, minimum: 1, windowMs: 3_600_000 } },
    },
  ));

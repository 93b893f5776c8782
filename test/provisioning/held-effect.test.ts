import type { RulesEffect } from '../../src/provisioning/holds/rules-effect.ts';
import { urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import {
  type ProvisioningFixture,
  person,
  provisioningFixture,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
/** More than a change of rules may affect without a hold. */
const CROWD = 104;

const centers = ['Berlin', 'Paris', 'Rome'].map((name) => ({ id: `cc-${name}`, name, archived: false }));

/** Creates people, and returns their ids: three of four have the cost center Berlin, the others Paris. */
async function addCrowd(fixture: ProvisioningFixture): Promise<string[]> {
  fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers };
  const ids: string[] = [];
  for (let n = 0; n < CROWD; n += 1) {
    const costCenter = n % 4 === 0 ? 'Paris' : 'Berlin';
    const extra = { title: 'Buyer', [urns.enterprise]: { costCenter } };
    ids.push((await fixture.bridge.users.create(users, person(`P${n}`, extra))).id);
  }
  await applyRules(fixture);
  return ids;
}

function withCrowd(test: (fixture: ProvisioningFixture) => Promise<void>): Promise<void> {
  return withFixture(async (fixture) => {
    await addCrowd(fixture);
    await test(fixture);
  });
}

/** Reads and applies the rules and lookups, and reconciles what became due. */
async function applyRules(fixture: ProvisioningFixture): Promise<void> {
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
}

/** Runs the background until the effect of the held change is complete. */
async function describedEffect(fixture: ProvisioningFixture): Promise<RulesEffect> {
  const background = fixture.bridge.startBackground();
  try {
    return await eventually(async () => {
      const effect = (await fixture.store.holds.findHeldRules(users))?.effect;
      if (!effect?.isComplete) throw new Error('the effect is not complete');
      return effect;
    });
  } finally {
    await background.stop();
  }
}

async function loseCenters(fixture: ProvisioningFixture): Promise<void> {
  fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers.slice(2) };
  await applyRules(fixture);
}

/** One after the other: to create the people takes most of the time. */
describe('a held change of lookups', () => {
  let fixture: ProvisioningFixture;
  let ids: string[];
  beforeAll(async () => {
    fixture = await provisioningFixture();
    ids = await addCrowd(fixture);
  });
  afterAll(() => fixture.close());

  test('is counted on after a stop, after the last person, and nobody is looked at twice', async () => {
    const effect = async () => (await fixture.store.holds.findHeldRules(users))?.effect;
    await loseCenters(fixture);
    expect(await effect()).toMatchObject({ isComplete: false, looked: 100, people: 100 });
    await fixture.bridge.startBackground().stop();
    expect(await effect()).toMatchObject({ isComplete: true, looked: CROWD, people: CROWD });
  });

  test('names the lost entries, counts everybody by field and values, and has examples', async () => {
    const effect = await describedEffect(fixture);
    expect(effect).toMatchObject({
      ...{ looked: CROWD, people: CROWD },
      causes: ['cost centers: Berlin, Paris are gone'],
      fields: [
        {
          ...{ field: 'costCenterId', people: CROWD, others: 0 },
          values: [
            { before: 'cc-Berlin', after: null, people: 78 },
            { before: 'cc-Paris', after: null, people: 26 },
          ],
        },
      ],
      names: { 'cc-Berlin': 'Berlin', 'cc-Paris': 'Paris' },
    });
    expect(effect.examples).toHaveLength(10);
    expect(ids).toEqual(expect.arrayContaining(effect.examples.map(({ id }) => id)));
    expect(effect.examples[0]?.changes[0]).toMatchObject({ field: 'costCenterId', after: null });
    expect(await fixture.store.holds.countHolds()).toMatchObject([{ cause: 'rules', count: CROWD }]);
  });

  test('is decided: the effect is deleted, its people are counted, and how many of them are done', async () => {
    const { store, clock, bridge } = fixture;
    const at = clock.now();
    expect(await saveDecision(store, users, { cause: 'rules' }, 'approved', at, 'ada')).toBe(CROWD);
    expect((await store.holds.findHeldRules(users))?.effect).toBeUndefined();
    expect(await store.holds.readProgress(users, at)).toEqual({
      ...{ people: CROWD, left: CROWD, affected: CROWD },
    });
    await bridge.reconcileDue();
    expect(await store.holds.readProgress(users, at)).toMatchObject({ people: CROWD, left: 0 });
  });

  test('that a decision let pass is no cause of the next change', async () => {
    await applyRules(fixture);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers };
    await applyRules(fixture);
    expect((await describedEffect(fixture)).causes).toEqual(['cost centers: Berlin, Paris are new']);
  });
});

test('a held mapping is named by its version and admin, beside lookups that were lost before its decision', () =>
  withCrowd(async (fixture) => {
    const { bridge, clock } = fixture;
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      customFields: [{ id: 'cf', name: 'Job title', dataType: 'text', disabled: false, options: [] }],
    };
    await applyRules(fixture);
    const expected = (await fixture.store.rules.listMappings(users, 1))[0]?.generation ?? 0;
    const mapping = mappingOf({ scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] });
    const change = {
      connection: users,
      mapping,
      expected,
      author: 'ada',
      now: clock.now(),
      source: 'page',
    } as const;
    const applied = await bridge.applyMapping(change);
    await applyRules(fixture);
    await loseCenters(fixture);
    const { causes, fields } = await describedEffect(fixture);
    expect(causes).toEqual([
      `mapping version ${applied.outcome === 'applied' && applied.version} by ada`,
      'cost centers: Berlin, Paris are gone',
    ]);
    expect(fields.map(({ field, people }) => [field, people])).toEqual([
      ['customFields.cf', CROWD],
      ['costCenterId', CROWD],
    ]);
  }));

test('another replica leaves the count to the one that makes progress', () =>
  withCrowd(async (fixture) => {
    await loseCenters(fixture);
    const { generation = 0 } = (await fixture.store.holds.findHeldRules(users)) ?? {};
    const effect = await describedEffect(fixture);
    const running = { ...effect, count: 'other', looked: 7, isComplete: false };
    await fixture.store.holds.saveEffect(users, generation, running, { isFirst: true });
    expect(await fixture.store.holds.saveEffect(users, generation, effect)).toBe(false);
    await fixture.restart();
    await applyRules(fixture);
    expect((await fixture.store.holds.findHeldRules(users))?.effect).toMatchObject({ count: 'other' });
  }));

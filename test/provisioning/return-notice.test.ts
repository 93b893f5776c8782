import { announceReturnPolicy } from '../../src/provisioning/people/return-notice.ts';
import type { Policies } from '../../src/provisioning/policies.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

/** Announces the policy and returns the connections that were named. */
async function announce({ store, connection }: ProvisioningFixture): Promise<string[]> {
  const named: string[] = [];
  const warn = (fields: object) => named.push(JSON.stringify(fields));
  await announceReturnPolicy({ ...store, log: { warn } }, [connection]);
  return named;
}

async function createLeaver(fixture: ProvisioningFixture): Promise<void> {
  const ada = await fixture.bridge.users.create('default', person('Ada'));
  await fixture.patch(ada.id, { active: false });
}

test('the default of onReturn is said once, at the first start with people who have left', () =>
  withFixture(async (fixture) => {
    expect(await announce(fixture)).toEqual([]);
    await createLeaver(fixture);
    expect(await announce(fixture)).toEqual(['{"connection":"default"}']);
    expect(await announce(fixture)).toEqual([]);
  }));

test.each<Policies['onReturn']>(['revive', 'hold'])(
  'nothing is said of a connection with onReturn: %s',
  (onReturn) =>
    withFixture(
      async (fixture) => {
        await createLeaver(fixture);
        expect(await announce(fixture)).toEqual([]);
      },
      { policies: { onReturn } },
    ),
);

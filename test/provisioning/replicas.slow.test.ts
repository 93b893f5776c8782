import { acceptRules } from '../../src/provisioning/rules/proposed-rules.ts';
import type { ProvisioningService } from '../../src/provisioning/service.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

/** More than a page of 500 holds, and several batches of work. */
const PEOPLE = 600;
const MINUTE_MS = 60_000;
const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };
/** Only the second file changes travelers. */
const before: JsonObject = { scimUserMapping: [] };
const after: JsonObject = { scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'cf-1' }] };

/** Starts a replica with a mapping file of its own. */
function replicaWith(fixture: ProvisioningFixture, file: JsonObject): ProvisioningService {
  fixture.connection.mapping = mappingOf(file);
  return fixture.replica();
}

/** Lets each replica in turn read and apply the rules and reconcile what is due, as its loops do within some minutes. */
async function runAll(fixture: ProvisioningFixture, replicas: ProvisioningService[]): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const replica of replicas) {
      await replica.startBackground().stop();
      await replica.reconcileDue();
    }
    fixture.clock.advance(MINUTE_MS);
  }
}

async function createPeople(replicas: ProvisioningService[]): Promise<void> {
  for (let index = 0; index < PEOPLE; index += 1)
    await replicas[index % replicas.length]?.users.create('default', person(`P${index}`, { title: 'Buyer' }));
}

/** The number of writing calls for each traveler that had any. */
function callCounts({ travel }: ProvisioningFixture): number[] {
  const counts = new Map<string, number>();
  for (const { id, body } of travel.writes()) {
    const key = id ?? String(body?.['email']);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts.values()];
}

function withPeople(
  files: JsonObject[],
  test: (fixture: ProvisioningFixture) => Promise<void>,
): Promise<void> {
  return withFixture(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [project] };
    const replicas = files.map((file) => replicaWith(fixture, file));
    await runAll(fixture, replicas);
    await createPeople(replicas);
    await runAll(fixture, replicas);
    await test(fixture);
  });
}

test(
  'three replicas with two mapping files make one call for each of 600 new people',
  () =>
    withPeople([before, after, before], async (fixture) => {
      expect(callCounts(fixture)).toEqual(Array(PEOPLE).fill(1));
    }),
  600_000,
);

test(
  'a replica that starts with another mapping file causes one call for each of 600 people, whatever restarts later',
  () =>
    withPeople([before, before, before], async (fixture) => {
      fixture.travel.calls.length = 0;
      const replicas = [before, after, before].map((file) => replicaWith(fixture, file));
      await runAll(fixture, replicas);
      expect(callCounts(fixture)).toEqual([]);
      const { proposed } = await fixture.store.rules.findProposals('default');
      expect(proposed?.people).toBeGreaterThan(100);
      if (proposed) await acceptRules({ ...fixture.store, runtime: fixture.clock }, 'default', proposed);
      await runAll(fixture, replicas);
      for (const [index, file] of [before, after, before].entries()) {
        replicas[index] = replicaWith(fixture, file);
        await runAll(fixture, replicas);
      }
      expect(callCounts(fixture)).toEqual(Array(PEOPLE).fill(1));
    }),
  600_000,
);

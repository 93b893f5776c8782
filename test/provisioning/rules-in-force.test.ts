import type { Connection } from '../../src/model/connection.ts';
import type { Lookups } from '../../src/model/translation.ts';
import type { TravelLookups } from '../../src/model/travel-ports.ts';
import { applyMapping } from '../../src/provisioning/mapping-changes/apply-mapping.ts';
import { findVersion, listVersions } from '../../src/provisioning/rules/mapping-versions.ts';
import type { RulesSnapshot } from '../../src/provisioning/rules/rules-snapshot.ts';
import { type RulesSnapshots, rulesSnapshots } from '../../src/provisioning/rules/rules-snapshots.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const MINUTE_MS = 60_000;
const fileX = { scimUserMapping: [{ scimAttribute: 'nickName', userAttribute: 'firstName' }] };
const fileY = { scimUserMapping: [{ scimAttribute: 'title', userAttribute: 'firstName' }] };
const fileZ = { scimUserMapping: [{ scimAttribute: 'userType', userAttribute: 'firstName' }] };

/** One replica: its own mapping file, its own cache of the lookups, and the rules in force that all replicas share. */
interface Replica extends RulesSnapshots {
  connection: Connection;
  warnings: string[];
}

function replicaOf(
  fixture: ProvisioningFixture,
  file: JsonObject | undefined,
  lookups?: Partial<TravelLookups>,
): Replica {
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
  const connection = {
    ...fixture.connection,
    mapping: file && mappingOf(file),
    lookups: { ...cachedLookups(fixture), ...lookups },
  };
  const runtime = { now: fixture.clock.now, log };
  return {
    ...rulesSnapshots({ rules: fixture.store.rules, runtime, configuredMappingOf: () => connection }),
    connection,
    warnings,
  };
}

/** Reads the lookups of the travel API only on demand, as the adapter does within a minute. */
function cachedLookups({ travel, connection }: ProvisioningFixture): TravelLookups {
  let cached: Lookups | undefined;
  const read = async () => {
    cached = travel.lookupData;
    return { kind: 'ok', value: cached } as const;
  };
  return {
    ...connection.lookups,
    current: async () => (cached ? { kind: 'ok', value: cached } : read()),
    refresh: read,
    adopt: (lookups, isRecent) => {
      if (isRecent) cached = lookups;
    },
  };
}

async function snapshotOf(read: Promise<RulesSnapshot | { kind: string }>): Promise<RulesSnapshot> {
  const snapshot = await read;
  if ('kind' in snapshot) throw new Error(snapshot.kind);
  return snapshot;
}

/** Reads the rules again, as every replica does each minute, and returns the generation and the mapped attribute. */
async function refresh(replica: Replica): Promise<string> {
  const { generation, rules } = await snapshotOf(replica.refresh(replica.connection));
  return `${generation} ${rules.mapping.scimUserMapping.map(({ scimAttribute }) => scimAttribute).join()}`;
}

/** Puts a mapping in force as a command does, and returns its generation. */
async function applyByCommand(
  { store, clock: runtime, connection }: ProvisioningFixture,
  file: JsonObject,
): Promise<number> {
  const expected = (await findVersion(store.rules, 'default'))?.generation ?? 0;
  const mapping = mappingOf(file);
  const change = { mapping, expected, author: 'ada', source: 'command' } as const;
  const result = await applyMapping({ ...store, runtime }, connection, { change });
  if (result.outcome !== 'applied') throw new Error(result.outcome);
  return result.generation;
}

function addCostCenter({ travel }: ProvisioningFixture, name: string): void {
  const costCenters = [...travel.lookupData.costCenters, { id: name, name, archived: false }];
  travel.lookupData = { ...travel.lookupData, costCenters };
}

const costCentersOf = ({ lookups }: RulesSnapshot) => lookups.costCenters.map(({ name }) => name);

describe('the mapping file of a replica', () => {
  test('comes into force if its content is new, and the others follow', () =>
    withFixture(async (fixture) => {
      const [one, other] = [replicaOf(fixture, fileX), replicaOf(fixture, fileY)];
      expect(await refresh(one)).toBe('2 nickName');
      expect(await refresh(other)).toBe('3 title');
      expect([await refresh(one), await refresh(other)]).toEqual(['3 title', '3 title']);
      expect([one.warnings, other.warnings]).toEqual([
        ['the mapping file was in force before and has been replaced since; using the mapping in force'],
        [],
      ]);
    }));

  test('is in the history with its path, also after it was read again', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, fileX);
      const connection = Object.assign(replica.connection, { mappingFile: 'config/okta.json' });
      await replica.refresh(connection);
      expect(await replica.applyFile(connection, mappingOf(fileY))).toEqual({
        outcome: 'applied',
        version: 2,
      });
      addCostCenter(fixture, 'R&D');
      await replica.refresh(connection);
      // The list has raised the generation of the rules, and not the number of the mapping.
      expect(await replica.applyFile(connection, mappingOf(fileY))).toEqual({
        outcome: 'unchanged',
        version: 2,
      });
      const versions = await listVersions(fixture.store.rules, 'default');
      expect(versions.map(({ generation, source, author }) => [generation, source, author])).toEqual([
        [3, 'file', 'config/okta.json'],
        [1, 'file', 'config/okta.json'],
      ]);
    }));

  test('is ignored at any restart of a replica with an earlier file, while a replica has the one in force', () =>
    withFixture(async (fixture) => {
      await refresh(replicaOf(fixture, fileX));
      const newer = replicaOf(fixture, fileY);
      await refresh(newer);
      for (let restarts = 0; restarts < 12; restarts += 1) {
        fixture.clock.advance(MINUTE_MS);
        expect(await refresh(newer)).toBe('3 title');
        expect(await refresh(replicaOf(fixture, fileX))).toBe('3 title');
      }
    }));

  test('comes into force again when no replica has had the file of the mapping in force for five minutes', () =>
    withFixture(async (fixture) => {
      await refresh(replicaOf(fixture, fileX));
      await refresh(replicaOf(fixture, fileY));
      fixture.clock.advance(5 * MINUTE_MS - 1);
      const restored = replicaOf(fixture, fileX);
      expect(await refresh(restored)).toBe('3 title');
      fixture.clock.advance(1);
      expect(await refresh(restored)).toBe('4 nickName');
      expect(await refresh(replicaOf(fixture, fileY))).toBe('4 nickName');
    }));

  test('does not replace what a command has put in force, unless its content is new', () =>
    withFixture(async (fixture) => {
      const { rules } = fixture.store;
      await refresh(replicaOf(fixture, fileX));
      const inForce = await rules.find('default');
      if (!inForce) throw new Error('no rules are in force');
      const applied = { ...inForce, generation: 3, digest: 'y', mapping: fileY, source: 'command' } as const;
      await rules.replace('default', applied, fixture.clock.now());
      await rules.forgetFiles();
      expect(await refresh(replicaOf(fixture, fileX))).toBe('3 title');
      expect(await refresh(replicaOf(fixture, fileZ))).toBe('4 userType');
    }));

  test('is not used by a replica while rules of another version of Jetbridge are in force', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, fileX);
      await refresh(replica);
      const inForce = await fixture.store.rules.find('default');
      if (!inForce) throw new Error('no rules are in force');
      const newer = { ...inForce, generation: 3, digest: 'newer', edition: inForce.edition + 1 };
      await fixture.store.rules.replace('default', newer, fixture.clock.now());
      expect(await replica.current(replica.connection, 3)).toEqual({
        kind: 'unavailable',
        text: 'the rules in force belong to another version of Jetbridge',
      });
    }));
});

describe('a mapping file that is read again', () => {
  test('comes into force if it has changed, also to an earlier content, and stays', () =>
    withFixture(async (fixture) => {
      await refresh(replicaOf(fixture, fileY));
      const replica = replicaOf(fixture, fileX);
      expect(await refresh(replica)).toBe('3 nickName');
      const reread = (file: JsonObject) => replica.applyFile(replica.connection, mappingOf(file));
      expect(await reread(fileX)).toEqual({ outcome: 'unchanged', version: 2 });
      expect(await reread(fileY)).toEqual({ outcome: 'applied', version: 3 });
      fixture.clock.advance(6 * MINUTE_MS);
      expect(await refresh(replica)).toBe('4 title');
    }));

  test('does not replace the mapping of a command if it has not changed', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, fileX);
      await refresh(replica);
      await applyByCommand(fixture, fileY);
      const reread = (file: JsonObject) => replica.applyFile(replica.connection, mappingOf(file));
      expect(await reread(fileX)).toEqual({ outcome: 'replaced', version: 2 });
      expect(await refresh(replica)).toBe('3 title');
      expect(await reread(fileZ)).toEqual({ outcome: 'applied', version: 3 });
    }));
});

describe('a replica without a mapping file', () => {
  test('starts with the default rules, and never replaces a mapping', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, undefined);
      expect(await refresh(replica)).toBe('2 ');
      expect(await fixture.store.rules.find('default')).toMatchObject({ source: 'default' });
      await applyByCommand(fixture, fileX);
      expect([await refresh(replica), await refresh(replicaOf(fixture, undefined))]).toEqual([
        '3 nickName',
        '3 nickName',
      ]);
    }));

  test.each([
    ['without a file', undefined],
    ['with an earlier file', fileY],
  ])('stores what a command applied again for a later edition of the code, as one %s', (_title, file) =>
    withFixture(async (fixture) => {
      const { rules } = fixture.store;
      await refresh(replicaOf(fixture, fileY));
      await applyByCommand(fixture, fileX);
      const inForce = await rules.find('default');
      if (!inForce) throw new Error('no rules are in force');
      const earlier = { edition: inForce.edition - 1, digest: 'earlier', generation: 4 };
      await rules.replace('default', { ...inForce, ...earlier }, fixture.clock.now());
      expect(await refresh(replicaOf(fixture, file))).toBe('5 nickName');
      expect(await rules.find('default')).toMatchObject({ source: 'command' });
    }),
  );

  test('uses a mapping of a later edition after five minutes in which no replica has used it', () =>
    withFixture(async (fixture) => {
      const { rules } = fixture.store;
      await refresh(replicaOf(fixture, fileX));
      const inForce = await rules.find('default');
      if (!inForce) throw new Error('no rules are in force');
      const later = { edition: inForce.edition + 1, digest: 'later', generation: 3 };
      await rules.replace('default', { ...inForce, ...later }, fixture.clock.now());
      const replica = replicaOf(fixture, undefined);
      fixture.clock.advance(5 * MINUTE_MS - 1);
      expect(await replica.refresh(replica.connection)).toMatchObject({ kind: 'unavailable' });
      fixture.clock.advance(1);
      expect(await refresh(replica)).toBe('4 nickName');
    }));
});

describe('the lookups in force', () => {
  test('are those that any replica has read, and a replica that is behind loads them', () =>
    withFixture(async (fixture) => {
      const [one, other] = [replicaOf(fixture, fileX), replicaOf(fixture, fileX)];
      await refresh(one);
      await refresh(other);
      addCostCenter(fixture, 'Finance');
      expect(await refresh(one)).toBe('3 nickName');
      expect(costCentersOf(await snapshotOf(other.current(other.connection, 2)))).toEqual([]);
      expect(costCentersOf(await snapshotOf(other.current(other.connection, 3)))).toEqual(['Finance']);
      expect(await refresh(other)).toBe('3 nickName');
    }));

  test('may go back to an earlier state, as the travel service may', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, fileX);
      const { lookupData } = fixture.travel;
      await refresh(replica);
      addCostCenter(fixture, 'Finance');
      expect(await refresh(replica)).toBe('3 nickName');
      fixture.travel.lookupData = lookupData;
      expect(await refresh(replica)).toBe('4 nickName');
      expect(await refresh(replica)).toBe('4 nickName');
    }));

  test('are not replaced by a reading that began before another replica changed them', () =>
    withFixture(async (fixture) => {
      let arrive = () => {};
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      const slow = replicaOf(fixture, fileX);
      await refresh(slow);
      addCostCenter(fixture, 'Legal');
      const outdated = fixture.travel.lookupData;
      slow.connection.lookups.refresh = async () => {
        await arrived;
        return { kind: 'ok', value: outdated };
      };
      const reading = slow.refresh(slow.connection);
      addCostCenter(fixture, 'Finance');
      const quick = replicaOf(fixture, fileX);
      expect(await refresh(quick)).toBe('3 nickName');
      arrive();
      expect(costCentersOf(await snapshotOf(reading))).toEqual(['Finance', 'Legal']);
      expect(await refresh(quick)).toBe('3 nickName');
    }));

  test('are those of the last reading, also if a mapping has come into force while they were read', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, undefined);
      await refresh(replica);
      const { lookups } = replica.connection;
      lookups.current = async () => {
        addCostCenter(fixture, 'Finance');
        const answer = await lookups.refresh();
        lookups.current = async () => answer;
        await applyByCommand(fixture, fileX);
        await replica.groupRules(replica.connection, 3);
        return answer;
      };
      const snapshot = await snapshotOf(replica.current(replica.connection));
      expect([snapshot.generation, costCentersOf(snapshot)]).toEqual([4, ['Finance']]);
    }));

  test('are those in force at this moment on the page, also after a command of another replica', () =>
    withFixture(async (fixture) => {
      const replica = replicaOf(fixture, undefined);
      await refresh(replica);
      await applyByCommand(fixture, fileX);
      expect(await snapshotOf(replica.current(replica.connection))).toMatchObject({ generation: 2 });
      expect(await snapshotOf(replica.inForce(replica.connection))).toMatchObject({ generation: 3 });
    }));

  test('serve a replica that has just started and cannot read them', () =>
    withFixture(async (fixture) => {
      addCostCenter(fixture, 'Finance');
      await refresh(replicaOf(fixture, fileX));
      const failure = async () => ({ kind: 'unavailable', text: 'down' }) as const;
      const started = replicaOf(fixture, fileX, { current: failure, refresh: failure });
      expect(costCentersOf(await snapshotOf(started.current(started.connection)))).toEqual(['Finance']);
      expect(await refresh(started)).toBe('2 nickName');
    }));
});

describe('a mapping that a command puts in force', () => {
  test.each([
    ['that has read the one before', ({ bridge }: ProvisioningFixture) => bridge],
    ['that has just started', ({ replica }: ProvisioningFixture) => replica()],
  ])('decides at once, in a process %s, whether a new user gets the traveler of a leaver', (_, processOf) =>
    withFixture(async (fixture) => {
      const leaver = await fixture.bridge.users.create('default', person('Ada', { externalId: 'emp-7' }));
      await fixture.bridge.users.remove('default', leaver.id);
      const before = await fixture.traveler(leaver.id);
      await applyByCommand(fixture, { scope: 'userType eq "Employee"', scimUserMapping: [] });
      const { users } = processOf(fixture);
      const { id } = await users.create('default', person('Ada', { externalId: 'emp-7' }));
      expect(await fixture.identity(id)).toMatchObject({ state: 'synced', travelId: undefined });
      expect(await fixture.traveler(leaver.id)).toEqual(before);
    }),
  );
});

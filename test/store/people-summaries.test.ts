import { findings } from '../../src/model/findings.ts';
import { peopleSummaries } from '../../src/store/identities/people-summaries.ts';
import { fixture, importedIdentity, linkedOutcome, NOW, person } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-summaries-');

/** A store with people, and what is counted of those of the first connection. */
async function counted() {
  const store = await fixture(() => databases.open());
  const summary = async () => {
    const all = await peopleSummaries(store.database).read();
    const found = all.find(({ connection }) => connection === 'okta');
    if (!found) throw new Error('there are no counts');
    return { ...found, findings: Object.fromEntries([...found.findings].sort()) };
  };
  return { ...store, summary };
}

test('people are counted once by each kind of their findings, deleted ones only while work remains', async () => {
  const { add, summary } = await counted();
  const [noEmail, privileged] = [findings.noEmail(), findings.privileged()];
  await add(
    person('a', { findings: [noEmail, privileged, { ...noEmail, field: 'phone' }] }),
    person('b', { state: 'pending', findings: [noEmail] }),
    person('c', { state: 'synced' }),
    person('d', { state: 'synced', deletedAt: NOW, findings: [noEmail] }),
    person('e', { state: 'held', deletedAt: NOW, findings: [privileged] }),
    person('f', { connection: 'entra', findings: [noEmail] }),
  );
  expect(await summary()).toMatchObject({
    states: { synced: 1, dirty: 1, pending: 1, refused: 0, held: 1 },
    ...{ findings: { [noEmail.code]: 2, [privileged.code]: 2 }, areFindingsCut: false },
  });
});

test('people whom an admin keeps active are counted, deleted ones included, and are found by their finding', async () => {
  const { add, people, summary } = await counted();
  const kept = {
    state: 'synced',
    decision: { cause: 'safetyValve', answer: 'discarded', version: 1 },
    findings: [findings.noEmail(), findings.keptActive()],
  } as const;
  await add(
    person('a', { ...kept, findings: [...kept.findings] }),
    person('b', { ...kept, findings: [...kept.findings], deletedAt: NOW }),
    person('c', { ...kept, findings: [] }),
    person('d', { state: 'synced', deletedAt: NOW }),
  );
  expect(await summary()).toMatchObject({ keptActive: 2, states: { synced: 2, held: 0 } });
  const found = await people.findPage('okta', { finding: 'keptActive' }, undefined);
  expect(found.people.map(({ id }) => id)).toEqual(['a', 'b']);
});

test('the oldest change waits since it was written if its attempts fail, else since it is due', async () => {
  const { add, summary } = await counted();
  await add(person('a', { state: 'synced', lastModified: NOW - 9_000 }));
  expect(await summary()).toMatchObject({ waitingSince: undefined });
  await add(person('b', { state: 'dirty', nextAttemptAt: NOW - 3_000, lastModified: NOW - 8_000 }));
  expect(await summary()).toMatchObject({ waitingSince: NOW - 3_000, failing: undefined });
  await add(person('c', { state: 'dirty', attempts: 2, nextAttemptAt: NOW + 99, lastModified: NOW - 5_000 }));
  expect(await summary()).toMatchObject({ waitingSince: NOW - 5_000, failing: { people: 1 } });
});

test('each outcome changes what is counted', async () => {
  const { add, leases, read, summary } = await counted();
  await add(importedIdentity('a', 't1'));
  const finish = async (told: ReturnType<typeof findings.noEmail>[], address: string) => {
    await leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW });
    const before = await read('a');
    await leases.finish('okta', 'a', 'k', before, linkedOutcome('t1', address, { findings: told }));
    return (await summary()).findings;
  };
  // The first outcome changes the address that the traveler is found by; the others change no such column.
  expect(await finish([findings.noEmail()], 'new@x')).toEqual({ noEmail: 1 });
  expect(await finish([findings.privileged()], 'new@x')).toEqual({ [findings.privileged().code]: 1 });
  expect(await finish([], 'new@x')).toEqual({});
});

import { findings } from '../../src/model/findings.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { unconfirmedPeople } from '../../src/store/identities/unconfirmed-people.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { clock } from '../fixtures/clock.ts';
import { person } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-unconfirmed-');

test('people are counted by connection and cause, at most every ten seconds', async () => {
  const database = await databases.open();
  const time = clock();
  const count = unconfirmedPeople(database, time.now);
  const { identities } = provisioningStore(database);
  const insert = (connection: string, id: string, found: (typeof findings.unclearAnswer)[] = []) =>
    identities.commit(connection, [
      {
        kind: 'insert',
        identity: person(id, { connection, findings: found.map((finding) => finding(404)) }),
      },
    ]);
  for (const id of ['default', 'second']) await ensureConnection(database, { id, account: 'travel' });
  await insert('default', 'ada', [findings.unclearAnswer]);
  await insert('default', 'bob', [findings.noEmail, findings.unclearAnswer]);
  await insert('default', 'cleo', [findings.noEmail]);
  await insert('second', 'dora', [findings.unclearAnswer]);
  const expected = [
    { connection: 'default', cause: 'unclearAnswer', count: 2, since: time.now() },
    { connection: 'second', cause: 'unclearAnswer', count: 1, since: time.now() },
  ];
  expect(await count()).toEqual(expected);
  await insert('second', 'eve', [findings.unclearAnswer]);
  expect(await count()).toEqual(expected);
  time.advance(10_000);
  expect((await count()).map((one) => one.count)).toEqual([2, 2]);
});

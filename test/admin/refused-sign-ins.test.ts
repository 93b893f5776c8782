import { recordRefusedSignIns, type SignInBurst } from '../../src/admin/sign-in/refused-sign-ins.ts';
import { auditLog } from '../../src/store/credentials/audit-log.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-refused-');

/** A record of refused sign-ins, with its audit log and the bursts that it reports. */
async function open() {
  const audit = auditLog(await databases.open());
  const time = clock();
  const bursts: SignInBurst[] = [];
  const log = { warn: () => {}, error: () => {} };
  const refused = recordRefusedSignIns({ audit, clock: time, log, onRefusal: () => {} });
  refused.onBurst((burst) => bursts.push(burst));
  const entries = () => audit.list({ limit: 1_000 });
  return { refused, time, bursts, entries };
}

const attempt = { action: 'signIn', status: 401 };

test('a flood from many addresses is one entry for each of two hundred networks, and one for the others', async () => {
  const { refused, entries } = await open();
  for (let number = 0; number < 2_000; number += 1) {
    const network = (number % 500).toString(16);
    await refused.record({
      ...attempt,
      address: `2001:db8:0:${network}::${number.toString(16)}`,
      account: 'admin',
    });
  }
  await refused.close();
  const [others, ...own] = await entries();
  expect(own).toHaveLength(200);
  expect(new Set(own.map(({ details }) => details['attempts']))).toEqual(new Set([4]));
  expect(others).toMatchObject({
    ...{ actor: 'admin', address: '', status: 401 },
    details: { attempts: 1_200, otherAddresses: true },
  });
});

test('an entry names the accounts that were tried, also those after the first attempt', async () => {
  const { refused, entries } = await open();
  for (const account of [undefined, 'ada', 'bob', 'ada'])
    await refused.record({ ...attempt, address: '10.0.0.1', account });
  await refused.close();
  expect(await entries()).toMatchObject([
    { actor: 'ada', details: { attempts: 4, accounts: ['ada', 'bob'] } },
  ]);
});

test('fifty refusals within ten minutes are a burst, which is reported once an hour', async () => {
  const { refused, time, bursts } = await open();
  const passMinutes = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      time.advance(60_000);
      await new Promise(setImmediate);
    }
  };
  for (let round = 0; round < 3; round += 1) {
    for (let number = 0; number < 20; number += 1) refused.count('signIn');
    await passMinutes(6);
  }
  expect(bursts).toEqual([]);
  for (let number = 0; number < 60; number += 1) refused.count('signIn');
  expect(bursts).toEqual([{ at: time.now(), attempts: 50 }]);
  expect(refused.lastBurst()).toEqual(bursts[0]);
  await passMinutes(59);
  for (let number = 0; number < 60; number += 1) refused.count('signIn');
  expect(bursts).toHaveLength(1);
  await passMinutes(1);
  refused.count('signIn');
  await eventually(async () => expect(bursts).toHaveLength(2));
  await refused.close();
});

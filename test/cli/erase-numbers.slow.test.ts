import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import {
  ErasureFixture,
  enterprise,
  SCIM_TOKEN,
  scimUser,
  waitUntilReconciled,
} from '../fixtures/erasure.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { scimClient } from '../fixtures/scim-client.ts';

let fixture: ErasureFixture;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  fixture = await ErasureFixture.open();
});
afterEach(async () => {
  await fixture.close();
  folder.remove();
});

test.each([
  ['employeeNumber', 'ZQ-4711'],
  [`${enterprise}:division`, 'zqdivision 4711'],
])('a manager who is named by %s is named by nobody after an erasure', async (by, value) => {
  const mapping = join(folder.path, 'mapping.json');
  writeFileSync(mapping, JSON.stringify({ manager: { by } }));
  fixture.connect({ default: { mapping } });
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const own = { employeeNumber: 'ZQ-4711', division: 'zqdivision 4711' };
  const boss = (await scim.send('POST', '/Users', scimUser('zqboss', { [enterprise]: own }))).body.id;
  const managed = { [enterprise]: { manager: { value } } };
  const bob = (await scim.send('POST', '/Users', scimUser('bob', managed))).body.id;
  await waitUntilReconciled(running);
  expect((await scim.send('DELETE', `/Users/${boss}`)).status).toBe(204);
  await waitUntilReconciled(running);
  const { end, err } = await fixture.erase(boss);
  expect([end, err]).toEqual([0, '']);
  await waitUntilReconciled(running);
  expect((await scim.send('GET', `/Users/${bob}`)).body[enterprise]).toBeUndefined();
  await fixture.stop();
  expect(await textsInDatabase(running.data, new RegExp(`zqboss|zqdivision|zq-4711|${boss}`))).toEqual([]);
});

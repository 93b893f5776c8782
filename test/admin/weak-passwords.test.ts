import { adminPasswordWeakness } from '../../src/admin/first-admin.ts';

const SEQUENCES = 'consists of repeats and sequences mostly';
const NAMES = 'consists of the name of the product or of the account, with digits';

test.each([
  ['aaabbbcccdddeeefff', SEQUENCES],
  ['abcdefghijkl', SEQUENCES],
  ['12345678abcdefgh', SEQUENCES],
  ['qwertyuiop123!', SEQUENCES],
  ['987654321fedcba', SEQUENCES],
  ['azertyuiop111222', SEQUENCES],
  ['jetbridge2026', NAMES],
  ['Jetbridge-12345!', NAMES],
  ['admin@jetbridge1', NAMES],
  ['Administrator2026', NAMES],
  ['jetbridgescim2027', NAMES],
  ['correct-horse-battery', undefined],
  ['jetbridge of a wooden kind', undefined],
  ['q7#Lw9!zRt2x', undefined],
  ['a1b2c3-Qx9-kettle', undefined],
])('the weakness of ADMIN_PASSWORD=%s', async (adminPassword, weakness) => {
  expect(await adminPasswordWeakness({ adminPassword })).toBe(weakness);
});

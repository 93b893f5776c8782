import { hashPassword, newPassword, verifyPassword } from '../../src/admin/sign-in/passwords.ts';

test('a password is stored as a hash of scrypt with 16 random bytes of salt', async () => {
  const [one, other] = [await hashPassword('one password'), await hashPassword('one password')];
  const [kind, N, r, p, salt = '', key = ''] = one.split('$');
  expect([kind, N, r, p]).toEqual(['scrypt', '16384', '8', '5']);
  expect([Buffer.from(salt, 'base64url').length, Buffer.from(key, 'base64url').length]).toEqual([16, 32]);
  expect(other).not.toBe(one);
});

test('a hash with the costs of another version is still verified', async () => {
  const hash = 'scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$iHP_kcmgia7hN4lW6OZCEH_InMUScw6YrCJZmu6j-oU';
  expect(await verifyPassword('a password of long ago', hash)).toBe(true);
  expect(await verifyPassword('another password', hash)).toBe(false);
});

test('a password may have any characters, and no end of it is ignored', async () => {
  const password = `ねこ 🔑 O'Hara  ${'x'.repeat(60)}`;
  const hash = await hashPassword(password);
  expect(await verifyPassword(password, hash)).toBe(true);
  for (const other of [`${password}x`, password.slice(0, -1), password.replace('  ', ' ')])
    expect(await verifyPassword(other, hash)).toBe(false);
});

test('two ways to type one letter are one password', async () => {
  const hash = await hashPassword('caf\u00e9 au lait 12');
  expect(await verifyPassword('cafe\u0301 au lait 12', hash)).toBe(true);
});

test('a made password has 20 random characters that can be read aloud', () => {
  const made = Array.from({ length: 200 }, newPassword);
  expect(new Set(made).size).toBe(200);
  for (const password of made) expect(password).toMatch(/^[a-hj-km-np-z2-9]{5}(-[a-hj-km-np-z2-9]{5}){3}$/);
});

import { ensureConnection } from '../../../src/store/connections.ts';
import { scimTokens } from '../../../src/store/credentials/credentials.ts';
import { fixture, NOW, type OpenDatabase, person } from '../../fixtures/store.ts';

/** Conformance tests of connections and SCIM tokens, for any database. */
export function describeTokens(open: OpenDatabase): void {
  const token = {
    id: '1',
    hash: 'h1',
    name: 'Okta',
    connection: 'okta',
    createdAt: NOW,
    expiresAt: undefined,
  };

  describe('a token', () => {
    it('is valid for its connection, and no other hash is', async () => {
      const store = scimTokens((await fixture(open)).database);
      await store.create(token);
      expect(await store.findActive('h1', NOW)).toEqual({ id: '1', connection: 'okta' });
      expect(await store.findActive('h2', NOW)).toBeUndefined();
      expect(await store.findActive('', NOW)).toBeUndefined();
    });

    it('is invalid from the moment it expires', async () => {
      const store = scimTokens((await fixture(open)).database);
      await store.create({ ...token, expiresAt: NOW + 5 });
      expect(await store.findActive('h1', NOW + 4)).toEqual({ id: '1', connection: 'okta' });
      expect(await store.findActive('h1', NOW + 5)).toBeUndefined();
    });

    it('is invalid once it is revoked, and is never revived', async () => {
      const store = scimTokens((await fixture(open)).database);
      await store.create(token);
      await store.create({ ...token, id: '2', hash: 'h2' });
      expect(await store.revoke('1', NOW)).toBe(true);
      expect(await store.revoke('1', NOW)).toBe(false);
      expect(await store.revoke('x', NOW)).toBe(false);
      await store.create({ ...token, id: '3' });
      expect(await store.findActive('h1', NOW)).toBeUndefined();
      expect(await store.findActive('h2', NOW)).toEqual({ id: '2', connection: 'okta' });
    });

    it('is listed without its hash', async () => {
      const store = scimTokens((await fixture(open)).database);
      await store.create({
        ...token,
        id: '2',
        hash: 'h2',
        createdAt: NOW + 1,
        connection: 'entra',
        expiresAt: NOW + 9,
      });
      await store.create(token);
      await store.revoke('1', NOW + 3);
      const { hash: _, ...shown } = token;
      expect(await store.list()).toEqual([
        { ...shown, lastUsedAt: undefined, revokedAt: NOW + 3 },
        {
          ...shown,
          lastUsedAt: undefined,
          id: '2',
          createdAt: NOW + 1,
          connection: 'entra',
          expiresAt: NOW + 9,
          revokedAt: undefined,
        },
      ]);
    });
  });

  it('the latest use of each token is listed, whichever replica recorded it last', async () => {
    const store = scimTokens((await fixture(open)).database);
    for (const id of ['1', '2', '3']) await store.create({ ...token, id, hash: `h${id}` });
    await store.recordUse('3', NOW + 9);
    await store.recordUse('1', NOW + 1);
    await store.recordUse('of a deleted connection', NOW);
    await store.recordUse('3', NOW + 8);
    await store.recordUse('1', NOW + 2);
    const uses = (await store.list()).map(({ id, lastUsedAt }) => [id, lastUsedAt]);
    expect(uses).toEqual([
      ['1', NOW + 2],
      ['2', undefined],
      ['3', NOW + 9],
    ]);
  });

  describe('a connection', () => {
    it('can be created any number of times', async () => {
      const { add, database, identities } = await fixture(open);
      await add(person('a'));
      await ensureConnection(database, { id: 'okta', account: 'acme' });
      expect((await identities.findPage('okta', 0, 10)).total).toBe(1);
    });

    it('moves its identities to another travel account', async () => {
      const { add, database, identities } = await fixture(open);
      await add(person('a', { travelId: 't1' }));
      await ensureConnection(database, { id: 'okta', account: 'initech' });
      expect(await identities.findHolder('acme', { travelId: 't1' })).toBeUndefined();
      expect((await identities.findHolder('initech', { travelId: 't1' }))?.id).toBe('a');
    });
  });
}

import type { OAuthClients } from '../../../src/oauth/clients.ts';
import {
  apiKeys,
  oauthAccessTokens,
  oauthClients,
  usedAssertions,
} from '../../../src/store/credentials/credentials.ts';
import { travelStore } from '../../../src/store/travel/travel-writes.ts';
import { fixture, NOW, type OpenDatabase } from '../../fixtures/store.ts';

/** Conformance tests of API keys and OAuth tables, for any database. */
export function describeCredentials(open: OpenDatabase): void {
  /** A store with the users u and v and the connection okta. */
  const credentialFixture = async () => {
    const { database } = await fixture(open);
    const store = travelStore(database);
    const keys = { archived: false, unique: [], index: [], references: [] };
    const user = (id: string) => ({ type: 'user', id, parentId: '', createdAt: NOW, doc: {} });
    for (const id of ['u', 'v']) {
      await store.write(['user'], (within) => within.insert(user(id), keys));
    }
    return {
      keys: apiKeys(database),
      clients: oauthClients(database),
      tokens: oauthAccessTokens(database),
      assertions: usedAssertions(database),
      deleteUser: (id: string) => store.write(['user'], (within) => within.remove(user(id), keys)),
    };
  };

  describe('an API key', () => {
    const key = { id: '1', hash: 'h1', name: 'first', userId: 'u', createdAt: NOW };

    it('belongs to its user for good', async () => {
      const { keys } = await credentialFixture();
      await keys.add(key);
      await keys.add({ ...key, id: '2', userId: 'v' });
      expect(await keys.findActive('h1')).toEqual({ id: '1', userId: 'u', lastUsedAt: undefined });
      expect(await keys.findActive('h2')).toBeUndefined();
      expect([await keys.hasAny('u'), await keys.hasAny('v')]).toEqual([true, false]);
    });

    it('needs a user, and is deleted with the user', async () => {
      const { keys, deleteUser } = await credentialFixture();
      await expect(keys.add({ ...key, userId: 'nobody' })).rejects.toThrow();
      await keys.add(key);
      await deleteUser('u');
      expect(await keys.findActive('h1')).toBeUndefined();
      expect(await keys.list()).toEqual([]);
    });

    it('is invalid once it is revoked, and is never revived', async () => {
      const { keys } = await credentialFixture();
      await keys.add(key);
      expect(await keys.revoke('1', NOW + 1)).toBe(true);
      expect(await keys.revoke('1', NOW + 2)).toBe(false);
      expect(await keys.revoke('x', NOW)).toBe(false);
      await keys.add({ ...key, id: '2' });
      expect(await keys.findActive('h1')).toBeUndefined();
      expect(await keys.hasAny('u')).toBe(true);
    });

    it('is listed without its hash, with the time of its last use', async () => {
      const { keys } = await credentialFixture();
      await keys.add({ ...key, id: '2', hash: 'h2', createdAt: NOW + 1, userId: 'v' });
      await keys.add(key);
      await keys.recordUse('1', NOW + 5);
      await keys.revoke('2', NOW + 6);
      expect(await keys.list()).toEqual([
        { id: '1', name: 'first', userId: 'u', createdAt: NOW, lastUsedAt: NOW + 5, revokedAt: undefined },
        {
          id: '2',
          name: 'first',
          userId: 'v',
          createdAt: NOW + 1,
          lastUsedAt: undefined,
          revokedAt: NOW + 6,
        },
      ]);
    });
  });

  describe('an OAuth client', () => {
    type NewClient = Parameters<OAuthClients['add']>[0];
    const scim: NewClient = {
      id: 'c1',
      name: 'Entra',
      grant: { kind: 'scim', connection: 'okta' },
      proof: { kind: 'secret', hash: 's1' },
      createdAt: NOW,
    };
    const travel: NewClient = { ...scim, id: 'c2', grant: { kind: 'travel', userId: 'u' } };

    it.each([
      scim,
      travel,
      { ...scim, proof: { kind: 'jwks', jwks: { keys: [{ kty: 'OKP' }] } } },
      { ...travel, proof: { kind: 'jwksUri', uri: 'https://idp.example/keys' } },
    ] satisfies NewClient[])('is read as it was added: $grant.kind, $proof.kind', async (client) => {
      const { clients } = await credentialFixture();
      await clients.add(client);
      const { id, grant, proof } = client;
      expect(await clients.findActive(id)).toEqual({ id, grant, proof });
      expect(await clients.findActive('c9')).toBeUndefined();
      expect(await clients.list()).toEqual([
        { ...client, proof: proof.kind, lastUsedAt: undefined, revokedAt: undefined },
      ]);
    });

    it('was last used when it got its last token', async () => {
      const { clients, tokens } = await credentialFixture();
      await clients.add(scim);
      await clients.add(travel);
      await tokens.save({ hash: 't1', holder: { clientId: 'c1' }, expiresAt: NOW + 10 }, NOW + 1);
      await tokens.save({ hash: 't2', holder: { clientId: 'c1' }, expiresAt: NOW + 10 }, NOW + 2);
      const uses = (await clients.list()).map(({ id, lastUsedAt }) => [id, lastUsedAt]);
      expect(uses).toEqual([
        ['c1', NOW + 2],
        ['c2', undefined],
      ]);
    });

    it('is invalid once it is revoked, and so are its tokens', async () => {
      const { clients, tokens } = await credentialFixture();
      await clients.add(scim);
      await tokens.save({ hash: 't1', holder: { clientId: 'c1' }, expiresAt: NOW + 10 }, NOW);
      expect(await clients.revoke('c1', NOW)).toBe(true);
      expect(await clients.revoke('c1', NOW)).toBe(false);
      expect(await clients.revoke('c9', NOW)).toBe(false);
      expect(await clients.findActive('c1')).toBeUndefined();
      expect(await tokens.findActive('t1', NOW)).toBeUndefined();
      expect(await clients.list()).toMatchObject([{ id: 'c1', revokedAt: NOW }]);
    });

    it('is deleted with its user, together with its tokens', async () => {
      const { clients, tokens, assertions, deleteUser } = await credentialFixture();
      await clients.add(travel);
      await tokens.save({ hash: 't1', holder: { clientId: 'c2' }, expiresAt: NOW + 10 }, NOW);
      await assertions.useOnce({ clientId: 'c2', key: 'k', expiresAt: NOW + 10 }, NOW);
      await deleteUser('u');
      expect(await clients.list()).toEqual([]);
      expect(await tokens.findActive('t1', NOW)).toBeUndefined();
    });

    it('needs an existing connection or user', async () => {
      const { clients } = await credentialFixture();
      const nowhere = { ...scim, grant: { kind: 'scim', connection: 'nowhere' } } satisfies NewClient;
      const nobody = { ...travel, grant: { kind: 'travel', userId: 'nobody' } } satisfies NewClient;
      await expect(clients.add(nowhere)).rejects.toThrow();
      await expect(clients.add(nobody)).rejects.toThrow();
    });

    it('has tokens that are valid for its grant until they expire', async () => {
      const { clients, tokens } = await credentialFixture();
      await clients.add(scim);
      await clients.add(travel);
      await tokens.save({ hash: 't1', holder: { clientId: 'c1' }, expiresAt: NOW + 10 }, NOW);
      await tokens.save({ hash: 't2', holder: { clientId: 'c2' }, expiresAt: NOW + 20 }, NOW);
      expect(await tokens.findActive('t1', NOW + 9)).toEqual({
        holder: { clientId: 'c1' },
        grant: scim.grant,
      });
      expect(await tokens.findActive('t1', NOW + 10)).toBeUndefined();
      expect(await tokens.findActive('t2', NOW + 19)).toEqual({
        holder: { clientId: 'c2' },
        grant: travel.grant,
      });
      expect(await tokens.findActive('t3', NOW)).toBeUndefined();
      // Saving another token deletes expired ones: at an earlier time, too, the first is no longer found.
      await tokens.save({ hash: 't3', holder: { clientId: 'c1' }, expiresAt: NOW + 30 }, NOW + 15);
      expect(await tokens.findActive('t1', NOW)).toBeUndefined();
      expect(await tokens.findActive('t2', NOW)).toBeDefined();
    });

    it('has an equal in a connection with a federation: its tokens name it, and are valid for SCIM', async () => {
      const { tokens } = await credentialFixture();
      const holder = { connection: 'okta', federation: '["i","s","a"]' };
      await tokens.save({ hash: 't1', holder, expiresAt: NOW + 10 }, NOW);
      const grant = { kind: 'scim', connection: 'okta' };
      expect(await tokens.findActive('t1', NOW + 9)).toEqual({ holder, grant });
      expect(await tokens.findActive('t1', NOW + 10)).toBeUndefined();
    });

    it('uses an assertion once, and another client may use one with the same id', async () => {
      const { clients, assertions } = await credentialFixture();
      await clients.add(scim);
      await clients.add(travel);
      const use = { clientId: 'c1', key: 'k', expiresAt: NOW + 10 };
      expect(await assertions.useOnce(use, NOW)).toBe(true);
      expect(await assertions.useOnce(use, NOW + 9)).toBe(false);
      expect(await assertions.useOnce({ ...use, clientId: 'c2' }, NOW)).toBe(true);
      expect(await assertions.useOnce({ ...use, key: 'other' }, NOW)).toBe(true);
      // Deleted after its expiry, because then the assertion is refused as expired.
      expect(await assertions.useOnce(use, NOW + 10)).toBe(true);
    });
  });
}

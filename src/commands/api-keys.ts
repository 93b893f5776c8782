import { randomUUID } from 'node:crypto';
import { apiKeys } from '../store/api-keys.ts';
import { travelResources } from '../store/travel-resources.ts';
import { createApiKey as create, listApiKeys as list } from '../travel/api-keys.ts';
import { ApiError } from '../travel/errors.ts';
import { withDatabase } from './database.ts';
import type { Shell } from './shell.ts';
import { minute, tableOf } from './table.ts';

/** Makes an API key of the embedded travel service for an admin, and prints it; only its hash is kept. */
export function createApiKey(shell: Shell, { user, name }: { user: string; name: string }): Promise<0 | 1> {
  return withDatabase(shell, async (database, { connections }) => {
    if (!connections.some(({ travelApi }) => travelApi.url === 'embedded')) {
      shell.complain('No connection uses the embedded travel service; the real one makes its keys itself.');
      return 1;
    }
    const deps = {
      keys: apiKeys(database),
      reading: travelResources(database),
      now: Date.now,
      newId: randomUUID,
    };
    try {
      const { key } = await create(deps, { email: user, name });
      shell.print(key);
      shell.complain('Keep it: it is shown only now.');
      return 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      shell.complain(`${error.message} A key belongs to an active user with the role admin.`);
      return 1;
    }
  });
}

/** Lists the API keys, without their text. */
export function listApiKeys(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database) => {
    const all = await list({ keys: apiKeys(database), reading: travelResources(database) });
    const rows = all.map(({ id, name, email, createdAt, lastUsedAt, revokedAt }) => {
      const used = lastUsedAt === undefined ? 'never' : minute(lastUsedAt);
      const ends = revokedAt === undefined ? 'never' : `revoked ${minute(revokedAt)}`;
      return [id, name, email, minute(createdAt), used, ends];
    });
    shell.print(tableOf(['id', 'name', 'user', 'made', 'last used', 'ends'], rows));
    return 0;
  });
}

/** Ends an API key at once. */
export function revokeApiKey(shell: Shell, id: string): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    if (await apiKeys(database).revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.complain('There is no such key, or it was revoked before. "jetbridge api-keys list" shows them.');
    return 1;
  });
}

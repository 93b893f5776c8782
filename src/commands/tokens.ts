import { randomUUID } from 'node:crypto';
import { hashSecret, newSecret } from '../http/bearer.ts';
import { ensureConnection } from '../store/connections.ts';
import { tokens } from '../store/tokens.ts';
import { connectionOf, withDatabase } from './database.ts';
import type { Shell } from './shell.ts';
import { minute, tableOf } from './table.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Makes a bearer token for a connection and prints it; only its hash is kept. Works beside a running server. */
export function createToken(
  shell: Shell,
  { connection, name, days }: { connection: string; name: string; days?: number },
): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const named = connectionOf(shell, settings, connection);
    if (!named) return 1;
    await ensureConnection(database, { id: named.id, account: named.account });
    const token = newSecret('scim');
    const createdAt = Date.now();
    const expiresAt = days === undefined ? undefined : createdAt + days * DAY_MS;
    const made = { id: randomUUID(), hash: hashSecret(token), name, connection, createdAt, expiresAt };
    await tokens(database).create(made);
    shell.print(token);
    shell.complain('Keep it: it is shown only now.');
    return 0;
  });
}

/** Lists the tokens that were made, without their text. */
export function listTokens(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database) => {
    const rows = (await tokens(database).list()).map(
      ({ id, name, connection, createdAt, expiresAt, revokedAt }) => {
        const expires = expiresAt === undefined ? 'never' : minute(expiresAt);
        const ends = revokedAt === undefined ? expires : `revoked ${minute(revokedAt)}`;
        return [id, name, connection, minute(createdAt), ends];
      },
    );
    shell.print(tableOf(['id', 'name', 'connection', 'made', 'ends'], rows));
    return 0;
  });
}

/** Ends a token at once. */
export function revokeToken(shell: Shell, id: string): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    if (await tokens(database).revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.complain('There is no such token, or it was revoked before. "jetbridge tokens list" shows them.');
    return 1;
  });
}

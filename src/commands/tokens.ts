import { randomUUID } from 'node:crypto';
import Table from 'cli-table3';
import { readSettings } from '../config.ts';
import { hashSecret, newSecret } from '../http/bearer.ts';
import { ensureConnection } from '../store/connections.ts';
import { openEmbedded } from '../store/database.ts';
import { type Tokens, tokens } from '../store/tokens.ts';
import type { Shell } from './shell.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Makes a bearer token for a connection and prints it; only its hash is kept. Works beside a running server. */
export async function createToken(
  shell: Shell,
  { connection, name, days }: { connection: string; name: string; days?: number },
): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  if (!settings.connections.some(({ id }) => id === connection)) {
    shell.complain(
      `There is no connection ${connection}; the settings have ${settings.connections.map(({ id }) => id).join(', ')}.`,
    );
    return 1;
  }
  return withTokens(shell, connection, async (kept) => {
    const token = newSecret('scim');
    const createdAt = Date.now();
    const expiresAt = days === undefined ? undefined : createdAt + days * DAY_MS;
    await kept.create({ id: randomUUID(), hash: hashSecret(token), name, connection, createdAt, expiresAt });
    shell.print(token);
    shell.complain('Keep it: it is shown only now.');
    return 0;
  });
}

/** Lists the tokens that were made, without their text. */
export function listTokens(shell: Shell): Promise<0> {
  return withTokens(shell, undefined, async (kept) => {
    const table = new Table({
      head: ['id', 'name', 'connection', 'made', 'ends'],
      style: { head: [], border: [] },
    });
    for (const { id, name, connection, createdAt, expiresAt, revokedAt } of await kept.list()) {
      const ends =
        revokedAt === undefined
          ? expiresAt === undefined
            ? 'never'
            : date(expiresAt)
          : `revoked ${date(revokedAt)}`;
      table.push([id, name, connection, date(createdAt), ends]);
    }
    shell.print(table.toString());
    return 0;
  });
}

/** Ends a token at once. */
export function revokeToken(shell: Shell, id: string): Promise<0 | 1> {
  return withTokens(shell, undefined, async (kept) => {
    if (await kept.revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.complain('There is no such token, or it was revoked before. "jetbridge tokens list" shows them.');
    return 1;
  });
}

async function withTokens<E extends 0 | 1>(
  shell: Shell,
  connection: string | undefined,
  work: (kept: Tokens) => Promise<E>,
): Promise<E> {
  const { data, connections } = readSettings(shell.environment, shell.home);
  const database = await openEmbedded(data, false);
  try {
    const settings = connections.find(({ id }) => id === connection);
    if (settings) await ensureConnection(database, { id: settings.id, account: settings.account });
    return await work(tokens(database));
  } finally {
    await database.close();
  }
}

function date(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

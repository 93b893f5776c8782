import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSecret } from '../../src/http/bearer.ts';
import { failureLimit } from '../../src/http/failed-authentication.ts';
import type { Grant } from '../../src/oauth/ports.ts';
import type { Registration } from '../../src/oauth/register.ts';
import { registerClient } from '../../src/oauth/register.ts';
import { tokenEndpoint } from '../../src/oauth/token-endpoint.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { openEmbedded } from '../../src/store/database.ts';
import { oauthClients } from '../../src/store/oauth-clients.ts';
import { oauthAssertions, oauthTokens } from '../../src/store/oauth-tokens.ts';
import { httpHouse } from '../support/http-house.ts';

/** An answer of the token endpoint. */
export interface TokenAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** The token endpoint on a free port and a database of its own. */
export interface OAuthHouse {
  /** What assertions must name. */
  audience: string;
  lines: { msg?: unknown }[];
  register(keys?: Registration['keys']): Promise<{ id: string; secret: string }>;
  revoke(id: string): Promise<boolean>;
  /** Sends a form, or text as it is. */
  ask(
    form: Record<string, string> | string,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<TokenAnswer>;
  /** What a token opens now. */
  opened(token: unknown): Promise<Grant | undefined>;
  /** Epoch milliseconds. */
  now(): number;
  pass(ms: number): void;
  /** Takes the connection away that clients are registered for. */
  closeConnection(): void;
  close(): Promise<void>;
}

/** The value of an `Authorization: Basic` header, form-encoded as RFC 6749 §2.3.1 wants it. */
export function basic(id: string, secret: string): string {
  const encoded = [id, secret].map((part) => new URLSearchParams({ a: part }).toString().slice(2));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

export async function oauthHouse(): Promise<OAuthHouse> {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-'));
  const database = await openEmbedded(directory, false);
  await ensureConnection(database, { id: 'default', account: 'acme' });
  let time = Date.now();
  let isOpen = true;
  const now = () => time;
  const clients = oauthClients(database);
  const tokens = oauthTokens(database);
  const audience = 'https://bridge.example/oauth/token';
  const warned: { msg?: unknown }[] = [];
  const http = await httpHouse((app) => {
    const endpoint = tokenEndpoint({
      clients,
      tokens,
      assertions: oauthAssertions(database),
      isOpen: async () => isOpen,
      audience,
      now,
      log: { warn: (_fields, msg) => warned.push({ msg }) },
      limit: failureLimit(now),
    });
    app.use('/oauth/token', endpoint);
  });
  return {
    audience,
    lines: warned,
    register: async (keys) => {
      const grant: Grant = { kind: 'scim', connection: 'default' };
      const made = await registerClient({ clients, now, newId: randomUUID }, { name: 'test', grant, keys });
      return { id: made.id, secret: made.secret ?? '' };
    },
    revoke: (id) => clients.revoke(id, time),
    ask: async (form, headers = {}, method = 'POST') => {
      const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
      const response = await fetch(`http://127.0.0.1:${http.port}/oauth/token`, {
        method,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
        ...(method === 'POST' ? { body } : {}),
      });
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
    },
    opened: async (token) => (await tokens.find(hashSecret(String(token)), time))?.grant,
    now,
    pass: (ms) => {
      time += ms;
    },
    closeConnection: () => {
      isOpen = false;
    },
    close: async () => {
      await http.close();
      await database.close();
      rmSync(directory, { recursive: true });
    },
  };
}

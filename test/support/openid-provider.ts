import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** Claims, some of them perhaps left out. */
export type SomeClaims = { [name in keyof JWTPayload]: JWTPayload[name] | undefined };

/** An OpenID provider on a free port. */
export interface OpenidProvider {
  issuer: string;
  /** The paths that were asked for. */
  asked: string[];
  /** A token of the admin with that verified address; with other claims and members of the header where given. */
  token(email: string, other?: SomeClaims, algorithm?: string, header?: object): Promise<string>;
  /** From now on it answers this in place of its documents, or does not answer. */
  answerWith(answer: { status: number; body: string } | 'nothing' | undefined): void;
  /** Signs with other keys from now on. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

/** What its tokens are for. */
export const AUDIENCE = 'travel';

/** Opens a provider with keys for all algorithms that are taken. */
export async function openidProvider(): Promise<OpenidProvider> {
  let keys = await keysOf('first');
  let instead: { status: number; body: string } | 'nothing' | undefined;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (instead === 'nothing') return;
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys` },
      '/keys': { keys: keys.map(({ jwk }) => jwk) },
    };
    const { status, body } = instead ?? { status: 200, body: JSON.stringify(documents[request.url ?? '']) };
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    asked,
    token: async (email, other = {}, algorithm = 'RS256', header = {}) => {
      const key = keys.find(({ jwk }) => jwk.alg === algorithm);
      if (!key) throw new Error(`no key for ${algorithm}`);
      const seconds = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, aud: AUDIENCE, sub: 's1', email, email_verified: true };
      const token = new SignJWT({ ...claims, exp: seconds + 300, ...other } as JWTPayload);
      return token.setProtectedHeader({ alg: algorithm, kid: key.jwk.kid, ...header }).sign(key.privateKey);
    },
    answerWith: (answer) => {
      instead = answer;
    },
    rotate: async () => {
      keys = await keysOf('second');
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Making keys takes a second; they are as good for one provider as for another. */
const made = new Map<string, ReturnType<typeof newKeys>>();
function keysOf(name: string): ReturnType<typeof newKeys> {
  const keys = made.get(name) ?? newKeys(name);
  made.set(name, keys);
  return keys;
}

function newKeys(name: string) {
  return Promise.all(
    ['RS256', 'PS256', 'ES256', 'EdDSA'].map(async (alg) => {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      return { jwk: { ...(await exportJWK(publicKey)), alg, kid: `${name} ${alg}` }, privateKey };
    }),
  );
}

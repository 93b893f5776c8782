import { discoverJwksUri, type KeyResolver, remoteKeyResolver, unverifiedClaims } from '../http/jwt.ts';
import type { AddressGuard } from '../http/limited-fetch.ts';
import { cutStrangerText } from '../http/minute-quota.ts';
import { AssertionRefused, useAssertion, verifyAssertion } from './assertions.ts';
import type { UsedAssertions } from './clients.ts';

/** A workload that another issuer vouches for: its assertions authenticate it as a client of a connection (RFC 7523 §2.2). */
export interface Federation {
  issuer: string;
  subject: string;
  audience: string;
}

/** A connection with the workloads that its settings trust. */
export interface FederatedConnection {
  connection: string;
  federation: readonly Federation[];
  /** True if an admin of the page chose the issuers: their keys are not read from private addresses. */
  isGuarded: boolean;
}

/** Dependencies of the authentication of federated clients. */
export interface FederationDeps {
  /** The connections that are served now and have a federation. */
  federated(): readonly FederatedConnection[];
  assertions: UsedAssertions;
  guard: AddressGuard;
  now(): number;
}

/** Returns the text by which access tokens remember what they were given for. */
export function federationKey({ issuer, subject, audience }: Federation): string {
  return JSON.stringify([issuer, subject, audience]);
}

/** A federated client: a connection, and the entry of its settings that lets the client in. */
export interface FederatedClient {
  connection: string;
  federation: Federation;
}

/**
 * Authenticates the workload of another issuer by its assertion. Resolves with undefined for an assertion that its client has issued
 * itself, and throws AssertionRefused or KeysUnavailable.
 */
export type AuthenticateFederated = (
  assertion: string,
  clientId: string | undefined,
) => Promise<FederatedClient | undefined>;

/** Returns the function that authenticates federated clients. It caches the keys of their issuers. */
export function federatedAuthentication(deps: FederationDeps): AuthenticateFederated {
  const resolvers = new Map<string, KeyResolver>();
  const keysOf = (issuer: string, isGuarded: boolean): KeyResolver => {
    const guard = { ...deps.guard, allowPrivate: deps.guard.allowPrivate || !isGuarded };
    const name = `${guard.allowPrivate} ${issuer}`;
    const known =
      resolvers.get(name) ?? remoteKeyResolver(() => discoverJwksUri(issuer, guard), deps.now, guard);
    resolvers.set(name, known);
    return known;
  };
  return async (assertion, clientId) => {
    const { iss: issuer, sub: subject } = unverifiedClaims(assertion) ?? {};
    if (issuer === undefined || issuer === subject) return undefined;
    const trusting = findTrusting(deps.federated(), { issuer, subject, clientId });
    const keys = keysOf(
      issuer,
      trusting.every(({ isGuarded }) => isGuarded),
    );
    const claims = await verifyAssertion(assertion, keys, { issuer, now: deps.now() });
    const found = findTrusted(trusting, claims);
    // "… MAY ensure that JWTs are not replayed by maintaining the set of used jti values" (RFC 7523 §3). Without one, the issuer
    // means its workload to use the assertion until it ends, as Entra ID does.
    const key = claims.jti === undefined ? undefined : `${issuer} jti ${claims.jti}`;
    await useAssertion({ clientId: found.connection, key, exp: claims.exp ?? 0 }, deps);
    return found;
  };
}

/**
 * Returns the connections that trust the issuer. "The client_id parameter is unnecessary" (RFC 7521 §4.2); a client that sends one sends
 * the name of its connection, or its subject.
 */
function findTrusting(
  federated: readonly FederatedConnection[],
  {
    issuer,
    subject,
    clientId,
  }: { issuer: string; subject: string | undefined; clientId: string | undefined },
): FederatedConnection[] {
  const isNamed = clientId !== undefined && clientId !== subject;
  const chosen = isNamed ? federated.filter(({ connection }) => connection === clientId) : federated;
  const trusting = chosen
    .map((one) => ({ ...one, federation: one.federation.filter((entry) => entry.issuer === issuer) }))
    .filter(({ federation }) => federation.length > 0);
  if (trusting.length > 0) return trusting;
  const expected = chosen.flatMap(({ federation }) => federation.map((entry) => entry.issuer));
  if (isNamed && chosen.length === 0)
    throw new AssertionRefused(
      `its client_id is ${quoted(clientId)}, and no connection of this name has a federation`,
    );
  throw new AssertionRefused(`its issuer is ${quoted(issuer)}, expected ${list(expected)}`);
}

/** Returns the connection and the federation of verified claims: the subject is the same text, and the audience is one of those named. */
function findTrusted(
  trusting: readonly FederatedConnection[],
  { sub = '', aud = [] }: { sub?: string; aud?: string | string[] },
): FederatedClient {
  const entries = trusting.flatMap(({ connection, federation }) =>
    federation.map((entry) => ({ connection, federation: entry })),
  );
  const audiences = [aud].flat();
  const found = entries.filter(
    ({ federation: { subject, audience } }) => subject === sub && audiences.includes(audience),
  );
  const [first] = found;
  const connections = [...new Set(found.map(({ connection }) => connection))];
  if (first && connections.length === 1) return first;
  if (first)
    throw new AssertionRefused(
      `several connections trust it (${connections.join(', ')}), and no client_id names one`,
    );
  const expected = entries.map(
    ({ federation: { subject, audience } }) => `subject ${quoted(subject)} with audience ${quoted(audience)}`,
  );
  throw new AssertionRefused(
    `its subject is ${quoted(sub)} and its audience ${list(audiences)}, expected ${expected.slice(0, 3).join(' or ')}`,
  );
}

function list(texts: string[]): string {
  const different = [...new Set(texts)].slice(0, 3);
  return different.length === 0 ? 'none' : different.map(quoted).join(' or ');
}

/** A client has chosen the text, which may be of any length. */
function quoted(text: string): string {
  return JSON.stringify(cutStrangerText(text));
}

import { hashSecret, newSecret } from '../../http/authentication.ts';
import { createRecorder } from '../changes.ts';
import type { TravelDeps } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { ApiKey, ApiKeys, Authenticator, Log, TravelReader } from '../ports.ts';
import { ADMIN_INDEX, user } from '../resources/user.ts';
import { readEmails, requireAdminByEmail } from './authentication.ts';

/** Dependencies for creating, listing and checking API keys. */
export interface ApiKeyDeps {
  keys: ApiKeys;
  reader: TravelReader;
  now(): number;
  newId(): string;
}

/**
 * Creates an API key for the admin with this email and returns its id and its value, which is not stored. Throws
 * `notFound` or `forbidden` if the user is no active admin.
 */
export async function createApiKey(
  { keys, reader, now, newId }: ApiKeyDeps,
  { email, name, isReadOnly = false }: { email: string; name: string; isReadOnly?: boolean },
): Promise<{ id: string; key: string }> {
  const { id: userId } = await requireAdminByEmail(reader, email);
  return addApiKey({ keys, now, newId }, { userId, name, isReadOnly });
}

/** Creates an API key for an admin who has none, and returns its value; undefined if the admin has one. */
export async function createFirstApiKey(
  deps: Omit<ApiKeyDeps, 'reader'>,
  userId: string,
): Promise<string | undefined> {
  if (await deps.keys.hasAny(userId)) return undefined;
  return (await addApiKey(deps, { userId, name: 'first key' })).key;
}

async function addApiKey(
  { keys, now, newId }: Omit<ApiKeyDeps, 'reader'>,
  about: Pick<ApiKey, 'userId' | 'name' | 'isReadOnly'>,
): Promise<{ id: string; key: string }> {
  const id = newId();
  const key = newSecret('travel');
  await keys.add({ ...about, id, hash: hashSecret(key), createdAt: now() });
  return { id, key };
}

/** Lists all API keys, each with the email of its user. */
export async function listApiKeys({
  keys,
  reader,
}: Pick<ApiKeyDeps, 'keys' | 'reader'>): Promise<(ApiKey & { email: string })[]> {
  const all = await keys.list();
  const emails = await readEmails(
    reader,
    all.map(({ userId }) => userId),
  );
  return all.map((key) => ({ ...key, email: emails.get(key.userId) ?? '' }));
}

/** The last use of a key is written at most once per interval, in milliseconds. */
const RECORD_USE_EVERY_MS = 60_000;

/** Authenticates requests by API key. The time of use is written after the response, so that no request waits for it. */
export function apiKeyAuthenticator({
  keys,
  now,
  log,
}: Pick<ApiKeyDeps, 'keys' | 'now'> & { log: Log }): Authenticator {
  // The last recorded uses, by key id. They are kept here because the next request can arrive before a use is stored.
  const noted = new Map<string, number>();
  const note = (id: string, at: number) => {
    keys.recordUse(id, at).catch((error: unknown) => {
      log.error({ err: error }, 'the last use of an API key could not be saved');
    });
  };
  return async (token) => {
    const key = await keys.findActive(hashSecret(token));
    if (!key) return undefined;
    const { userId, isReadOnly } = key;
    const admission = { userId, isReadOnly, credential: `apiKey:${key.id}` };
    const at = now();
    const latest = Math.max(key.lastUsedAt ?? 0, noted.get(key.id) ?? 0);
    if (at - latest < RECORD_USE_EVERY_MS) return admission;
    noted.set(key.id, at);
    return { ...admission, onResponseClosed: () => note(key.id, at) };
  };
}

/** Returns the id of the oldest active admin. If there is none, creates one, because every credential belongs to an admin. */
export async function ensureFirstAdmin({ store, now, newId }: Omit<TravelDeps, 'onChange'>): Promise<string> {
  return store.write([user.type], async (transaction) => {
    const [admin] = await transaction.find({
      type: user.type,
      name: ADMIN_INDEX.name,
      values: [ADMIN_INDEX.value],
      limit: 1,
    });
    if (admin) return admin.id;
    const email = 'admin@jetbridge.local';
    const made = await createRecorder(transaction, { now, newId })
      .create(user, { email, firstName: 'Travel', lastName: 'Admin', roles: ['admin'] })
      .catch((cause: unknown) => {
        // Of other faults, such as a full disk, the operator must get the reason.
        if (!(cause instanceof ApiError)) throw cause;
        throw new Error(`There is no active admin, and a user has the address ${email} already.`, { cause });
      });
    return made.id;
  });
}

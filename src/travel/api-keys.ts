import { hashSecret, newSecret } from '../http/authentication.ts';
import { requireAdminByEmail } from './authentication.ts';
import { createRecorder } from './changes.ts';
import type { TravelDeps } from './collection.ts';
import { stringMember } from './json.ts';
import type { ApiKey, ApiKeys, Authenticator, Log, TravelReader } from './ports.ts';
import { ADMIN_INDEX, user } from './resources/user.ts';
import { parseDocument } from './validation.ts';

/** What the keys are made and listed with. */
export interface ApiKeyDeps {
  keys: ApiKeys;
  reading: TravelReader;
  now(): number;
  newId(): string;
}

/** Makes a key that acts on behalf of an existing admin; its value is answered now and never again. */
export async function createApiKey(
  { keys, reading, now, newId }: ApiKeyDeps,
  { email, name }: { email: string; name: string },
): Promise<{ id: string; key: string }> {
  const admin = await requireAdminByEmail(reading, email);
  const id = newId();
  const key = newSecret('travel');
  await keys.add({ id, hash: hashSecret(key), name, userId: admin.id, createdAt: now() });
  return { id, key };
}

/** The keys with the address of each one's user. */
export async function listApiKeys({
  keys,
  reading,
}: Pick<ApiKeyDeps, 'keys' | 'reading'>): Promise<(ApiKey & { email: string })[]> {
  const all = await keys.list();
  const ids = [...new Set(all.map(({ userId }) => userId))];
  const users = await reading.read(ids.map((id) => ({ type: 'user', id })));
  const emails = new Map(users.map(({ id, doc }) => [id, stringMember(doc, 'email') ?? '']));
  return all.map((key) => ({ ...key, email: emails.get(key.userId) ?? '' }));
}

/** How often at most it is noted that a key was used. */
const RECORD_USE_EVERY_MS = 60_000;

/** API keys as credentials. That one was used is noted when its request is answered. */
export function apiKeyAuthenticator({
  keys,
  now,
  log,
}: Pick<ApiKeyDeps, 'keys' | 'now'> & { log: Log }): Authenticator {
  // What is under way is not in the database yet, and the next request comes before that.
  const noted = new Map<string, number>();
  const note = (id: string, at: number) => {
    keys.recordUse(id, at).catch((error: unknown) => {
      log.error({ err: error }, 'the use of an API key was not noted');
    });
  };
  return async (token) => {
    const key = await keys.findActive(hashSecret(token));
    if (!key) return undefined;
    const admission = { userId: key.userId, credential: `apiKey:${key.id}` };
    const at = now();
    const latest = Math.max(key.lastUsedAt ?? 0, noted.get(key.id) ?? 0);
    if (at - latest < RECORD_USE_EVERY_MS) return admission;
    noted.set(key.id, at);
    return { ...admission, onResponseClosed: () => note(key.id, at) };
  };
}

/** The id of the oldest active admin; when there is none, one is made, as every credential belongs to an admin. */
export async function ensureFirstAdmin({ store, now, newId }: Omit<TravelDeps, 'onChange'>): Promise<string> {
  return store.write([user.type], async (transaction) => {
    const [admin] = await transaction.find({
      type: user.type,
      name: ADMIN_INDEX.name,
      values: [ADMIN_INDEX.value],
      limit: 1,
    });
    if (admin) return admin.id;
    const doc = parseDocument(user, {
      email: 'admin@jetbridge.local',
      firstName: 'Travel',
      lastName: 'Admin',
      roles: ['admin'],
    });
    const made = { type: user.type, id: newId(user.idForm), parentId: '', createdAt: now(), doc };
    await createRecorder(transaction, { now, newId })
      .insert(user, made)
      .catch((cause: unknown) => {
        const address = String(doc['email']);
        throw new Error(`There is no active admin, and a user has the address ${address} already.`, {
          cause,
        });
      });
    return made.id;
  });
}

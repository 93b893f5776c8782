import type { Surroundings } from './collection.ts';
import { recorder } from './record.ts';
import { ADMIN, user } from './resources/user.ts';
import { validated } from './validation.ts';

/** The id of the oldest active admin; when there is none, one is made, as every credential belongs to an admin. */
export async function ensureFirstAdmin({
  store,
  now,
  newId,
}: Omit<Surroundings, 'onChange'>): Promise<string> {
  return store.write([user.type], async (within) => {
    const [admin] = await within.find({ type: user.type, name: ADMIN.name, values: [ADMIN.value], limit: 1 });
    if (admin) return admin.id;
    const doc = validated(user, {
      email: 'admin@jetbridge.local',
      firstName: 'Travel',
      lastName: 'Admin',
      roles: ['admin'],
    });
    const made = { type: user.type, id: newId(user.idForm), parentId: '', createdAt: now(), doc };
    await recorder(within, { now, newId })
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

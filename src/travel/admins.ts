import { foldCase } from '../schema/fold.ts';
import { ApiError } from './errors.ts';
import { readOne, type StoredResource, type TravelReading } from './ports.ts';
import { isAdmin } from './resources/user.ts';

/** Asked at every request, so that whoever is archived or loses the role is out at once, with all their credentials. */
export async function isActiveAdmin(reading: TravelReading, userId: string): Promise<boolean> {
  const user = await readOne(reading, 'user', userId);
  return user !== undefined && isAdmin(user.doc);
}

/** The active admin with this address, written in any case. */
export async function adminWithEmail(
  reading: TravelReading,
  email: string,
): Promise<StoredResource | undefined> {
  const user = await userWithEmail(reading, email);
  return user && isAdmin(user.doc) ? user : undefined;
}

/** The same for somebody who wants to hear why there is none: the credential must belong to a user with the `admin` role. */
export async function requireAdmin(reading: TravelReading, email: string): Promise<StoredResource> {
  const user = await userWithEmail(reading, email);
  if (!user) throw new ApiError('notFound', `No user of the travel service has the address ${email}.`);
  if (user.doc['archived'] === true) throw new ApiError('forbidden', `The user ${email} is archived.`);
  if (!isAdmin(user.doc)) throw new ApiError('forbidden', `The user ${email} has not the role admin.`);
  return user;
}

async function userWithEmail(reading: TravelReading, email: string): Promise<StoredResource | undefined> {
  const [user] = await reading.find({ type: 'user', name: 'email', values: [foldCase(email)], limit: 1 });
  return user;
}

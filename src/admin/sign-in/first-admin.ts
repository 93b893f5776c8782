import { secretWeakness } from '../../config/faults.ts';
import type { Settings } from '../../config/settings.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import { adminPassword } from '../../store/credentials/admins.ts';
import type { Database } from '../../store/sql/database.ts';
import { hashPassword, newPassword, type PasswordCosts, verifyPassword } from './passwords.ts';

/** The name of the built-in admin, who signs in with a password. */
export const BUILT_IN_ADMIN = 'admin';

interface PasswordParts {
  database: Database;
  runtime: Pick<Runtime, 'newId'>;
  passwordCosts: PasswordCosts;
}

/**
 * Puts ADMIN_PASSWORD in force, if the built-in admin has another password: the sessions of that one are over. Must be done before the
 * port opens: until then the old password, which may be known to others, opens the page.
 */
export async function applyAdminPassword(
  { adminPassword: text }: Pick<Settings, 'adminPassword'>,
  { database, runtime, passwordCosts }: PasswordParts,
): Promise<void> {
  if (text === undefined) return;
  const passwords = adminPassword(database);
  const stored = await passwords.read();
  if (stored && (await verifyPassword(text, stored.hash))) return;
  await passwords.replace({ id: runtime.newId(), hash: await hashPassword(text, passwordCosts) });
}

/**
 * Makes a password for the built-in admin and returns it; it is stored as a hash only. Undefined if there is one, or if passwords do not
 * open the page.
 */
export async function makeFirstAdmin(
  { adminPassword: text, passwordSignIn }: Pick<Settings, 'adminPassword' | 'passwordSignIn'>,
  { database, runtime, passwordCosts }: PasswordParts,
): Promise<string | undefined> {
  const passwords = adminPassword(database);
  if (text !== undefined || !passwordSignIn || (await passwords.read())) return undefined;
  const made = newPassword();
  const hash = await hashPassword(made, passwordCosts);
  // False if another replica, which starts at the same time, has made one and shows it.
  return (await passwords.create({ id: runtime.newId(), hash })) ? made : undefined;
}

const MIN_LENGTH = 12;

/** Returns what makes ADMIN_PASSWORD easy to guess; undefined if it is not set or nothing is known. */
export function adminPasswordWeakness({
  adminPassword: text,
}: Pick<Settings, 'adminPassword'>): string | undefined {
  if (text === undefined) return undefined;
  return text.length < MIN_LENGTH ? `has fewer than ${MIN_LENGTH} characters` : secretWeakness(text);
}

/** Logs a warning if ADMIN_PASSWORD is easy to guess. It is not refused, because an upgrade must not prevent a start. */
export function warnOfAdminPassword(
  settings: Pick<Settings, 'adminPassword'>,
  log: { warn(fields: object, text: string): void },
): void {
  const weakness = adminPasswordWeakness(settings);
  if (weakness !== undefined)
    log.warn({}, `ADMIN_PASSWORD ${weakness}, so it could be guessed; set it to a longer one`);
}

import { secretWeakness } from '../config/faults.ts';
import type { Settings } from '../config/settings.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import { adminAccounts } from '../store/credentials/admins.ts';
import type { Database } from '../store/sql/database.ts';
import { findPasswordWeakness, findPatternWeakness } from './password-rules.ts';
import { hashPassword, newPassword, type PasswordCosts, verifyPassword } from './passwords.ts';

/** The name of the account that the first start creates, and whose password ADMIN_PASSWORD sets. */
export const FIRST_ADMIN = 'admin';

/**
 * Gives the account `admin` the password of ADMIN_PASSWORD, if it has another one, and creates the account if it is missing. Must be done
 * before the port opens: until then the old password, which may be known to others, opens the page.
 */
export async function applyAdminPassword(
  { adminPassword }: Pick<Settings, 'adminPassword'>,
  parts: FirstAdminParts,
): Promise<void> {
  if (adminPassword === undefined) return;
  const accounts = adminAccounts(parts.database);
  const first = await accounts.findByName(FIRST_ADMIN);
  if (!first) await createFirstAdmin(adminPassword, parts);
  else if (!(await verifyPassword(adminPassword, first.passwordHash)))
    await accounts.setPassword(first.id, await hashPassword(adminPassword, parts.passwordCosts));
}

/**
 * Creates the account `admin` if there is no account yet, and returns its password, which is stored as a hash only. Undefined if there is
 * one, or ADMIN_PASSWORD is set.
 */
export async function makeFirstAdmin(
  { adminPassword }: Pick<Settings, 'adminPassword'>,
  parts: FirstAdminParts,
): Promise<string | undefined> {
  if (adminPassword !== undefined) return undefined;
  if ((await adminAccounts(parts.database).list()).length > 0) return undefined;
  const password = newPassword();
  // False if another replica, which starts at the same time, has created the account and shows its password.
  return (await createFirstAdmin(password, parts)) ? password : undefined;
}

interface FirstAdminParts {
  database: Database;
  runtime: Pick<Runtime, 'newId' | 'wallClock'>;
  passwordCosts: PasswordCosts;
}

async function createFirstAdmin(
  password: string,
  { database, runtime: { newId, wallClock }, passwordCosts }: FirstAdminParts,
): Promise<boolean> {
  const passwordHash = await hashPassword(password, passwordCosts);
  const account = { id: newId(), name: FIRST_ADMIN, role: 'admin', createdAt: wallClock() } as const;
  return adminAccounts(database).create({ ...account, passwordHash });
}

/** Returns what makes ADMIN_PASSWORD easy to guess; undefined if it is not set or nothing is known. */
export async function adminPasswordWeakness({
  adminPassword,
}: Pick<Settings, 'adminPassword'>): Promise<string | undefined> {
  if (adminPassword === undefined) return undefined;
  const known = (await findPasswordWeakness(adminPassword)) ?? secretWeakness(adminPassword);
  return known ?? findPatternWeakness(adminPassword, FIRST_ADMIN);
}

/** Logs a warning if ADMIN_PASSWORD is easy to guess. It is not refused, because an upgrade must not prevent a start. */
export async function warnOfAdminPassword(
  settings: Pick<Settings, 'adminPassword'>,
  log: { warn(fields: object, text: string): void },
): Promise<void> {
  const weakness = await adminPasswordWeakness(settings);
  if (weakness !== undefined)
    log.warn({}, `ADMIN_PASSWORD ${weakness}, so it could be guessed; set it to a longer one`);
}

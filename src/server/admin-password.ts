import { findPasswordWeakness } from '../admin/password-rules.ts';
import { secretWeakness } from '../config/faults.ts';
import type { Settings } from '../config/settings.ts';

/** Returns what makes ADMIN_PASSWORD easy to guess; undefined if it is not set or nothing is known. */
export async function adminPasswordWeakness({
  adminPassword,
}: Pick<Settings, 'adminPassword'>): Promise<string | undefined> {
  if (adminPassword === undefined) return undefined;
  return (await findPasswordWeakness(adminPassword)) ?? secretWeakness(adminPassword);
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

import { foldCase } from '../schema/case-fold.ts';
import type { ConnectionSettings } from './connection.ts';

/** Returns the form in which addresses are compared. Do not apply it to its own result, which it may change again. */
export function addressKey(email: string): string {
  return foldCase(email);
}

/** True for a parking address: a placeholder that a traveler has after it gave its own address to another identity. */
export function isParkingAddress(
  { parkingDomain }: Pick<ConnectionSettings, 'parkingDomain'>,
  email: string,
): boolean {
  return parkingDomain !== undefined && addressKey(email).endsWith(`@${parkingDomain}`);
}

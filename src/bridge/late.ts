import type { Task } from './task.ts';

/** How often an announced create is looked for; with the back-off between the looks, longer than a call's time-out. */
const LOOKS = 5;

/**
 * True while a create that was announced, and whose traveler is not there, may still arrive. Under the same address it
 * may simply be sent again, as an address is unique; to forget the address would be to risk a second traveler.
 */
export function mayArriveLate({ identity }: Task): boolean {
  return identity.creating !== undefined && identity.attempts + 1 < LOOKS;
}

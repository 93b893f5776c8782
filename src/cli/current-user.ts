import { userInfo } from 'node:os';

/** The name of the user of the operating system; a container may have none. */
export function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

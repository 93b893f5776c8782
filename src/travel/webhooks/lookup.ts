import { promises as dns, type LookupAddress } from 'node:dns';
import { codeOf } from './error-code.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const TIMEOUT_MS = 2_000;

/**
 * Asks the name servers. The system's own look-up holds one of the few threads of the process while it waits, so names
 * whose servers are dead would keep everybody waiting. It is asked only when the servers have answered and know nothing,
 * as the name may stand in its own file, and then it answers soon.
 */
export async function resolveName(hostname: string): Promise<LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [...addresses(four, 4), ...addresses(six, 6)];
  if (found.length > 0) return found;
  const late = [four, six].find((answer) => answer.status === 'rejected' && isLate(answer.reason));
  if (late?.status === 'rejected') throw late.reason;
  return dns.lookup(hostname, { all: true });
}

function addresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

function isLate(error: unknown): boolean {
  return codeOf(error) === 'ETIMEOUT';
}

import type { Log, Runtime } from '../../model/runtime-ports.ts';
import type { ScimTokens } from './credentials.ts';

/** The interval at which uses are written, in milliseconds. */
const WRITE_EVERY_MS = 30_000;

/** The last uses of SCIM tokens. They are kept in memory and written in batches, so that no request pays for them. */
export interface TokenUses {
  /** Notes that a token was used. `at` is in epoch milliseconds. */
  note(id: string, at: number): void;
  /** Writes what was noted, and stops. */
  close(): Promise<void>;
}

interface TokenUsesDeps {
  tokens: Pick<ScimTokens, 'recordUses'>;
  /** Returns early when aborted; never rejects. */
  wait: Runtime['wait'];
  log: Pick<Log, 'warn'>;
}

/** Writes the last uses of SCIM tokens regularly, until it is closed. */
export function writeTokenUses({ tokens, wait, log }: TokenUsesDeps): TokenUses {
  const stop = new AbortController();
  const noted = new Map<string, number>();
  const write = async () => {
    if (noted.size === 0) return;
    const uses = new Map(noted);
    noted.clear();
    try {
      await tokens.recordUses(uses);
    } catch (error) {
      log.warn({ err: error }, 'the last use of tokens could not be saved; retrying');
      for (const [id, at] of uses) if (!noted.has(id)) noted.set(id, at);
    }
  };
  const loop = async () => {
    while (!stop.signal.aborted) {
      await wait(WRITE_EVERY_MS, stop.signal);
      await write();
    }
  };
  const ended = loop();
  return {
    note: (id, at) => void noted.set(id, at),
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

import { everyMinute } from '../../http/minute-quota.ts';
import { addressGroup } from '../../http/proxies.ts';
import type { AuditEntry, AuditLog } from '../../store/credentials/audit-log.ts';

/** The addresses that get an entry of their own in one minute. The refusals of all others share one. */
const MAX_ENTRIES = 200;
/** The most names of accounts that an entry lists. */
const MAX_ACCOUNTS = 10;
/** This number of refusals within ten minutes is a burst, which is reported at most once an hour. */
const BURST = 50;
const BURST_MINUTES = 10;
const REPORT_EVERY_MS = 60 * 60_000;

/** A sign-in that was refused. */
export interface RefusedSignIn {
  /** The operation. */
  action: string;
  address: string;
  status: number;
  /** The name of the account or person, if it is known. Never a name that was only typed: it may be a password. */
  account?: string | undefined;
  /** One of a few reasons, each of which has an entry of its own. */
  reason?: string;
}

/** A number of refused sign-ins that is no longer an accident. */
export interface SignInBurst {
  /** Epoch milliseconds. */
  at: number;
  /** The refusals within the ten minutes before. */
  attempts: number;
}

/** Records refused sign-ins in the audit log, summed up, so that strangers can neither fill the disk nor bury other entries. */
export interface RefusedSignIns {
  /** Counts a request that is refused before a name is known. It has no entry. */
  count(action: string): void;
  /** Counts a refusal, and adds it to the entry of its reason, address and minute. Resolves when there is an entry. */
  record(refused: RefusedSignIn): Promise<void>;
  /** Calls the listener for each burst that is reported. */
  onBurst(listener: (burst: SignInBurst) => void): void;
  /** Returns the last burst for an hour, in which no other one is reported. */
  lastBurst(): SignInBurst | undefined;
  /** Writes the sums of the last minute, and stops. */
  close(): Promise<void>;
}

/** Dependencies of the record. */
export interface RefusedSignInsDeps {
  audit: AuditLog;
  clock: {
    /** Epoch milliseconds. */
    now(): number;
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
  /** Called for each refusal. */
  onRefusal(action: string): void;
}

/** The entry of one address and minute; the one with an empty address stands for all addresses that have none. */
interface Sum {
  /** Undefined if it could not be written. */
  position: Promise<number | undefined>;
  attempts: number;
  accounts: Set<string>;
  first: RefusedSignIn;
}

/** Returns the record of one process. */
export function recordRefusedSignIns(deps: RefusedSignInsDeps): RefusedSignIns {
  const { audit, clock, log, onRefusal } = deps;
  const end = new AbortController();
  const burst = burstDetector(deps);
  let sums = new Map<string, Sum>();
  const fail = (error: unknown) => {
    log.error({ err: error }, 'refused sign-ins could not be added to the audit log');
    return undefined;
  };
  const flush = async () => {
    const ended = sums;
    sums = new Map();
    burst.nextMinute();
    for (const sum of ended.values()) {
      const position = await sum.position;
      const { status } = sum.first;
      const outcome = { actor: actorOf(sum), status, details: detailsOf(sum) };
      if (position !== undefined && sum.attempts > 1) await audit.finish(position, outcome).catch(fail);
    }
  };
  const flushing = everyMinute(clock, end.signal, flush);
  const count = (action: string) => {
    onRefusal(action);
    burst.count();
  };
  return {
    count,
    record: async (refused) => {
      count(refused.action);
      const own = `${refused.action} ${refused.reason ?? ''} ${addressGroup(refused.address)}`;
      const key = sums.has(own) || sums.size < MAX_ENTRIES ? own : '';
      const known = sums.get(key);
      if (known) {
        addTo(known, refused);
        await known.position;
        return;
      }
      const sum = newSum(refused, key === '');
      sum.position = audit.begin({ ...entryOf(sum), at: clock.now() }).catch(fail);
      sums.set(key, sum);
      await sum.position;
    },
    onBurst: burst.onBurst,
    lastBurst: burst.last,
    close: async () => {
      end.abort();
      await flushing;
    },
  };
}

/** Starts an entry with its first refusal. */
function newSum(refused: RefusedSignIn, isOfOthers: boolean): Sum {
  const first = isOfOthers ? { ...refused, address: '' } : refused;
  const sum = { position: Promise.resolve(undefined), attempts: 0, accounts: new Set<string>(), first };
  addTo(sum, refused);
  return sum;
}

function addTo(sum: Sum, { account }: RefusedSignIn): void {
  sum.attempts += 1;
  if (account !== undefined && sum.accounts.size < MAX_ACCOUNTS) sum.accounts.add(account);
}

function entryOf(sum: Sum): Omit<AuditEntry, 'position' | 'at'> {
  const { address, action, status } = sum.first;
  return {
    ...{ actor: actorOf(sum), actorKind: 'nobody', address, action, status },
    details: detailsOf(sum),
  };
}

/** The first account, by which the entry can be found. */
function actorOf({ accounts: [first = ''] }: Pick<Sum, 'accounts'>): string {
  return first;
}

function detailsOf({ first, attempts, accounts }: Sum): Record<string, unknown> {
  return {
    attempts,
    ...(accounts.size > 1 && { accounts: [...accounts] }),
    ...(first.reason !== undefined && { refused: first.reason }),
    ...(first.address === '' && { otherAddresses: true }),
  };
}

/** Counts refusals by minutes, and reports when there are too many. */
function burstDetector({ clock, log }: Pick<RefusedSignInsDeps, 'clock' | 'log'>) {
  let minutes = [0];
  let reported: SignInBurst | undefined;
  // The absolute difference is compared, because the clock can be set back.
  const last = () =>
    reported && Math.abs(clock.now() - reported.at) < REPORT_EVERY_MS ? reported : undefined;
  let listener: (burst: SignInBurst) => void = () => {};
  return {
    last,
    onBurst: (added: (burst: SignInBurst) => void) => {
      listener = added;
    },
    nextMinute: () => {
      minutes = [0, ...minutes].slice(0, BURST_MINUTES);
    },
    count: () => {
      minutes[0] = (minutes[0] ?? 0) + 1;
      const attempts = minutes.reduce((sum, one) => sum + one, 0);
      if (attempts < BURST || last()) return;
      reported = { at: clock.now(), attempts };
      log.warn({ attempts }, 'many sign-ins to the admin page were refused within ten minutes');
      listener(reported);
    },
  };
}

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Settings } from '../config/settings.ts';
import { type Database, isDirectoryInUse } from '../store/database.ts';
import {
  deletePersonIdentities,
  deleteUserCredentials,
  leaseIdentities,
  recordErasedTravelers,
  releaseIdentities,
} from '../store/erasure/delete-person.ts';
import {
  areIdentitiesUnchanged,
  type IdentityVersion,
  keepReturnedPerson,
} from '../store/erasure/find-person.ts';
import { redactOtherPeople } from '../store/erasure/redact-others.ts';
import { redactLoggedRequests } from '../store/request-log.ts';
import { travelStore } from '../store/travel-writes.ts';
import { type ErasureDeps, eraseTraveler, reduceEvents } from '../travel/erasure.ts';
import { findConnection, withDatabase } from './connections.ts';
import { type ErasedPerson, findPerson } from './erased-person.ts';
import {
  type ErasurePlan,
  erasureRefusal,
  isEmbeddedAccount,
  planPersonErasure,
  planText,
  remainderText,
  toMentionSearch,
  toReferenceSearch,
  toRequestLogSearch,
} from './erasure-plan.ts';
import type { Shell } from './output.ts';

/** Who is to be erased. */
export interface EraseOptions {
  /** A userName, an address, a SCIM id or a travel id. */
  user: string;
  connection?: string;
  yes?: true;
}

/** How long the leases of the person are held: nothing is sent for them meanwhile. */
const LEASE_MS = 10 * 60_000;
/** How long to wait for a reconciler at work on somebody concerned, longer than its lease lasts; and how often to look. */
const PATIENCE_MS = 130_000;
const LOOK_MS = 200;
/** A server writes requests to its log up to a tenth of a second later. */
const LOG_MS = 1_000;
/** Between two transactions, so that a server that waits for SQLite's lock gets it. */
const PAUSE_MS = 30;

/**
 * Shows what an erasure does and leaves, and with `yes` does it. Works beside a running server, and may be done again after it
 * was interrupted. `unconfirmed`: only the plan was shown.
 */
export function eraseUser(shell: Shell, asked: EraseOptions): Promise<0 | 1 | 'unconfirmed'> {
  return withDatabase(shell, async (database, settings) => {
    if (asked.connection !== undefined && !findConnection(shell, settings, asked.connection)) return 1;
    const seen = await planFor(database, settings, asked);
    if (typeof seen === 'string') return printRefusal(shell, seen);
    const refusal = erasureRefusal(seen);
    if (refusal !== undefined) return printRefusal(shell, refusal);
    shell.print(planText(seen));
    if (!asked.yes) return 'unconfirmed';
    const end = await eraseUnderLeases({ database, settings, asked }, seen);
    if (end !== undefined) return printRefusal(shell, end);
    shell.print(`\n${remainderText(seen)}`);
    return 0;
  });
}

function printRefusal(shell: Shell, text: string): 1 {
  shell.printError(text);
  return 1;
}

/** A sentence: there is nobody, or there are several. */
async function planFor(
  database: Database,
  settings: Settings,
  asked: EraseOptions,
): Promise<ErasurePlan | string> {
  const person = await findPerson(database, {
    ...asked,
    account: embeddedAccount(settings),
    isEmbedded: (account) => isEmbeddedAccount(settings, account),
  });
  if (typeof person === 'string') return person;
  return planPersonErasure(database, settings, { person, ground: erasureDeps(database, settings, person) });
}

/** The account of people who are in the embedded travel service alone. */
function embeddedAccount({ connections }: Settings): string {
  return connections.find(({ travelApi }) => travelApi.url === 'embedded')?.account ?? '';
}

function erasureDeps(
  database: Database,
  { parkingDomain = 'jetbridge.invalid' }: Settings,
  { isNamed, strike }: ErasedPerson,
): ErasureDeps {
  return {
    store: travelStore(database),
    now: Date.now,
    newId: (form) => (form === 'A' ? randomBytes(12).toString('hex') : randomUUID()),
    namesPerson: isNamed,
    redact: strike,
    domain: parkingDomain,
    pause: () => setTimeout(PAUSE_MS),
  };
}

interface EraseContext {
  database: Database;
  settings: Settings;
  asked: EraseOptions;
}

/** Undefined: done; else what went wrong, and what to do. */
async function eraseUnderLeases(runtime: EraseContext, plan: ErasurePlan): Promise<string | undefined> {
  const { database, settings, asked } = runtime;
  const token = randomUUID();
  const places = identityKeys(plan.person);
  const isHeld = await retryUntilDone(async () => {
    const now = Date.now();
    return leaseIdentities(database, places, { token, until: now + LEASE_MS, now });
  });
  if (!isHeld) return 'A server is at work on this person. Nothing was changed; try again.';
  try {
    // The IdP may have written since the plan was made; from here on nothing is sent.
    const seen = await planFor(database, settings, asked);
    if (typeof seen === 'string') return seen;
    const refusal = erasureRefusal(seen);
    if (refusal !== undefined) return refusal;
    if (JSON.stringify(identityKeys(seen.person)) !== JSON.stringify(places)) return CHANGED;
    return await erasePerson(runtime, seen.person, token);
  } finally {
    await releaseIdentities(database, places, token);
  }
}

const CHANGED = 'The person has changed meanwhile. Look at the plan again, and run it once more.';
const RETURNED =
  'The person has changed while they were erased, and is still known: whoever lost the traveler and is wanted active gets a new traveler. Look at the plan again, and run it once more if they are to be erased.';

function identityKeys({ identities }: ErasedPerson): IdentityVersion[] {
  return identities.map(({ connection, id, version }) => ({ connection, id, version }));
}

/**
 * The slow part comes first: whom the IdP wants again meanwhile keeps the traveler. What is found by the traveler goes before it,
 * and the identities go last, so that an erasure that was interrupted finds the person again.
 */
async function erasePerson(
  { database, settings }: EraseContext,
  person: ErasedPerson,
  token: string,
): Promise<string | undefined> {
  const ground = erasureDeps(database, settings, person);
  const identities = identityKeys(person);
  const left = await removeFromOtherRecords(database, ground, { person, after: undefined });
  if (left === 'busy') return 'A server is at work on somebody who names the person. Run it once more.';
  if (!(await areIdentitiesUnchanged(database, identities, token))) return CHANGED;
  const removed = { ...toReferenceSearch(person), account: person.account, identities };
  await recordErasedTravelers(database, removed, Date.now());
  const erased = await eraseTravelers(database, ground, person);
  if ((await deletePersonIdentities(database, removed, { token, now: Date.now() })) === 'lost') {
    await keepReturnedPerson(database, { ...removed, erased });
    return RETURNED;
  }
  if (await isDirectoryInUse(settings.data)) {
    // What the server was about to write when the identities went.
    await setTimeout(LOG_MS);
    if ((await removeFromOtherRecords(database, ground, { person, after: left.last })) === 'busy')
      return 'The person is erased, but a server is at work on somebody who names them; what it writes is removed at its next look.';
  }
  const isEmpty = await retryUntilDone(database.emptyLog);
  return isEmpty
    ? undefined
    : 'The person is erased, but the write-ahead log of the database could not be emptied, as somebody reads from it: stop the server once.';
}

/** Answers which travelers of the embedded travel service there were. */
async function eraseTravelers(
  database: Database,
  ground: ErasureDeps,
  { embeddedIds }: ErasedPerson,
): Promise<string[]> {
  const erased: string[] = [];
  for (const id of embeddedIds) {
    const end = await eraseTraveler(ground, id);
    await deleteUserCredentials(database, id);
    if (end === 'gone') continue;
    erased.push(id);
    // That the traveler has changed or gone was told just now, and that others lost their manager.
    await reduceEvents(ground, id);
  }
  return erased;
}

/** Takes the person out of the records of others. */
async function removeFromOtherRecords(
  database: Database,
  ground: ErasureDeps,
  { person, after }: { person: ErasedPerson; after: number | undefined },
): Promise<{ last: number } | 'busy'> {
  const isDone = await retryUntilDone(async () => {
    const left = await redactOtherPeople(database, toMentionSearch(person), Date.now());
    return left === 0;
  });
  if (!isDone) return 'busy';
  for (const id of person.embeddedIds) await reduceEvents(ground, id);
  return redactLoggedRequests(database, toRequestLogSearch(person), after);
}

/** Tries until it is done; false when that takes too long. */
async function retryUntilDone(attempt: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await attempt())) {
    if (performance.now() > end) return false;
    await setTimeout(LOOK_MS);
  }
  return true;
}

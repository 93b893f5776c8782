import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Settings } from '../../config/settings.ts';
import { deleteExchanges, findExchanges } from '../../log/erasure.ts';
import { travelResourceId } from '../../server/ids.ts';
import {
  deletePersonIdentities,
  deleteUserCredentials,
  leaseIdentities,
  recordErasedTravelers,
  releaseIdentities,
} from '../../store/erasure/delete-person.ts';
import {
  areIdentitiesUnchanged,
  type IdentityVersion,
  keepReturnedPerson,
} from '../../store/erasure/find-person.ts';
import { mendReferrers } from '../../store/erasure/referrers.ts';
import type { Database } from '../../store/sql/database.ts';
import { isInUse } from '../../store/sql/open-database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { type ErasureDeps, eraseTraveler, reduceEvents } from '../../travel/erasure.ts';
import type { CliCommand } from '../command.ts';
import { findConnection, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { printJson, type Shell, startProgress } from '../output.ts';
import { type ErasedPerson, findPerson } from './erased-person.ts';
import {
  type ErasurePlan,
  erasureRefusal,
  isEmbeddedAccount,
  planJson,
  planPersonErasure,
  planText,
  remainderText,
} from './erasure-plan.ts';

/** The person to erase, as the command line gives it. */
export interface EraseOptions {
  /** A userName, an email address, a SCIM id or a travel id. */
  user: string;
  connection?: string;
  yes?: true;
  json?: true;
}

/** Adds the command `erase`. */
export function addEraseCommand(program: CliCommand): void {
  program
    .command('erase')
    .description('show what an erasure of a person who has left would do; with --yes, erase the person')
    .argument('<user>', 'the userName, email address, SCIM id or travel id')
    .option('--connection <id>', 'the connection of the person, if several people have that name')
    .option('--yes', 'erase; it cannot be undone')
    .option('--json', 'one JSON object: the plan, and whether the person is erased')
    .examples('erase ada@corp.example', 'erase ada@corp.example --yes')
    .runs(async (shell, user: string, options: Omit<EraseOptions, 'user'>, command: Command) => {
      const end = await eraseUser(shell, { user, ...options });
      return end === 'unconfirmed' ? command.error('error: nothing was changed: give --yes to erase') : end;
    });
}

/** Duration of the leases on the person's identities, in milliseconds. While they last, the reconciler sends nothing. */
const LEASE_MS = 10 * 60_000;
/** Longest wait for the leases of a running reconciler, in milliseconds; longer than one of these leases. */
const LEASE_WAIT_MS = 130_000;
const RETRY_MS = 200;
/**
 * Wait for requests that a running server has not written to its logs yet, in milliseconds. The server writes them up to
 * 500 ms later.
 */
const LOG_DELAY_MS = 2_000;
/** Pause between two transactions, in milliseconds, so that a server that waits for SQLite's lock gets it. */
const PAUSE_MS = 30;

/**
 * Prints the plan of an erasure and, with `yes`, carries it out. Works while a server runs, and can be repeated after an
 * interruption. Returns `unconfirmed` if only the plan was printed.
 */
export async function eraseUser(shell: Shell, options: EraseOptions): Promise<0 | 1 | 'unconfirmed'> {
  const { connection, yes, json } = options;
  const exit = await withDatabase(shell, async ({ database, settings }) => {
    if (connection !== undefined) findConnection(settings, connection);
    const progress = startProgress(shell, 'search', 'people');
    let read = 0;
    const onRead = (count: number) => {
      read += count;
      progress.update(read, undefined);
    };
    const context = { database, settings, options };
    const plan = await planFor(context, onRead).finally(progress.stop);
    if (!json) shell.print(planText(plan));
    else if (!yes) printJson(shell, { erased: false, ...planJson(plan) });
    if (!yes) return;
    await eraseUnderLeases(context, plan);
    if (json) printJson(shell, { erased: true, ...planJson(plan) });
    else shell.print(`\n${remainderText(plan)}`);
  });
  return exit === 0 && !yes ? 'unconfirmed' : exit;
}

interface EraseContext {
  database: Database;
  settings: Settings;
  options: EraseOptions;
}

/**
 * Throws if no person or several people match, or if the person must not be erased now. `onRead` receives the number of people whose
 * records were searched since the last call.
 */
async function planFor(
  { database, settings, options }: EraseContext,
  onRead: (count: number) => void = () => {},
): Promise<ErasurePlan> {
  const person = await findPerson(database, {
    ...options,
    account: embeddedAccount(settings),
    isEmbedded: (account) => isEmbeddedAccount(settings, account),
  });
  const deps = erasureDeps(database, settings, person);
  const plan = await planPersonErasure(database, settings, { person, deps, onRead });
  const refusal = erasureRefusal(plan);
  if (refusal !== undefined) throw new Refused(refusal);
  return plan;
}

/** The travel account of people whom only the embedded travel service knows. */
function embeddedAccount({ connections }: Settings): string {
  return connections.find(({ travelApi }) => travelApi.url === 'embedded')?.account ?? '';
}

function erasureDeps(
  database: Database,
  { parkingDomain = 'jetbridge.invalid' }: Settings,
  { isNamedInTravel, strike }: ErasedPerson,
): ErasureDeps {
  return {
    store: travelStore(database),
    now: Date.now,
    newId: travelResourceId,
    namesPerson: isNamedInTravel,
    redact: strike,
    domain: parkingDomain,
    pause: () => setTimeout(PAUSE_MS),
  };
}

/** Erases the person while holding the leases of the identities. */
async function eraseUnderLeases(context: EraseContext, plan: ErasurePlan): Promise<void> {
  const { database } = context;
  const token = randomUUID();
  const identities = identityKeys(plan.person);
  const isHeld = await retryUntilDone(async () => {
    const now = Date.now();
    return leaseIdentities(database, identities, { token, ms: LEASE_MS, now });
  });
  if (!isHeld) throw new Refused('A server is at work on this person. Nothing was changed; try again.');
  try {
    // The IdP may have written since the plan was made. With the leases held, nothing more is sent, so plan again.
    const current = await planFor(context);
    if (JSON.stringify(identityKeys(current.person)) !== JSON.stringify(identities))
      throw new Refused(CHANGED);
    await erasePerson(context, current.person, token);
  } finally {
    await releaseIdentities(database, identities, token);
  }
}

const CHANGED = 'The person has changed meanwhile. Look at the plan again, and run it once more.';
const RETURNED =
  'The person has changed while they were erased, and is still known: whoever lost the traveler and is wanted active gets a new traveler. Look at the plan again, and run it once more if they are to be erased.';

function identityKeys({ identities }: ErasedPerson): IdentityVersion[] {
  return identities.map(({ connection, id, version }) => ({ connection, id, version }));
}

/**
 * The order matters. The slow part, the records of others, comes first: if the IdP reactivates the person in the meantime, the
 * traveler is still there. The identities go last, so that an interrupted erasure still finds the person when it is repeated.
 */
async function erasePerson(
  { database, settings }: EraseContext,
  person: ErasedPerson,
  token: string,
): Promise<void> {
  const deps = erasureDeps(database, settings, person);
  const identities = identityKeys(person);
  const removeFromOthers = () => removeFromOtherRecords({ database, deps, person });
  if (!(await removeFromOthers()))
    throw new Refused('A server is at work on somebody who names the person. Run it once more.');
  if (!(await areIdentitiesUnchanged(database, identities, token))) throw new Refused(CHANGED);
  const removed = { ...person, identities };
  await recordErasedTravelers(database, removed, Date.now());
  const erased = await eraseTravelers(database, deps, person);
  if ((await deletePersonIdentities(database, removed, { token, now: Date.now() })) === 'lost') {
    await keepReturnedPerson(database, { ...removed, erased });
    throw new Refused(RETURNED);
  }
  if (await isInUse(settings)) {
    // The server may have written log entries while the identities were removed.
    await setTimeout(LOG_DELAY_MS);
    if (!(await removeFromOthers()))
      throw new Refused(
        'The person is erased, but a server is at work on somebody who names them; what it writes is removed at its next look.',
      );
  }
  if (!(await retryUntilDone(database.emptyLog)))
    throw new Refused(
      'The person is erased, but the write-ahead log of the database could not be emptied, as somebody reads from it: stop the server once.',
    );
}

/** Erases the person's travelers in the embedded travel service and returns their ids. */
async function eraseTravelers(
  database: Database,
  deps: ErasureDeps,
  { embeddedIds }: ErasedPerson,
): Promise<string[]> {
  const erased: string[] = [];
  for (const id of embeddedIds) {
    const outcome = await eraseTraveler(deps, id);
    await deleteUserCredentials(database, id);
    if (outcome === 'gone') continue;
    erased.push(id);
    // The erasure has appended events of its own, about the traveler and about the people whose manager the traveler
    // was. Redact them too.
    await reduceEvents(deps, id);
  }
  return erased;
}

/** Removes the person from the records of other people, from events and from the log. Returns false if a server holds one of the others. */
async function removeFromOtherRecords({
  database,
  deps,
  person,
}: Pick<EraseContext, 'database'> & {
  deps: ErasureDeps;
  person: ErasedPerson;
}): Promise<boolean> {
  const isDone = await retryUntilDone(async () => (await mendReferrers(database, person, Date.now())) === 0);
  if (!isDone) return false;
  for (const id of person.embeddedIds) await reduceEvents(deps, id);
  await deleteExchanges(database, await findExchanges(database, person));
  return true;
}

/** Repeats an attempt until it succeeds. Returns false if it has not succeeded after `LEASE_WAIT_MS`. */
async function retryUntilDone(attempt: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + LEASE_WAIT_MS;
  while (!(await attempt())) {
    if (performance.now() > end) return false;
    await setTimeout(RETRY_MS);
  }
  return true;
}

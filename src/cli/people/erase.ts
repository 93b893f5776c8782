import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Settings } from '../../config/settings.ts';
import { deleteExchanges, findExchanges } from '../../log/erasure.ts';
import { isActive } from '../../schema/resource.ts';
import { travelResourceId } from '../../server/ids.ts';
import { countReferences, deletePerson, deleteUserCredentials } from '../../store/erasure/delete-person.ts';
import type { Database } from '../../store/sql/database.ts';
import { isInUse } from '../../store/sql/open-database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import {
  countErasure,
  type ErasureCounts,
  type ErasureDeps,
  eraseTravelers,
  isActiveAdmin,
  reduceEvents,
} from '../../travel/erasure.ts';
import type { CliCommand } from '../command.ts';
import { findConnection, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { countText, escapeLine, printJson, type Shell, toIsoTime } from '../output.ts';
import { type ErasedPerson, findPerson } from './erased-person.ts';

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

/** Longest wait for a running reconciler, in milliseconds; longer than one of its leases. */
const WAIT_MS = 130_000;
const RETRY_MS = 200;
/** A running server writes requests to its log up to 500 ms later. */
const LOG_DELAY_MS = 1_000;
/** Pause between two transactions, in milliseconds, so that a server that waits for SQLite's lock gets it. */
const PAUSE_MS = 30;

/**
 * Prints the plan of an erasure and, with `yes`, carries it out. Works while a server runs, and can be repeated after an
 * interruption. Returns `unconfirmed` if only the plan was printed.
 */
export async function eraseUser(
  shell: Shell,
  options: EraseOptions,
  logDelayMs = LOG_DELAY_MS,
): Promise<0 | 1 | 'unconfirmed'> {
  const { connection, yes, json } = options;
  const exit = await withDatabase(shell, async ({ database, settings }) => {
    if (connection !== undefined) findConnection(settings, connection);
    const context = { database, settings, options, logDelayMs };
    // The log tells former names.
    if (yes) await waitForLog(context);
    const plan = await planFor(context, await findErasable(context));
    if (!json) shell.print(planText(plan));
    if (yes) await erase(context);
    if (json) printJson(shell, { erased: yes === true, ...planJson(plan) });
    else if (yes) shell.print('\nThe person is erased.');
  });
  return exit === 0 && !yes ? 'unconfirmed' : exit;
}

interface EraseContext {
  database: Database;
  settings: Settings;
  options: EraseOptions;
  logDelayMs: number;
}

/** Finds the person. Throws if no person or several people match, or if the person must not be erased now. */
async function findErasable({ database, settings, options }: EraseContext): Promise<ErasedPerson> {
  const account = settings.connections.find(({ travelApi }) => travelApi.url === 'embedded')?.account ?? '';
  const person = await findPerson(database, { ...options, account });
  const refusal = refusalOf(person, settings);
  if (refusal !== undefined) throw new Refused(refusal);
  return person;
}

/** Returns true if the travelers of the person are in the embedded travel service. */
function isEmbedded({ account, identities }: ErasedPerson, { connections }: Settings): boolean {
  const isOwn = connections.some((one) => one.account === account && one.travelApi.url === 'embedded');
  return isOwn || identities.length === 0;
}

/** Returns the reason for which the person must not be erased now, with its remedy; undefined if nothing prevents it. */
function refusalOf(person: ErasedPerson, settings: Settings): string | undefined {
  const { identities, travelers } = person;
  const wanted = identities.find(
    ({ claimed, deletedAt, desired }) => claimed && deletedAt === undefined && isActive(desired),
  );
  if (wanted)
    return `The identity provider of the connection ${wanted.connection} still wants ${escapeLine(String(wanted.desired.userName))} active (SCIM id ${wanted.id}). Deactivate, unassign or delete the person there; once that has arrived here, erase them.`;
  if (
    identities.some(({ creating, progress }) => creating !== undefined || progress.late || progress.announced)
  )
    return 'A call to the travel API for this person has no known outcome yet and may still be carried out. While the server runs it finds out, within a minute mostly; then erase them.';
  const open = identities.find(({ state }) => state === 'dirty' || state === 'held');
  if (!isEmbedded(person, settings) && open)
    return open.state === 'held'
      ? `The traveler is not taken out of use yet, as an admin must decide (npx jetbridge holds show ${open.id}). Decide it; then erase them.`
      : 'The traveler is not taken out of use in the travel service yet. Let the server run until it is; then erase them.';
  if (travelers.some(isActiveAdmin))
    return 'This person is an active admin of the travel service. Archive the user there, or take the role "admin" away; then erase them.';
  return undefined;
}

/**
 * The order matters. The slow part comes first: if the IdP reactivates the person meanwhile, the person stays. The identities and all
 * references to them go in one transaction. An erasure that ends after that is finished by one that names the traveler.
 */
async function erase(context: EraseContext): Promise<void> {
  const { database, settings } = context;
  let person = await findErasable(context);
  await eraseRecords(context, person);
  const isDeleted = await retryUntilDone(async () => {
    person = await findErasable(context);
    return deletePerson(database, person, Date.now());
  });
  if (!isDeleted)
    throw new Refused(
      'A server is at work on this person, or on somebody whose manager they are. Try again.',
    );
  if (isEmbedded(person, settings)) {
    await eraseTravelers(erasureDeps(context, person), person.travelIds);
    for (const id of person.travelIds) await deleteUserCredentials(database, id);
  }
  // The server may have received requests about the person meanwhile.
  if (await waitForLog(context)) await eraseRecords(context, person);
  if (!(await retryUntilDone(database.emptyLog)))
    throw new Refused(
      'The person is erased, but the write-ahead log of the database could not be emptied, as somebody reads from it: stop the server once.',
    );
}

/** Waits until a running server has written its log. Returns false if there is no server. */
async function waitForLog({ settings, logDelayMs }: EraseContext): Promise<boolean> {
  if (!(await isInUse(settings))) return false;
  await setTimeout(logDelayMs);
  return true;
}

/** Removes the person from the log of exchanges and from events. */
async function eraseRecords(context: EraseContext, person: ErasedPerson): Promise<void> {
  const { database, settings } = context;
  if (isEmbedded(person, settings)) await reduceEvents(erasureDeps(context, person), person.travelIds);
  await deleteExchanges(database, await findExchanges(database, person));
}

function erasureDeps(
  { database, settings: { parkingDomain = 'jetbridge.invalid' } }: EraseContext,
  { namesPerson, redact }: ErasedPerson,
): ErasureDeps {
  return {
    ...{ store: travelStore(database), now: Date.now, newId: travelResourceId, domain: parkingDomain },
    ...{ namesPerson, redact, pause: () => setTimeout(PAUSE_MS) },
  };
}

/** Repeats an attempt until it succeeds. Returns false if it has not succeeded after `WAIT_MS`. */
async function retryUntilDone(attempt: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + WAIT_MS;
  while (!(await attempt())) {
    if (performance.now() > end) return false;
    await setTimeout(RETRY_MS);
  }
  return true;
}

/** The effects of an erasure, counted before it is confirmed. */
interface ErasurePlan {
  person: ErasedPerson;
  groups: number;
  otherPeople: number;
  /** The number of entries of the log of exchanges. */
  requests: number;
  /** What changes in the embedded travel service; undefined if the travelers are elsewhere. */
  travel: ErasureCounts | undefined;
  /** The travel API of the travelers. */
  place: string | undefined;
}

async function planFor(context: EraseContext, person: ErasedPerson): Promise<ErasurePlan> {
  const { database, settings } = context;
  const deps = erasureDeps(context, person);
  return {
    person,
    ...(await countReferences(database, person)),
    requests: (await findExchanges(database, person)).length,
    travel: isEmbedded(person, settings) ? await countErasure(deps, person.travelIds) : undefined,
    place: settings.connections.find(({ account }) => account === person.account)?.travelApi.url,
  };
}

/** Returns the plan as `--json` prints it. */
function planJson({ person, ...counts }: ErasurePlan): object {
  return {
    identities: person.identities.map(({ connection, id, desired, deletedAt }) => ({
      ...{ connection, id, userName: desired.userName, deletedAt: toIsoTime(deletedAt) },
    })),
    travelUserIds: person.travelIds,
    ...counts,
  };
}

/** Returns the text that the admin reads before confirming an erasure. */
function planText({ person, groups, otherPeople, requests, travel, place }: ErasurePlan): string {
  const { identities, travelIds } = person;
  const approvals = (travel?.['travelPolicy'] ?? 0) + (travel?.['projectCode'] ?? 0);
  return [
    'To be erased:',
    ...identities.map(
      ({ id, connection, desired, deletedAt }) =>
        `  ${escapeLine(String(desired.userName))}, SCIM id ${id}, connection ${connection}${deletedAt === undefined ? '' : `, deleted ${toIsoTime(deletedAt)?.slice(0, 10)}`}`,
    ),
    ...travelIds.map(
      (id) =>
        `  the traveler ${id}${travel ? ': deleted, or made anonymous and archived if trips or billing operations refer to it' : ''}`,
    ),
    'Removed:',
    `  the person from ${countText(groups, 'group')}, and as the manager of ${countText(otherPeople, 'other person', 'other people')}`,
    `  ${countText(requests, 'entry', 'entries')} of the log of exchanges`,
    ...(travel
      ? [
          'Reduced in the embedded travel service:',
          `  ${countText(travel['tripProject'] ?? 0, 'trip')}, ${countText(travel['billingOperation'] ?? 0, 'billing operation')} and ${countText(travel['event'] ?? 0, 'event')}; ${countText(travel['user'] ?? 0, 'traveler loses', 'travelers lose')} this manager`,
          ...(approvals > 0
            ? [
                `  ${countText(approvals, 'policy or project code loses its', 'policies and project codes lose their')} approver: choose another`,
              ]
            : []),
        ]
      : []),
    'Kept:',
    ...(travel ? ['  invoices, refunds and disputes, unchanged'] : []),
    `  ${countText(travelIds.length, 'hash of the travel id', 'hashes of the travel ids')}, so that no import brings the person back`,
    'Left to you:',
    ...(travel
      ? []
      : travelIds.map(
          (id) =>
            `  delete or anonymize the traveler ${id} in ${place ?? `the travel account ${person.account}`}, where Jetbridge changes nothing. As long as it has its address, nobody else gets that address by Jetbridge`,
        )),
    '  names of groups, tokens, billing profiles and webhooks, and what others have of the person in attributes other than the manager',
    '  backups, log files, and what webhooks and other programs have received',
  ].join('\n');
}

import type { Settings } from '../../config/settings.ts';
import { heldPeoplePages, heldPersonColumns } from '../../provisioning/holds/held-people.ts';
import {
  answerTo,
  approvalText,
  causeTexts,
  type HeldRules,
  type HoldCount,
  requestedChange,
  toHeldPerson,
} from '../../provisioning/holds/holds.ts';
import type { HoldCause, Identity } from '../../provisioning/identity.ts';
import { provisioningStore } from '../../store/provisioning-store.ts';
import type { Database } from '../../store/sql/database.ts';
import { findConnection, withDatabase } from '../database.ts';
import {
  escapeLine,
  formatMinute,
  jsonLine,
  printCsv,
  printJson,
  printTable,
  type Shell,
  toIsoTime,
} from '../output.ts';
import { ALL, findIdentities, type HoldFilter, policiesOf, selectedConnections } from './held-people.ts';

/** The number of people that the table names as examples in each row. */
const EXAMPLES = 3;

/** Prints the held changes: a table of numbers with examples, or every person as CSV or JSON. */
export function listHolds(
  shell: Shell,
  { csv, json, ...chosen }: HoldFilter & { csv?: true; json?: true },
): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const { holds } = provisioningStore(database);
    if (chosen.connection !== undefined) findConnection(settings, chosen.connection);
    if (csv) {
      const connections = database.scopes.ids().filter((id) => (chosen.connection ?? id) === id);
      return printCsv(shell, heldPersonColumns, heldPeoplePages(holds, connections, chosen.cause));
    }
    const counts = (await holds.countHolds()).filter((count) => isCountSelected(chosen, count));
    if (counts.length === 0) shell.printError('Nothing is held.');
    else if (json) await printHeldPeople(shell, database, counts);
    else await printCounts(shell, database, counts);
  });
}

function isCountSelected({ connection, cause }: HoldFilter, count: HoldCount): boolean {
  return (connection ?? count.connection) === count.connection && (cause ?? count.cause) === count.cause;
}

async function printCounts(shell: Shell, database: Database, counts: HoldCount[]): Promise<void> {
  const { holds } = provisioningStore(database);
  const rows: string[][] = [];
  for (const { connection, cause, count, since } of counts) {
    const examples = await holds.findHeldPeople({ connection, cause, limit: EXAMPLES });
    const names = examples.map(({ userName }) => escapeLine(userName)).join(', ');
    rows.push([connection, cause, peopleCountText(cause, count), formatMinute(since), names || '-']);
  }
  printTable(shell, ['connection', 'cause', 'people', 'since (UTC)', 'e.g.'], rows);
  shell.printError('"npx jetbridge holds show PERSON" tells why and what then happens.');
  if (counts.some(({ cause }) => cause === 'rules'))
    shell.printError('"npx jetbridge preview --people" shows what the rules and lookups would change.');
}

/**
 * Returns the number as text. The people affected by new rules are counted only up to 100, because any higher number
 * needs an admin's decision.
 */
function peopleCountText(cause: HoldCause, count: number): string {
  return cause === 'rules' && count > 100 ? 'more than 100' : String(count);
}

async function printHeldPeople(shell: Shell, database: Database, counts: HoldCount[]): Promise<void> {
  const { holds } = provisioningStore(database);
  for (const { connection, cause } of counts) {
    if (cause === 'rules') {
      const rules = await holds.findHeldRules(connection);
      if (rules && rules.answer === undefined) shell.print(heldRulesLine(rules));
    }
    for (const held of await holds.findHeldPeople({ connection, cause, limit: ALL })) {
      const { id, userName, hold, version } = held;
      const wants = requestedChange(held);
      shell.print(
        jsonLine({ connection, cause, since: toIsoTime(hold.since), id, userName, version, wants }),
      );
    }
  }
}

function heldRulesLine({ connection, people, since, generation }: HeldRules): string {
  return jsonLine({ connection, cause: 'rules', since: toIsoTime(since), people, generation });
}

/** Prints why a person's change is held, since when, and both decisions with their effects and commands. */
export function showHold(
  shell: Shell,
  { person, connection, json }: { person: string; connection?: string; json?: true },
): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const found = await findIdentities(database, selectedConnections(database, settings, connection), person);
    if (json) printJson(shell, ...found.map((identity) => holdJson(settings, identity)));
    else for (const identity of found) shell.print(holdText(settings, identity));
  });
}

function holdJson(settings: Settings, identity: Identity): object {
  const { connection, id, state, desired, version } = identity;
  const person = toHeldPerson(identity);
  const who = { connection, id, userName: desired.userName, version, state };
  if (!person) return who;
  const { cause, since } = person.hold;
  const policies = policiesOf(settings, connection);
  return {
    ...who,
    ...{ cause, since: toIsoTime(since), wants: requestedChange(person) },
    why: causeTexts[cause].why(policies),
    answer: answerTo(identity),
    ifApproved: approvalText(person, policies),
    ifDiscarded: causeTexts[cause].discarded,
  };
}

function holdText(settings: Settings, identity: Identity): string {
  const { connection, id, state } = identity;
  const person = toHeldPerson(identity);
  const who = `${escapeLine(String(identity.desired.userName))} (${id}), connection ${connection}`;
  if (!person) return `${who}\n  waits for no admin; the state is ${state}.`;
  const { cause, since } = person.hold;
  const policies = policiesOf(settings, connection);
  const answered = answerTo(identity);
  return [
    who,
    `  held         since ${formatMinute(since)} (UTC), cause ${cause}`,
    `  why          ${causeTexts[cause].why(policies)}`,
    ...(answered ? [`  answered     ${answered}`] : []),
    `  approve      ${approvalText(person, policies)}: npx jetbridge holds approve ${id}`,
    `  discard      ${causeTexts[cause].discarded}: npx jetbridge holds discard ${id}`,
  ].join('\n');
}

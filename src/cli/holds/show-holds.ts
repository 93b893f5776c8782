import type { Settings } from '../../config/settings.ts';
import { listOpenDecisions, type OpenDecision } from '../../operations/open-decisions.ts';
import { causedBy } from '../../provisioning/holds/caused-by.ts';
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
import type { Identity } from '../../provisioning/identity.ts';
import { auditLog } from '../../store/credentials/audit-log.ts';
import type { ProvisioningStore } from '../../store/provisioning-store.ts';
import { findConnection, type OpenedDatabase, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import {
  countText,
  escapeLine,
  formatMinute,
  jsonLine,
  printCsv,
  printJson,
  printTable,
  type Shell,
  toIsoTime,
} from '../output.ts';
import { affectedText, changeText, exampleLines } from './change-text.ts';
import { ALL, findIdentities, type HoldFilter, policiesOf, selectedConnections } from './held-people.ts';

/** The number of people that the table names as examples in each row. */
const EXAMPLES = 3;

/** Prints the held changes: a table of numbers with examples, or every person as CSV or JSON. */
export function listHolds(
  shell: Shell,
  { csv, json, ...chosen }: HoldFilter & { csv?: true; json?: true },
): Promise<0 | 1> {
  return withDatabase(shell, async (opened) => {
    const { database, settings, store } = opened;
    if (chosen.connection !== undefined) findConnection(settings, chosen.connection);
    if (csv) {
      const connections = database.scopes.ids().filter((id) => (chosen.connection ?? id) === id);
      return printCsv(shell, heldPersonColumns, heldPeoplePages(store.holds, connections, chosen.cause));
    }
    const counts = (await store.holds.countHolds()).filter((count) => isSelected(chosen, count));
    if (counts.length === 0) shell.printError('Nothing is held.');
    else if (json) await printHeldPeople(shell, store, counts);
    else await printCounts(shell, store, counts);
    if (!json) await printDecisions(shell, opened, chosen);
  });
}

function isSelected(
  { connection, cause }: HoldFilter,
  count: Pick<HoldCount, 'connection' | 'cause'>,
): boolean {
  return (connection ?? count.connection) === count.connection && (cause ?? count.cause) === count.cause;
}

async function printCounts(shell: Shell, store: ProvisioningStore, counts: HoldCount[]): Promise<void> {
  const rows: string[][] = [];
  const changes: string[] = [];
  for (const { connection, cause, count, since } of counts) {
    const examples = await store.holds.findHeldPeople({ connection, cause, limit: EXAMPLES });
    const names = examples.map(({ userName }) => escapeLine(userName)).join(', ');
    const change = cause === 'rules' ? await findWaitingChange(store, connection) : undefined;
    if (change) changes.push(changeText(change, await causedBy({ connection, cause }, store)));
    const people = change ? affectedText(change) : String(count);
    rows.push([connection, cause, people, formatMinute(since), names || '-']);
  }
  printTable(shell, ['connection', 'cause', 'people', 'since (UTC)', 'e.g.'], rows);
  for (const text of changes) shell.print(text);
  shell.printError('"npx jetbridge holds show PERSON" tells why and what then happens.');
  if (changes.length > 0)
    shell.printError('"npx jetbridge holds show --cause rules" names people whom a change of rules affects.');
}

async function findWaitingChange(
  { holds }: ProvisioningStore,
  connection: string,
): Promise<HeldRules | undefined> {
  const held = await holds.findHeldRules(connection);
  return held && held.answer === undefined ? held : undefined;
}

/** Prints the decisions that are being carried out. */
async function printDecisions(
  shell: Shell,
  { database, store: { holds } }: OpenedDatabase,
  chosen: HoldFilter,
): Promise<void> {
  const deps = { audit: auditLog(database), holds, now: Date.now() };
  for (const decision of await listOpenDecisions(deps, database.scopes.ids()))
    if (isSelected(chosen, decision)) shell.print(openDecisionText(decision));
}

function openDecisionText({ connection, cause, answer, by, people, left, affected }: OpenDecision): string {
  const about = affected === undefined ? '' : `, of whom the change affects ${affected}`;
  return `${connection}, ${cause}: ${answer} (${escapeLine(by)}); ${people - left} of ${countText(people, 'person', 'people')} are done so far${about}.`;
}

async function printHeldPeople(shell: Shell, store: ProvisioningStore, counts: HoldCount[]): Promise<void> {
  for (const { connection, cause } of counts) {
    if (cause === 'rules') {
      const rules = await findWaitingChange(store, connection);
      if (rules) shell.print(heldRulesLine(rules));
    }
    for (const held of await store.holds.findHeldPeople({ connection, cause, limit: ALL })) {
      const { id, userName, hold, version } = held;
      const wants = requestedChange(held);
      shell.print(
        jsonLine({ connection, cause, since: toIsoTime(hold.since), id, userName, version, wants }),
      );
    }
  }
}

function heldRulesLine({ connection, people, since, generation, effect }: HeldRules): string {
  return jsonLine({ connection, cause: 'rules', since: toIsoTime(since), people, generation, effect });
}

/** Prints the held changes of rules with their whole effect, and the commands of both decisions. */
export function showChanges(
  shell: Shell,
  { connection: chosen, json }: { connection?: string; json?: true },
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    let shown = 0;
    for (const connection of selectedConnections(database, settings, chosen)) {
      const held = await findWaitingChange(store, connection);
      if (!held) continue;
      shown += 1;
      if (json) shell.print(heldRulesLine(held));
      else shell.print(await wholeChangeText(store, held));
    }
    if (shown === 0) throw new Refused('No change of rules is held.');
  });
}

async function wholeChangeText(store: ProvisioningStore, held: HeldRules): Promise<string> {
  const { connection } = held;
  const cause = await causedBy({ connection, cause: 'rules' }, store);
  const command = (name: string) =>
    `npx jetbridge holds ${name} --cause rules --connection ${escapeLine(connection)}`;
  return [
    changeText(held, cause),
    ...exampleLines(held),
    `  approve      ${causeTexts.rules.approved}: ${command('approve')}`,
    `  discard      ${causeTexts.rules.discarded}: ${command('discard')}`,
  ].join('\n');
}

/** Prints why a person's change is held, since when, and both decisions with their effects and commands. */
export function showHold(
  shell: Shell,
  { person, connection, json }: { person: string; connection?: string; json?: true },
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    const found = await findIdentities(store, selectedConnections(database, settings, connection), person);
    for (const identity of found) {
      const cause = identity.hold?.cause;
      const causes =
        cause === 'rules' ? await causedBy({ connection: identity.connection, cause }, store) : undefined;
      if (json) printJson(shell, holdJson(settings, identity, causes));
      else shell.print(holdText(settings, identity, causes));
    }
  });
}

/** `causes`: the changes of rules and lookups that the hold comes from; undefined for other causes. */
function holdJson(settings: Settings, identity: Identity, causes: string | undefined): object {
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
    causedBy: causes,
    ifApproved: approvalText(person, policies),
    ifDiscarded: causeTexts[cause].discarded,
  };
}

function holdText(settings: Settings, identity: Identity, causes: string | undefined): string {
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
    ...(causes === undefined ? [] : [`  caused by    ${escapeLine(causes)}`]),
    ...(answered ? [`  answered     ${answered}`] : []),
    `  approve      ${approvalText(person, policies)}: npx jetbridge holds approve ${id}`,
    `  discard      ${causeTexts[cause].discarded}: npx jetbridge holds discard ${id}`,
  ].join('\n');
}

import { type Command, Option } from 'commander';
import type { Settings } from '../config/settings.ts';
import type { HeldPerson, HeldRules, HoldCount } from '../provisioning/hold-ports.ts';
import {
  answerTo,
  approvalText,
  causeTexts,
  requestedChange,
  toHeldPerson,
} from '../provisioning/hold-texts.ts';
import type { HoldCause, Identity } from '../provisioning/identity.ts';
import type { Policies } from '../provisioning/policies.ts';
import type { Database } from '../store/database.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import { findConnection, withDatabase } from './connections.ts';
import { examples } from './help.ts';
import { type Answer, decisionText, type HeldItems } from './hold-texts.ts';
import {
  type Action,
  escapeLine,
  formatMinute,
  jsonLine,
  printJson,
  printTable,
  type Shell,
  toIsoTime,
} from './output.ts';

const causes = ['safetyValve', 'guarded', 'return', 'rules'] satisfies HoldCause[];

/** Adds the commands `holds list`, `holds show`, `holds approve` and `holds discard`. */
export function addHoldCommands(program: Command, shell: Shell, action: Action): void {
  const holds = program.command('holds').description('changes that wait for the decision of an admin');
  holds
    .command('list')
    .description('list how many people wait for each cause, since when, with examples')
    .addOption(causeOption())
    .option('--connection <id>', 'only this connection')
    .option('--json', 'one JSON object for each person')
    .addHelpText('after', examples('holds list', 'holds list --cause safetyValve --json'))
    .action(
      action((options: { cause?: HoldCause; connection?: string; json?: true }) => listHolds(shell, options)),
    );
  holds
    .command('show')
    .description('show why a person waits, and what each decision would do')
    .argument('<person>', 'the SCIM id or userName')
    .option('--connection <id>', 'only this connection')
    .option('--json', 'one JSON object for each person of that name')
    .addHelpText('after', examples('holds show ada@corp.example'))
    .action(
      action((person: string, options: { connection?: string; json?: true }) =>
        showHold(shell, { person, ...options }),
      ),
    );
  addDecisionCommand(holds, shell, {
    action,
    name: 'approve',
    answer: 'approved',
    text: 'carry out held changes',
  });
  addDecisionCommand(holds, shell, {
    action,
    name: 'discard',
    answer: 'discarded',
    text: 'drop held changes; the travelers stay as they are',
  });
}

function causeOption(): Option {
  return new Option('--cause <cause>', 'only this cause').choices(causes);
}

interface DecisionOptions {
  cause?: HoldCause;
  connection?: string;
  all?: true;
  yes?: true;
  json?: true;
}

interface DecisionCommand {
  action: Action;
  name: string;
  answer: 'approved' | 'discarded';
  text: string;
}

function addDecisionCommand(
  holds: Command,
  shell: Shell,
  { action, name, answer, text }: DecisionCommand,
): void {
  holds
    .command(name)
    .description(text)
    .argument('[people...]', 'SCIM ids or userNames')
    .addOption(causeOption())
    .option('--connection <id>', 'only this connection')
    .option('--all', 'everything that is held')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      examples(
        `holds ${name} ada@corp.example`,
        `holds ${name} --cause safetyValve --connection default`,
        `holds ${name} --all --yes`,
      ),
    )
    .action(
      action(async (people: string[], options: DecisionOptions, command: Command) => {
        const { all, ...chosen } = options;
        const ways = [people.length > 0, options.cause !== undefined, all === true].filter(Boolean);
        if (ways.length !== 1)
          return command.error('error: give either people, or --cause <cause>, or --all');
        if (!options.yes && !shell.ask)
          return command.error('error: nobody can be asked here: look with "holds list", then give --yes');
        return decideHolds(shell, { answer, people, ...chosen });
      }),
    );
}

/** The number of people that the table names as examples in each row. */
const EXAMPLES = 3;
const ALL = Number.MAX_SAFE_INTEGER;

/** Selects held changes by connection and cause. */
interface HoldFilter {
  connection?: string;
  cause?: HoldCause;
}

/** Prints the held changes: a table of numbers with examples, or every person as JSON. */
export function listHolds(shell: Shell, { json, ...chosen }: HoldFilter & { json?: true }): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const { holds } = provisioningStore(database);
    if (!isConnectionKnown(shell, settings, chosen)) return 1;
    const counts = (await holds.countHolds()).filter((count) => isCountSelected(chosen, count));
    if (counts.length === 0) shell.printError('Nothing is held.');
    else if (json) await printHeldPeople(shell, database, counts);
    else await printCounts(shell, database, counts);
    return 0;
  });
}

function isConnectionKnown(shell: Shell, settings: Settings, { connection }: HoldFilter): boolean {
  return connection === undefined || findConnection(shell, settings, connection) !== undefined;
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
    if (!isConnectionKnown(shell, settings, connection === undefined ? {} : { connection })) return 1;
    const found = await findIdentities(database, selectedConnections(database, settings, connection), person);
    if (found.length === 0) return printUnknownPerson(shell, person);
    if (json) printJson(shell, ...found.map((identity) => holdJson(settings, identity)));
    else for (const identity of found) shell.print(holdText(settings, identity));
    return 0;
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

function policiesOf({ connections }: Settings, connection: string): Policies | undefined {
  return connections.find(({ id }) => id === connection)?.policies;
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

function printUnknownPerson(shell: Shell, person: string): 1 {
  shell.printError(`There is no person with the SCIM id or userName ${escapeLine(person)}.`);
  return 1;
}

/** Without the connections that no server has been started with: the database does not have them. */
function selectedConnections(
  { scopes }: Database,
  { connections }: Settings,
  chosen: string | undefined,
): string[] {
  return connections.map(({ id }) => id).filter((id) => (chosen ?? id) === id && scopes.has(id));
}

/**
 * Finds identities by SCIM id or userName in these connections, including tombstones. If some of them are held, returns
 * only those.
 */
async function findIdentities(
  database: Database,
  connections: string[],
  person: string,
): Promise<Identity[]> {
  const { identities } = provisioningStore(database);
  const found: Identity[] = [];
  for (const connection of connections) {
    const identity = await identities.findById(connection, person);
    found.push(
      ...(identity ? [identity] : await identities.find(connection, { by: 'userName', value: person })),
    );
  }
  const held = found.filter(({ hold }) => hold !== undefined);
  return held.length > 0 ? held : found;
}

/** An admin's decision, and the people or the cause that it applies to. */
export interface DecisionRequest extends HoldFilter {
  answer: Answer;
  people: readonly string[];
  /** Decide without asking for confirmation. */
  yes?: true;
  json?: true;
}

/** Approves or discards held changes, after the admin has seen and confirmed how many people they concern. */
export function decideHolds(shell: Shell, decided: DecisionRequest): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    if (!isConnectionKnown(shell, settings, decided)) return 1;
    const about =
      decided.people.length > 0
        ? await findHeldPeople(shell, database, { settings, decided })
        : await findHeldItems(database, settings, decided);
    if (!about) return 1;
    if (about.people.length === 0 && about.rules.length === 0) {
      shell.printError('Nothing of that kind is held.');
      return 1;
    }
    const text = decisionText(about, decided.answer, settings);
    if (!decided.yes && !(await isConfirmed(shell, text))) return 1;
    if (!(await areRulesUnchanged(database, about.rules))) {
      shell.printError('The rules or lookups have changed meanwhile. Nothing was decided; look again.');
      return 1;
    }
    await saveDecisions(database, about, decided.answer);
    const { answer, json } = decided;
    const rules = about.rules.map(({ connection }) => ({ connection }));
    const people = about.people.map(({ connection, id, userName }) => ({ connection, id, userName }));
    if (json) printJson(shell, { answer, people, rules });
    else shell.print(`${answer}: ${text}`);
    return 0;
  });
}

async function isConfirmed(shell: Shell, text: string): Promise<boolean> {
  const answer = (await shell.ask?.(`${text}. Go on? [y/N] `)) ?? '';
  if (/^y(es)?$/i.test(answer.trim())) return true;
  shell.printError('Nothing was decided.');
  return false;
}

/** Finds the named people. If one of them is unknown or not held, prints that and returns undefined. */
async function findHeldPeople(
  shell: Shell,
  database: Database,
  { settings, decided }: { settings: Settings; decided: DecisionRequest },
): Promise<HeldItems | undefined> {
  const people: HeldPerson[] = [];
  for (const name of new Set(decided.people)) {
    const found = await findIdentities(
      database,
      selectedConnections(database, settings, decided.connection),
      name,
    );
    const held = found.flatMap((identity) => toHeldPerson(identity) ?? []);
    const [first] = held;
    if (found.length === 0) printUnknownPerson(shell, name);
    else if (!first) shell.printError(`${escapeLine(name)} is not held.`);
    else if (held.length > 1) shell.printError(ambiguousText(name, held));
    else people.push(first);
    if (held.length !== 1) return undefined;
  }
  return { people, rules: [] };
}

function ambiguousText(name: string, held: HeldPerson[]): string {
  const places = held.map(({ connection, id }) => `${id} (connection ${connection})`).join(', ');
  return `${escapeLine(name)} is held several times: ${places}. Give the id, or add --connection.`;
}

/**
 * Finds the held people and changes of rules. To approve the cause `rules`, also returns a discarded change, because
 * that decision can be reversed.
 */
async function findHeldItems(
  database: Database,
  settings: Settings,
  chosen: DecisionRequest,
): Promise<HeldItems> {
  const { holds } = provisioningStore(database);
  const { connection, cause, answer } = chosen;
  const people = await holds.findHeldPeople({ connection, cause, limit: ALL });
  if (cause !== undefined && cause !== 'rules') return { people, rules: [] };
  const rules: HeldRules[] = [];
  for (const name of selectedConnections(database, settings, connection)) {
    const held = await holds.findHeldRules(name);
    const isReversed = cause === 'rules' && answer === 'approved' && held?.answer === 'discarded';
    if (held && (held.answer === undefined || isReversed)) rules.push(held);
  }
  return { people, rules };
}

async function areRulesUnchanged(database: Database, rules: HeldRules[]): Promise<boolean> {
  const { holds } = provisioningStore(database);
  const now = await Promise.all(rules.map(({ connection }) => holds.findHeldRules(connection)));
  return now.every((held, index) => held?.generation === rules[index]?.generation);
}

/** Decides by id, because more people may have become held since the admin confirmed the number. */
async function saveDecisions(
  database: Database,
  { people, rules }: HeldItems,
  answer: Answer,
): Promise<void> {
  const { holds } = provisioningStore(database);
  const now = Date.now();
  const byConnection = new Map<string, string[]>();
  for (const { connection, id } of people) {
    const ids = byConnection.get(connection) ?? [];
    ids.push(id);
    byConnection.set(connection, ids);
  }
  for (const [connection, ids] of byConnection) await holds.decide(connection, { ids }, answer, now);
  for (const { connection } of rules) await holds.decide(connection, { cause: 'rules' }, answer, now);
}

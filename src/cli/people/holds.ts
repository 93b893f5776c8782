import type { z } from 'zod';
import type { Identity } from '../../model/identity.ts';
import { chosenConnections } from '../../operations/deps.ts';
import { OperationError } from '../../operations/errors.ts';
import { type HoldGroup, holdOperations } from '../../operations/holds/holds.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { heldPersonColumns } from '../../provisioning/holds/held-people.ts';
import {
  consequenceText,
  type HoldAnswer,
  outcomeText,
  progressText,
} from '../../provisioning/holds/hold-texts.ts';
import type { CliCommand } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { downloadPages, listPages, type Operator, withOperations } from '../operations.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import { addInputOptions } from '../terminal/input-options.ts';
import { countText, escapeLine, formatMinute, printJson, type Shell } from '../terminal/output.ts';
import {
  addListFlags,
  factLines,
  type ListFlags,
  printList,
  printResult,
  printRows,
} from '../terminal/printers.ts';
import { findPerson } from './find-person.ts';

const { query } = holdOperations.downloadHeldPeople;
const { result: listed } = holdOperations.listHolds;

type Filter = z.input<typeof query>;
type Group = OperationOutput<typeof holdOperations.listHolds>['groups'][number];

/** Defines the commands `holds list`, `holds show`, `holds approve` and `holds discard`. */
export function defineHoldCommands(holds: CliCommand): void {
  addListCommand(holds);
  addShowCommand(holds);
  addDecisionCommand(holds, { name: 'approve', answer: 'approved', text: 'carry out held changes' });
  addDecisionCommand(holds, {
    ...{ name: 'discard', answer: 'discarded' },
    text: 'drop held changes; the travelers stay as they are',
  });
}

/** Adds the options that select groups. */
function addFilterOptions(command: CliCommand): CliCommand {
  return addInputOptions(command, query, {
    cause: { description: 'only this cause' },
    connection: { flags: '--connection <id>', description: 'only this connection' },
  });
}

function addListCommand(holds: CliCommand): void {
  const command = holds
    .command('list')
    .description('list how many people wait for each cause, since when, with examples');
  addListFlags(addFilterOptions(command))
    .examples('holds list', 'holds list --cause safetyValve --json', 'holds list --csv > holds.csv')
    .runs((shell, { csv, json, ...filter }: ListFlags & Filter) =>
      withOperations(shell, async (operator) => {
        if (csv) return printHeldPeople(shell, operator, filter);
        const { groups, decisions, groupsJson } = await findHolds(operator, filter);
        if (groups.length === 0) shell.printError('Nothing is held.');
        if (json) return printGroupsAsJson(shell, operator, groupsJson);
        if (groups.length > 0) printGroups(shell, groups);
        for (const { connection, cause, by, ...decision } of decisions)
          shell.print(
            escapeLine(`${connection}, ${cause}: ${decision.answer} by ${by}. ${progressText(decision)}`),
          );
      }),
    );
}

/** Finds what is held in the chosen connections for the chosen cause, and the decisions about it that are being carried out. */
async function findHolds({ call, deps }: Operator, { connection, cause }: Filter) {
  const chosen = connection === undefined ? undefined : chosenConnections(deps, connection);
  const isChosen = (one: Pick<Group, 'connection' | 'cause'>) =>
    (chosen?.includes(one.connection) ?? true) && (cause ?? one.cause) === one.cause;
  const all = await call(holdOperations, 'listHolds', {});
  const groups = all.groups.filter(isChosen);
  return {
    groups,
    groupsJson: listed.encode({ ...all, groups }).groups,
    decisions: all.decisions.filter(isChosen),
  };
}

function printHeldPeople(shell: Shell, operator: Operator, filter: Filter): Promise<void> {
  const pages = downloadPages(operator, [holdOperations, 'downloadHeldPeople'], filter);
  return printList(shell, { csv: true }, pages, { columns: heldPersonColumns, none: 'Nothing is held.' });
}

async function printGroupsAsJson(shell: Shell, operator: Operator, groups: HoldGroup[]): Promise<void> {
  for (const { connection, cause } of groups) {
    const list = [holdOperations, 'listHeldPeople', 'people'] as const;
    for await (const { json } of listPages(operator, list, { connection, cause })) {
      if (shell.isOutputClosed?.()) return;
      printJson(shell, ...json.map((person) => ({ connection, cause, ...person })));
    }
  }
}

function printGroups(shell: Shell, groups: Group[]): void {
  printRows(shell, groups, {
    connection: ({ connection }) => connection,
    cause: ({ cause }) => cause,
    people: ({ people }) => countText(people, 'person', 'people'),
    since: ({ since }) => new Date(since),
    'e.g.': ({ examples }) => examples.map(({ userName }) => userName).join(', '),
  });
  shell.printError('"npx jetbridge holds show PERSON" tells why and what then happens.');
}

interface ShowFlags {
  connection?: string;
  json?: true;
}

function addShowCommand(holds: CliCommand): void {
  holds
    .command('show')
    .description('show why a person waits, and what each decision would do')
    .argument('<person>', 'the userName, email address, SCIM id or travel user id')
    .option('--connection <id>', 'only this connection')
    .option('--json', 'one JSON object')
    .examples('holds show ada@corp.example')
    .runs((shell, person: string, flags: ShowFlags) =>
      withOperations(shell, (operator) => showHold(shell, operator, { person, ...flags })),
    );
}

function decisionFacts(which: string, ifApproved: string, ifDiscarded: string): [string, string][] {
  return [
    ['approve', `${ifApproved.replace(/\.$/, '')}: npx jetbridge holds approve ${which}`],
    ['discard', `${ifDiscarded}: npx jetbridge holds discard ${which}`],
  ];
}

/** Prints why a person's change is held, since when, and both decisions with their effects and commands. */
async function showHold(
  shell: Shell,
  operator: Operator,
  { person, json, ...place }: ShowFlags & { person: string },
): Promise<void> {
  const hold = await findHold(operator, person, place.connection);
  const { connection, id } = hold;
  const facts = factLines([
    ['held', `since ${formatMinute(hold.since)} (UTC), cause ${hold.cause}`],
    ['why', hold.why],
    ['caused by', hold.causedBy],
    ['answered', hold.answer],
    ...decisionFacts(id, hold.ifApproved, hold.ifDiscarded),
  ]);
  const head = `${escapeLine(hold.userName)} (${id}), connection ${connection}`;
  const { result } = holdOperations.explainHold;
  printResult(shell, { json }, result.encode(hold), () => [head, ...facts].join('\n'));
}

/** Explains the hold of the named person. Throws Refused if there is none. */
async function findHold({ call, deps }: Operator, name: string, chosen: string | undefined) {
  const isHeld = ({ hold }: Identity) => hold !== undefined;
  const { connection, id, identity } = await findPerson(deps, name, chosen, isHeld);
  if (!isHeld(identity)) throw new Refused(`${escapeLine(name)} is not held.`);
  return call(holdOperations, 'explainHold', { connection, id });
}

type DecisionFlags = ChangeFlags & Filter & { all?: true };

interface DecisionCommand {
  name: string;
  answer: HoldAnswer;
  text: string;
}

function addDecisionCommand(holds: CliCommand, { name, answer, text }: DecisionCommand): void {
  const command = holds
    .command(name)
    .description(text)
    .argument('[people...]', 'userNames, email addresses, SCIM ids or travel user ids');
  addChangeFlags(addFilterOptions(command).option('--all', 'everything that is held'))
    .examples(
      `holds ${name} ada@corp.example`,
      `holds ${name} --cause safetyValve --connection default`,
      `holds ${name} --all --yes`,
    )
    .runs((shell, people: string[], { all, yes, json, ...filter }: DecisionFlags) => {
      const ways = [people.length > 0, filter.cause !== undefined, all === true].filter(Boolean);
      if (ways.length !== 1) throw new WrongUse('give either people, or --cause <cause>, or --all');
      return withOperations(shell, async (operator) => {
        const decisions =
          people.length > 0
            ? await findPeople(operator, people, filter.connection)
            : (await findHolds(operator, filter)).groups.map(toDecision);
        if (decisions.length === 0) throw new Refused('Nothing of that kind is held.');
        await decide(shell, operator, { answer, decisions, flags: { yes, json } });
      });
    });
}

/** A decision about one connection and cause, and what an approval does. */
interface Decision extends Pick<Group, 'connection' | 'cause' | 'effects'> {
  /** The members of the input of `decideHolds` that name the people. */
  subject: { people: { id: string; version: number }[] } | { count: number };
}

function toDecision({ people: count, ...group }: Group): Decision {
  return { ...group, subject: { count } };
}

/** Finds the named people, who are all held, by connection and cause. */
async function findPeople(
  operator: Operator,
  names: string[],
  chosen: string | undefined,
): Promise<Decision[]> {
  const found = new Map<string, Decision & { subject: { people: { id: string; version: number }[] } }>();
  for (const name of new Set(names)) {
    const { connection, id, cause, version, effect } = await findHold(operator, name, chosen);
    const decision = found.get(`${connection} ${cause}`) ?? {
      ...{ connection, cause, subject: { people: [] } },
      effects: { archived: 0, deleted: 0, changed: 0 },
    };
    decision.effects[effect] += 1;
    decision.subject.people.push({ id, version });
    found.set(`${connection} ${cause}`, decision);
  }
  return [...found.values()];
}

/** Decides after the admin has confirmed the numbers. Others may have become held since, or these may have been written: that is refused. */
async function decide(
  shell: Shell,
  { call }: Operator,
  { answer, decisions, flags }: { answer: HoldAnswer; decisions: Decision[]; flags: ChangeFlags },
): Promise<void> {
  for (const { connection, cause, ...facts } of decisions)
    shell.printError(escapeLine(`${connection}, ${cause}: ${consequenceText(answer, facts)}`));
  await confirmChange(shell, answer === 'approved' ? 'Approve?' : 'Discard?', flags);
  let refusals = 0;
  for (const { connection, cause, subject } of decisions) {
    const input = { connection, cause, answer, ...subject };
    try {
      const result = await call(holdOperations, 'decideHolds', input);
      const text = () => escapeLine(`${connection}, ${cause}: ${outcomeText(answer, result)}`);
      printResult(shell, flags, { connection, cause, answer, ...result }, text);
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      refusals += 1;
      shell.printError(escapeLine(`${connection}, ${cause}: ${error.message}`));
    }
  }
  if (refusals > 0) throw new Refused('');
  shell.printError('"npx jetbridge holds list" shows how far that is done.');
}

import type { z } from 'zod';
import { chosenConnections } from '../operations/deps.ts';
import { OperationError } from '../operations/errors.ts';
import { type HoldGroup, holdOperations } from '../operations/holds.ts';
import type { OperationOutput } from '../operations/operation.ts';
import { heldPersonColumns } from '../provisioning/holds/held-people.ts';
import {
  consequenceText,
  groupText,
  type HoldAnswer,
  outcomeText,
  progressText,
  valuesText,
} from '../provisioning/holds/hold-texts.ts';
import type { Identity } from '../provisioning/identity.ts';
import { fieldLabel, valueText } from '../provisioning/rules/value-texts.ts';
import { choiceOption } from './arguments.ts';
import type { CliCommand } from './command.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from './confirmation.ts';
import { Refused, WrongUse } from './exit-code.ts';
import { addInputOptions } from './input-options.ts';
import { downloadPages, listPages, type Operator, withOperations } from './operations.ts';
import { escapeLine, formatMinute, printJson, type Shell } from './output.ts';
import { findPerson } from './people/find-person.ts';
import { addListFlags, factLines, type ListFlags, printList, printResult, printRows } from './printers.ts';

const { query } = holdOperations.downloadHeldPeople;
const { result: listed } = holdOperations.listHolds;

type Filter = z.input<typeof query>;
type Group = OperationOutput<typeof holdOperations.listHolds>['groups'][number];

/** Adds the commands `holds list`, `holds show`, `holds approve` and `holds discard`. */
export function addHoldCommands(program: CliCommand): void {
  const holds = program.command('holds').description('changes that wait for the decision of an admin');
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

/** Prints each person, and before them the change of rules that holds them. */
async function printGroupsAsJson(shell: Shell, operator: Operator, groups: HoldGroup[]): Promise<void> {
  for (const group of groups) {
    const { connection, cause } = group;
    if (group.generation !== undefined) printJson(shell, group);
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
    people: (group) => groupText(group),
    since: ({ since }) => new Date(since),
    'e.g.': ({ examples }) => examples.map(({ userName }) => userName).join(', '),
  });
  const changes = groups.filter(isChangeOfRules);
  for (const change of changes) shell.print(changeText(change).join('\n'));
  shell.printError('"npx jetbridge holds show PERSON" tells why and what then happens.');
  if (changes.length > 0)
    shell.printError('"npx jetbridge holds show --cause rules" names people whom a change of rules affects.');
}

/** True if the group is a change of rules that waits for a decision. */
function isChangeOfRules({ generation }: Group): boolean {
  return generation !== undefined;
}

/** Says whom a held change of rules affects and what has caused it, with its fields and their most frequent values. */
function changeText(group: Group): string[] {
  const { connection, causedBy, effect } = group;
  const counting = effect
    ? `${effect.looked} people were looked at so far; look again`
    : 'a running server counts all people whom it affects';
  const fields = (effect?.fields ?? []).map(({ field, people, ...values }) => {
    const name = fieldLabel(field, effect?.names ?? {});
    const who = groupText({ people, isMore: false });
    return escapeLine(`  ${name}: ${who}: ${valuesText(values, effect?.names ?? {})}`);
  });
  return [
    `${connection}: a change of rules would change ${groupText(group)}.`,
    ...factLines([
      ['caused by', causedBy],
      ['counting', group.isMore ? counting : undefined],
    ]),
    ...fields,
  ];
}

interface ShowFlags {
  cause?: 'rules';
  connection?: string;
  json?: true;
}

function addShowCommand(holds: CliCommand): void {
  holds
    .command('show')
    .description(
      'show why a person waits, or whom a change of rules affects and what has caused it, and what each decision would do',
    )
    .argument('[person]', 'the userName, email address, SCIM id or travel user id')
    .addOption(choiceOption('--cause <cause>', 'the held changes of rules', ['rules']))
    .option('--connection <id>', 'only this connection')
    .option('--json', 'one JSON object for the person, or for each change')
    .examples('holds show ada@corp.example', 'holds show --cause rules')
    .runs((shell, person: string | undefined, { cause, ...flags }: ShowFlags) => {
      if ((person === undefined) === (cause === undefined))
        throw new WrongUse('give either a person or --cause rules');
      return withOperations(shell, (operator) =>
        person === undefined
          ? showChanges(shell, operator, flags)
          : showHold(shell, operator, { person, ...flags }),
      );
    });
}

/** Prints the held changes of rules with their whole effect, and the commands of both decisions. */
async function showChanges(shell: Shell, operator: Operator, { connection, json }: ShowFlags): Promise<void> {
  const { groups, groupsJson } = await findHolds(operator, { connection, cause: 'rules' });
  const changes = groups.filter(isChangeOfRules);
  if (changes.length === 0) throw new Refused('No change of rules is held.');
  if (json) return printJson(shell, ...groupsJson.filter(({ generation }) => generation !== undefined));
  for (const change of changes) {
    const examples = (change.effect?.examples ?? []).map((example) => {
      const names = change.effect?.names ?? {};
      const values = example.changes.map(
        ({ field, before, after }) =>
          `${fieldLabel(field, names)} ${valueText(before, names)} → ${valueText(after, names)}`,
      );
      return escapeLine(`  e.g. ${example.userName} (${example.id}): ${values.join(', ')}`);
    });
    const which = `--cause rules --connection ${change.connection}`;
    const decisions = decisionFacts(which, consequenceText('approved', change), change.ifDiscarded);
    shell.print([...changeText(change), ...examples, ...factLines(decisions)].join('\n'));
  }
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
interface Decision extends Pick<Group, 'connection' | 'cause' | 'effects' | 'isMore'> {
  /** The members of the input of `decideHolds` that name the people. */
  subject: { people: { id: string; version: number }[] } | Record<'count' | 'generation', number | undefined>;
}

function toDecision({ people: count, generation, ...group }: Group): Decision {
  return { ...group, subject: { count, generation } };
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
      ...{ connection, cause, isMore: false, subject: { people: [] } },
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

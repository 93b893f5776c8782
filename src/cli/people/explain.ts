import { fieldLabel, valueText } from '../../model/value-texts.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { personOperations } from '../../operations/people/person.ts';
import {
  decidingRules,
  idpValue,
  originTexts,
  referenceTexts,
  ruleDetails,
  standingTexts,
  statusWord,
  UNMANAGED_TEXT,
} from '../../provisioning/people/person-texts.ts';
import type { CliCommand } from '../command.ts';
import { type Operator, withOperations } from '../operations.ts';
import { escapeLine, formatMinute, type Shell } from '../terminal/output.ts';
import { factLines, printResult } from '../terminal/printers.ts';
import { findPerson } from './find-person.ts';

interface ExplainFlags {
  connection?: string;
  json?: true;
}

/** Defines the command `explain`. */
export function defineExplainCommand(command: CliCommand): void {
  command
    .argument('<person>', 'the userName, email address, SCIM id or travel user id')
    .option('--connection <id>', 'the connection of the person, if several people have that name')
    .option('--json', 'one JSON object')
    .examples('explain ada@corp.example', 'explain ada@corp.example --connection default --json')
    .runs((shell, person: string, flags: ExplainFlags) =>
      withOperations(shell, (operator) => explain(shell, operator, { person, ...flags })),
    );
}

async function explain(
  shell: Shell,
  operator: Operator,
  { person, json, ...place }: ExplainFlags & { person: string },
): Promise<void> {
  const { connection, id, others } = await findPerson(operator.deps, person, place.connection);
  const explanation = await operator.call(personOperations, 'explainPerson', { connection, id });
  const { result } = personOperations.explainPerson;
  printResult(shell, { json }, result.encode(explanation), () => explanationText(explanation));
  if (others.length > 0) shell.printError(`Deleted before: ${others.join(', ')}.`);
}

type Explained = OperationOutput<typeof personOperations.explainPerson>;
type Field = Explained['fields'][number];
type Names = Explained['names'];

/** Formats an explanation as text: state and reason, findings, fields, managers, then facts about the record. */
export function explanationText(explanation: Explained): string {
  const { references, exchanges, fields } = explanation;
  return [
    headText(explanation),
    findingsText(explanation),
    ...(fields.length > 0 ? [fieldsText(explanation)] : []),
    ...(references.length > 0 ? [['Managers', ...references.map(referenceText)].join('\n')] : []),
    ...(exchanges.length > 0 ? [exchangesText(exchanges)] : []),
    recordText(explanation),
  ].join('\n\n');
}

function headText(explanation: Explained): string {
  const { userName, isDeleted, state, verdict, findings, lastModified, connection } = explanation;
  const { status, because, since, until } = verdict;
  const count = findings.length === 1 ? 'with 1 finding' : `with ${findings.length} findings`;
  const parts = [
    `${statusWord(status, state)}${until === undefined ? '' : ` until ${formatMinute(until)} (UTC)`}`,
    ...(because === undefined ? [] : [`because ${escapeLine(because)}`]),
    ...(because === undefined && findings.length > 0 ? [count] : []),
  ];
  const begun = since === undefined ? '' : ` Since ${formatMinute(since)} (UTC).`;
  const changed = `Connection ${connection}; last change by the identity provider ${formatMinute(lastModified)} (UTC).`;
  return [
    `${escapeLine(userName)}${isDeleted ? ' (deleted)' : ''}: ${parts.join(', ')}.${begun}`,
    status === 'imported' ? `${UNMANAGED_TEXT} Connection ${connection}.` : changed,
  ].join('\n');
}

function findingsText({ findings, names }: Explained): string {
  if (findings.length === 0) return 'No findings.';
  const lines = findings.flatMap(({ field, code, value, reason, remedy, mappingPath }) => {
    const about = value === undefined ? '' : ` ${shown(value, names)}`;
    const path = mappingPath === undefined ? '' : ` (mapping: ${mappingPath})`;
    return [
      `  ${escapeLine(fieldLabel(field, names))}${about}: ${escapeLine(reason)} [${code}]${path}`,
      `    → ${escapeLine(remedy)}`,
    ];
  });
  return ['Findings', ...lines].join('\n');
}

function fieldsText({ fields, names, verdict }: Explained): string {
  const note = verdict.status === 'waiting' ? ' (as of the last attempt)' : '';
  return [`Fields${note}`, ...fields.map((field) => fieldText(field, names))].join('\n');
}

const nothing = 'nothing';

/** A field with its rule if nothing is wrong with it, otherwise with a line for each value. */
function fieldText(field: Field, names: Names): string {
  const { standing } = field;
  const name = escapeLine(fieldLabel(field.field, names));
  const observed = shown(field.observed, names);
  if (standing === 'foreign') return `  ${name}: ${observed} (${standingTexts[standing]})`;
  const isTold = standing === 'same' ? isToldOfSame : isToldOfOthers;
  const details: [label: string, text: string][] = [
    [isFixedValue(field) ? 'mapping says' : 'IdP said', shown(idpValue(field), names)],
    ['rule', rulesText(field.rules)],
    ['wanted', shown(field.wanted, names)],
    ['sent', shown(field.sent, names)],
    ['answered', shown(field.answered, names)],
    ['travel service', observed],
    ['refusal', shown(field.refusal, {})],
  ];
  const told = details.filter(([label, detail]) => isTold(field, label, detail));
  const head = `  ${name}: ${standing === 'same' ? observed : standingTexts[standing]}`;
  return [head, ...told.map(([label, detail]) => `    ${label.padEnd(15)}${detail}`)].join('\n');
}

/** True if the rule that decided gives the same value to everybody: a template without a path, or a default of the mapping. */
function isFixedValue({ rules }: Field): boolean {
  const used = rules.findLast(({ before }) => before !== undefined);
  return used !== undefined && /^(?:"[^{]*"|(?:defaults|language)\.)/.test(used.rule);
}

/** Of a field that is in step: the rule, and the values that differ from that of the traveler. */
function isToldOfSame({ field, source, observed, answered }: Field, label: string): boolean {
  if (label === 'IdP said' || label === 'mapping says')
    return field === 'archived' || JSON.stringify(source) !== JSON.stringify(observed);
  return label === 'rule' || (label === 'sent' && answered !== undefined);
}

/** Of other fields: all values there are, and that drift has removed the one of the traveler. */
function isToldOfOthers({ standing }: Field, label: string, detail: string): boolean {
  return detail !== nothing || (standing === 'drift' && label === 'travel service');
}

function rulesText(rules: Field['rules']): string {
  if (rules.length === 0) return 'no rule';
  const texts = decidingRules(rules).map((rule) => {
    const details = ruleDetails(rule);
    return `${originTexts[rule.origin]} ${rule.rule}${details === '' ? '' : ` (${details})`}`;
  });
  return escapeLine(texts.join('; '));
}

function referenceText({ raw, standing, userName, id, travelId }: Explained['references'][number]): string {
  const who = userName === undefined ? '' : ` → ${escapeLine(userName)} (${id})`;
  const traveler = travelId === undefined ? '' : `, traveler ${escapeLine(travelId)}`;
  return `  ${escapeLine(raw)}${who}: ${referenceTexts[standing]}${traveler}`;
}

function exchangesText(exchanges: Explained['exchanges']): string {
  const lines = exchanges.map(({ at, direction, method, path, status, error, position }) => {
    const outcome = [status ?? 'no response', error].filter((part) => part !== undefined).join(' ');
    return escapeLine(
      `  ${formatMinute(at)}  ${direction.padEnd(6)}  ${method} ${path} → ${outcome}  (${position})`,
    );
  });
  return ['Last requests (UTC; "npx jetbridge requests show ID" shows one)', ...lines].join('\n');
}

function recordText(explanation: Explained): string {
  const { id, travelId, version, createdAt, deletedAt, checkAt, nextAttemptAt, attempts } = explanation;
  const time = (at: number | undefined) => (at === undefined ? undefined : `${formatMinute(at)} (UTC)`);
  const lines = factLines([
    ['SCIM id', id],
    ['traveler', travelId ?? 'none'],
    ['version', String(version)],
    ['created', time(createdAt)],
    ['deleted', time(deletedAt)],
    ['next attempt', time(nextAttemptAt)],
    ['failed attempts', attempts === 0 ? undefined : String(attempts)],
    ['read again', checkAt === undefined ? undefined : `${time(checkAt)}: a call may arrive late`],
    ['mapping', staleRulesText(explanation)],
  ]);
  return ['Record', ...lines].join('\n');
}

/** Says with which rules the person was translated; undefined if these are in force, or if the person never was. */
function staleRulesText({ rulesGeneration, rulesInForce, ...numbers }: Explained): string | undefined {
  if (rulesGeneration === 0 || rulesGeneration >= rulesInForce) return undefined;
  const { mappingVersion, mappingInForce } = numbers;
  return mappingVersion === mappingInForce
    ? 'translated before the custom fields, cost centers … of the travel service changed last'
    : `translated with version ${mappingVersion}; version ${mappingInForce} is in force`;
}

/** A value in one line. */
function shown(value: unknown, names: Names): string {
  return escapeLine(valueText(value, names)) || nothing;
}

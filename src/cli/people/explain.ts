import { readConditions } from '../../checks/conditions.ts';
import type { LoggedExchange } from '../../log/exchange.ts';
import { exchangeReader } from '../../log/search.ts';
import { describeOutage } from '../../provisioning/conditions/facts.ts';
import type { Identity } from '../../provisioning/identity.ts';
import type { ExplainedField, FieldStanding } from '../../provisioning/people/explain-fields.ts';
import {
  type ExplainedReference,
  type Explanation,
  findPeople,
  type PersonStatus,
  readExplanation,
} from '../../provisioning/people/explain-person.ts';
import { findSimilarUserNames } from '../../provisioning/people/people.ts';
import type { Json } from '../../schema/resource.ts';
import type { Finding, TraceEntry } from '../../translator/translation.ts';
import type { CliCommand } from '../command.ts';
import { databaseTime, findConnections, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { escapeLine, formatMinute, printJson, type Shell, toIsoTime, withIsoTimes } from '../output.ts';

interface ExplainFlags {
  connection?: string;
  json?: true;
}

/** Adds the command `explain`. */
export function addExplainCommand(program: CliCommand): void {
  program
    .command('explain')
    .description(
      'explain a person: the state and why, findings with remedies, and each field from the IdP to the traveler',
    )
    .argument('<person>', 'the userName, email address, SCIM id or travel user id')
    .option('--connection <id>', 'the connection of the person, if several people have that name')
    .option('--json', 'one JSON object')
    .examples('explain ada@corp.example', 'explain ada@corp.example --connection default --json')
    .runs((shell, person: string, flags: ExplainFlags) => explainPersonTo(shell, { person, ...flags }));
}

/** Prints why a person is in this state, from what is stored. Works while a server runs. */
export function explainPersonTo(
  shell: Shell,
  { person, connection, json }: ExplainFlags & { person: string },
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    const connections = findConnections(database, connection);
    const found = await findPeople(store, connections, person);
    const live = found.filter(({ deletedAt }) => deletedAt === undefined);
    const chosen = found.length === 1 ? found[0] : live.length === 1 ? live[0] : undefined;
    if (found.length === 0) {
      const names = await findSimilarUserNames(store.people, connections, person);
      throw new Refused(unknownText(person, connections, names));
    }
    if (!chosen) throw new Refused(ambiguousText(person, found));
    const exchanges = exchangeReader(database);
    const { facts } = await readConditions(settings, database, await databaseTime(database));
    const findOutage = async (id: string) => describeOutage(id, facts);
    const explanation = await readExplanation({ ...store, exchanges, findOutage }, chosen, Date.now());
    if (json) printJson(shell, explanationJson(explanation));
    else shell.print(explanationText(explanation));
    const others = found.filter((one) => one !== chosen);
    if (others.length > 0) shell.printError(`Deleted before: ${others.map(placeText).join(', ')}.`);
  });
}

/** An explanation with its times as texts. */
function explanationJson({ verdict, exchanges, ...explanation }: Explanation): object {
  return {
    ...withIsoTimes(explanation, 'createdAt', 'lastModified', 'deletedAt', 'nextAttemptAt', 'checkAt'),
    verdict: withIsoTimes(verdict, 'since', 'until'),
    exchanges: exchanges.map(
      ({ at, position, requestBody: _request, responseBody: _response, ...exchange }) => ({
        id: position,
        time: toIsoTime(at),
        ...exchange,
      }),
    ),
  };
}

function unknownText(person: string, connections: string[], names: string[]): string {
  const places = connections.length === 0 ? 'there is no connection yet' : connections.join(', ');
  const meant = names.length === 0 ? '' : ` Did you mean ${names.map(escapeLine).join(' or ')}?`;
  return `Nobody has the userName, email address, SCIM id or travel user id ${escapeLine(person)}. Searched, deleted people included: ${places}. "npx jetbridge people" lists everybody.${meant}`;
}

function ambiguousText(person: string, found: Identity[]): string {
  const lines = found.map((identity) => `  ${placeText(identity)}`);
  return [
    `${escapeLine(person)} names several people. Give the SCIM id of one, or add --connection:`,
    ...lines,
  ].join('\n');
}

function placeText({ id, connection, desired, deletedAt, state }: Identity): string {
  const deleted = deletedAt === undefined ? '' : `, deleted ${formatMinute(deletedAt)} (UTC)`;
  return `${id} (${escapeLine(String(desired.userName))}, connection ${connection}, ${state}${deleted})`;
}

/** Formats an explanation as text: state and reason, findings, fields, managers, then facts about the record. */
export function explanationText(explanation: Explanation): string {
  const { findings, fields, references, exchanges, names } = explanation;
  return [
    headText(explanation),
    findingsText(findings, names),
    ...(fields.length > 0 ? [fieldsText(explanation)] : []),
    ...(references.length > 0 ? [['Managers', ...references.map(referenceText)].join('\n')] : []),
    ...(exchanges.length > 0 ? [exchangesText(exchanges)] : []),
    recordText(explanation),
  ].join('\n\n');
}

const statusTexts = {
  synced: 'synced',
  archived: 'archived',
  noTraveler: 'no traveler',
  waiting: 'waiting',
  held: 'held',
  refused: 'refused',
  outOfScope: 'out of scope',
  imported:
    'imported: the traveler was found in the travel service, and no identity provider has written the user',
} satisfies Record<PersonStatus, string>;

function headText({ userName, isDeleted, verdict, findings, lastModified, connection }: Explanation): string {
  const { status, because, since, until } = verdict;
  const count = findings.length === 1 ? 'with 1 finding' : `with ${findings.length} findings`;
  const parts = [
    `${statusTexts[status]}${until === undefined ? '' : ` until ${formatMinute(until)} (UTC)`}`,
    ...(because === undefined ? [] : [`because ${escapeLine(because)}`]),
    ...(because === undefined && findings.length > 0 ? [count] : []),
  ];
  const begun = since === undefined ? '' : ` Since ${formatMinute(since)} (UTC).`;
  return [
    `${escapeLine(userName)}${isDeleted ? ' (deleted)' : ''}: ${parts.join(', ')}.${begun}`,
    status === 'imported'
      ? `Connection ${connection}.`
      : `Connection ${connection}; last change by the identity provider ${formatMinute(lastModified)} (UTC).`,
  ].join('\n');
}

type Names = Explanation['names'];

function findingsText(findings: Finding[], names: Names): string {
  if (findings.length === 0) return 'No findings.';
  const lines = findings.flatMap(({ field, code, value, reason, remedy, mappingPath }) => {
    const about = value === undefined ? '' : ` ${valueText(value, names)}`;
    const path = mappingPath === undefined ? '' : ` (mapping: ${mappingPath})`;
    const where = field === '*' ? 'all fields' : fieldName(field, names);
    return [`  ${where}${about}: ${escapeLine(reason)} [${code}]${path}`, `    → ${escapeLine(remedy)}`];
  });
  return ['Findings', ...lines].join('\n');
}

const standingTexts = {
  same: '',
  drift: 'changed in the travel service',
  uncertain: 'the outcome of the last call is not known; the traveler is read again',
  refused: 'the travel API refuses the value',
  notSent: 'not sent',
  notApplied: 'accepted by the travel API and not applied, see the findings',
  leftOut: 'left out, see the findings',
  imported: 'as imported; the identity provider has not changed it since',
  unread: 'the traveler must be read again',
  foreign: 'left to the travel service: no rule has a value',
  once: 'left to the travel service: the rule sets it only when the traveler is created',
} satisfies Record<FieldStanding, string>;

function fieldsText(explanation: Explanation): string {
  const { fields, names, version, reconciledVersion, verdict } = explanation;
  const isOlder = verdict.status === 'waiting' && reconciledVersion !== version;
  const note = isOlder
    ? ' (as of the last attempt; the last change of the identity provider is not in them)'
    : '';
  return [`Fields${note}`, ...fields.map((field) => fieldText(field, names))].join('\n');
}

const nothing = 'nothing';

/** A field with its rule if nothing is wrong with it, otherwise with a line for each value. */
function fieldText(field: ExplainedField, names: Names): string {
  const { standing } = field;
  const name = fieldName(field.field, names);
  const text = (json: Json | undefined) => (json === undefined ? nothing : valueText(json, names));
  const observed = text(field.observed);
  if (standing === 'foreign' || standing === 'once')
    return `  ${name}: ${observed} (${standingTexts[standing]})`;
  const isTold = standing === 'same' ? isToldOfSame : isToldOfOthers;
  const details: [label: string, text: string][] = [
    [isFixedValue(field) ? 'mapping says' : 'IdP said', `${idpName(field)}${text(field.source)}`],
    ['rule', rulesText(field.rules)],
    ['wanted', text(field.wanted)],
    ['sent', text(field.sent)],
    ['answered', text(field.answered)],
    ['travel service', observed],
    ['refusal', field.refusal === undefined ? nothing : escapeLine(field.refusal)],
  ];
  const shown = details.filter(([label, detail]) => isTold(field, label, detail));
  const head = `  ${name}: ${standing === 'same' ? observed : standingTexts[standing]}`;
  return [head, ...shown.map(([label, detail]) => `    ${label.padEnd(15)}${detail}`)].join('\n');
}

/** True if the rule that decided gives the same value to everybody: a template without a path, or a default of the mapping. */
function isFixedValue({ rules }: ExplainedField): boolean {
  const used = rules.findLast(({ before }) => before !== undefined);
  return used !== undefined && /^(?:"[^{]*"|(?:defaults|language)\.)/.test(used.rule);
}

/** The opposite of `archived` has a name of its own in SCIM. */
function idpName({ field, source }: ExplainedField): string {
  return field === 'archived' && source !== undefined ? 'active: ' : '';
}

/** Of a field that is in step: the rule, and the values that differ from that of the traveler. */
function isToldOfSame({ field, source, observed, answered }: ExplainedField, label: string): boolean {
  if (label === 'IdP said' || label === 'mapping says')
    return field === 'archived' || JSON.stringify(source) !== JSON.stringify(observed);
  return label === 'rule' || (label === 'sent' && answered !== undefined);
}

/** Of other fields: all values there are, and that drift has removed the one of the traveler. */
function isToldOfOthers({ standing }: ExplainedField, label: string, detail: string): boolean {
  return detail !== nothing || (standing === 'drift' && label === 'travel service');
}

/** The rules that decided: without those that were skipped, unless all were. */
function rulesText(rules: TraceEntry[]): string {
  if (rules.length === 0) return 'no rule';
  const used = rules.filter(({ outcome }) => outcome !== 'skipped');
  return (used.length > 0 ? used : rules).map(ruleText).join('; ');
}

function ruleText({ origin, rule, when, group, read, outcome, reason }: TraceEntry): string {
  const origins = { file: 'mapping', collection: 'scimUserMapping', default: 'default rule' };
  const details = [
    ...(read === undefined ? [] : [`read from ${read}`]),
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(group === undefined ? [] : [`as a member of ${group}`]),
    ...(outcome === 'set' ? [] : [outcome]),
    ...(reason === undefined ? [] : [reason]),
  ];
  return escapeLine(`${origins[origin]} ${rule}${details.length === 0 ? '' : ` (${details.join(', ')})`}`);
}

const referenceTexts = {
  resolved: 'resolved',
  unknown: 'waiting: no user has this id, address or userName; it follows by itself once there is one',
  notLinked: 'waiting: the manager has no traveler yet; it follows by itself',
  self: 'left out: the person would be their own manager',
  circle: 'left out: the managers would form a circle',
} satisfies Record<ExplainedReference['standing'], string>;

function referenceText({ raw, standing, userName, id, travelId }: ExplainedReference): string {
  const who = userName === undefined ? '' : ` → ${escapeLine(userName)} (${id})`;
  const traveler = travelId === undefined ? '' : `, traveler ${escapeLine(travelId)}`;
  return `  ${escapeLine(raw)}${who}: ${referenceTexts[standing]}${traveler}`;
}

function exchangesText(exchanges: LoggedExchange[]): string {
  const lines = exchanges.map(({ at, direction, method, path, status, error, position }) => {
    const outcome = [status ?? 'no response', error].filter((part) => part !== undefined).join(' ');
    return escapeLine(
      `  ${formatMinute(at)}  ${direction.padEnd(6)}  ${method} ${path} → ${outcome}  (${position})`,
    );
  });
  return ['Last requests (UTC; "npx jetbridge requests show ID" shows one)', ...lines].join('\n');
}

function recordText(explanation: Explanation): string {
  const { id, travelId, version, createdAt, deletedAt, checkAt, nextAttemptAt, attempts } = explanation;
  const time = (at: number) => `${formatMinute(at)} (UTC)`;
  const facts: [label: string, text: string | undefined][] = [
    ['SCIM id', id],
    ['traveler', travelId ?? 'none'],
    ['version', String(version)],
    ['created', time(createdAt)],
    ['deleted', deletedAt === undefined ? undefined : time(deletedAt)],
    ['next attempt', nextAttemptAt === undefined ? undefined : time(nextAttemptAt)],
    ['failed attempts', attempts === 0 ? undefined : String(attempts)],
    ['read again', checkAt === undefined ? undefined : `${time(checkAt)}: a call may arrive late`],
    ['mapping', staleRulesText(explanation)],
  ];
  const lines = facts.flatMap(([label, text]) =>
    text === undefined ? [] : [`  ${label.padEnd(17)}${escapeLine(text)}`],
  );
  return ['Record', ...lines].join('\n');
}

/** Says with which rules the person was translated; undefined if these are in force, or if the person never was. */
function staleRulesText({ rulesGeneration, rulesInForce, ...numbers }: Explanation): string | undefined {
  if (rulesGeneration === 0 || rulesGeneration >= rulesInForce) return undefined;
  const { mappingVersion, mappingInForce } = numbers;
  return mappingVersion === mappingInForce
    ? 'translated before the custom fields, cost centers … of the travel service changed last'
    : `translated with version ${mappingVersion}; version ${mappingInForce} is in force`;
}

function fieldName(field: string, names: Names): string {
  const [head, id = ''] = field.split(/\.(.*)/s);
  return escapeLine(head === 'customFields' ? (names[id] ?? field) : field);
}

/** Formats a value in one line. Ids of resources and options are followed by their names. */
function valueText(value: Json, names: Names): string {
  if (value === null) return nothing;
  if (Array.isArray(value)) return value.map((one) => valueText(one, names)).join(', ');
  if (typeof value === 'object') {
    const { customFieldOptionId, data } = value;
    const text = customFieldOptionId ?? data;
    if (text !== undefined) return valueText(text, names);
  }
  const name = typeof value === 'string' ? names[value] : undefined;
  return `${escapeLine(JSON.stringify(value))}${name === undefined ? '' : ` (${escapeLine(name)})`}`;
}

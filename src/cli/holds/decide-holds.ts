import type { Settings } from '../../config/settings.ts';
import { DECIDED } from '../../operations/open-decisions.ts';
import {
  type DecidingAdmin,
  type DecisionResult,
  type DecisionSubject,
  decide,
  resultDetails,
  subjectDetails,
} from '../../provisioning/holds/decide.ts';
import {
  type HeldPerson,
  type HeldRules,
  toHeldPerson,
  travelerEnd,
} from '../../provisioning/holds/holds.ts';
import type { Decision } from '../../provisioning/identity.ts';
import { fieldLabel as fieldName } from '../../provisioning/rules/value-texts.ts';
import type { ProvisioningStore } from '../../store/provisioning-store.ts';
import { withAuditEntry } from '../audit.ts';
import { databaseTime, type OpenedDatabase, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { confirm, countText, escapeLine, printJson, type Shell } from '../output.ts';
import { currentUser } from '../terminal.ts';
import { affectedPeopleText } from './change-text.ts';
import { ALL, findIdentities, type HoldFilter, policiesOf, selectedConnections } from './held-people.ts';

/** An admin's decision, and the people or the cause that it applies to. */
export interface DecisionRequest extends HoldFilter {
  answer: Decision['answer'];
  people: readonly string[];
  /** Decide without asking for confirmation. */
  yes?: true;
  json?: true;
}

/** Approves or discards held changes, after the admin has seen and confirmed how many people they concern. */
export function decideHolds(shell: Shell, decided: DecisionRequest): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    const { answer, yes, json } = decided;
    const connections = selectedConnections(database, settings, decided.connection);
    const about =
      decided.people.length > 0
        ? await findHeldPeople(store, connections, decided.people)
        : await findHeldItems(store, connections, decided);
    if (about.people.length === 0 && about.rules.length === 0)
      throw new Refused('Nothing of that kind is held.');
    const text = decisionText(about, answer, settings);
    await confirm(shell, `${text}. Go on?`, { yes, declined: 'Nothing was decided.' });
    if (!(await areRulesUnchanged(store, about.rules)))
      throw new Refused(`The rules or lookups have changed meanwhile. ${CHANGED_MEANWHILE}`);
    const result = await saveDecisions({ database, store }, about, answer);
    if (result.people.length + result.rules.length === 0) throw new Refused(CHANGED_MEANWHILE);
    if (json) return printJson(shell, { answer, ...toJson(result) });
    shell.print(`${answer}: ${decisionText(result, answer, settings)}`);
    shell.printError('"npx jetbridge holds list" shows how far that is done.');
  });
}

const CHANGED_MEANWHILE = 'Nothing was decided; look again.';

function toJson({ people, rules }: HeldItems) {
  return {
    people: people.map(({ connection, id, userName }) => ({ connection, id, userName })),
    rules: rules.map(({ connection }) => ({ connection })),
  };
}

/** Finds the named people. Throws if one of them is unknown or not held, or if several are held. */
async function findHeldPeople(
  store: ProvisioningStore,
  connections: string[],
  names: readonly string[],
): Promise<HeldItems> {
  const people: HeldPerson[] = [];
  for (const name of new Set(names)) {
    const found = await findIdentities(store, connections, name);
    const [first, ...others] = found.flatMap((identity) => toHeldPerson(identity) ?? []);
    if (!first) throw new Refused(`${escapeLine(name)} is not held.`);
    if (others.length > 0) throw new Refused(ambiguousText(name, [first, ...others]));
    people.push(first);
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
  { holds }: ProvisioningStore,
  connections: string[],
  { connection, cause, answer }: DecisionRequest,
): Promise<HeldItems> {
  const people = await holds.findHeldPeople({ connection, cause, limit: ALL });
  if (cause !== undefined && cause !== 'rules') return { people, rules: [] };
  const rules: HeldRules[] = [];
  for (const name of connections) {
    const held = await holds.findHeldRules(name);
    const isReversed = cause === 'rules' && answer === 'approved' && held?.answer === 'discarded';
    if (held && (held.answer === undefined || isReversed)) rules.push(held);
  }
  return { people, rules };
}

async function areRulesUnchanged({ holds }: ProvisioningStore, rules: HeldRules[]): Promise<boolean> {
  const now = await Promise.all(rules.map(({ connection }) => holds.findHeldRules(connection)));
  return now.every((held, index) => held?.generation === rules[index]?.generation);
}

/** Decides about versions of people: others may have become held, or these may have been written, since the admin confirmed the number. */
async function saveDecisions(
  opened: Omit<OpenedDatabase, 'settings'>,
  { people, rules }: HeldItems,
  answer: Decision['answer'],
): Promise<HeldItems> {
  const by = currentUser();
  const now = await databaseTime(opened.database);
  const admin = { answer, by, now, mayReverse: true };
  const saved: HeldItems = { people: [], rules: [] };
  for (const held of groupByCause(people)) {
    const { connection, hold } = held[0];
    const { decided } = await decideWithEntry(opened, { connection, cause: hold.cause, people: held }, admin);
    if (decided > 0) saved.people = saved.people.concat(held);
  }
  for (const change of rules) {
    const subject = { connection: change.connection, cause: 'rules' as const, people: [], change };
    if ((await decideWithEntry(opened, subject, admin)).decided > 0) saved.rules.push(change);
  }
  return saved;
}

function groupByCause(people: HeldPerson[]): [HeldPerson, ...HeldPerson[]][] {
  const groups = new Map<string, [HeldPerson, ...HeldPerson[]]>();
  for (const person of people) {
    const key = `${person.connection} ${person.hold.cause}`;
    const group = groups.get(key);
    if (group) group.push(person);
    else groups.set(key, [person]);
  }
  return [...groups.values()];
}

/** Each connection and cause has an entry in the audit log, in the form of decisions on the page. */
async function decideWithEntry(
  { database, store }: Omit<OpenedDatabase, 'settings'>,
  subject: DecisionSubject,
  admin: DecidingAdmin,
): Promise<DecisionResult> {
  const { connection, cause } = subject;
  const details = { connection, cause, answer: admin.answer, ...subjectDetails(subject) };
  return withAuditEntry(
    database,
    { action: DECIDED, details },
    async () => {
      const result = await decide(store.holds, subject, admin);
      Object.assign(details, resultDetails(result, admin));
      return result;
    },
    ({ decided }) => decided > 0,
  );
}

/** The people and changes of rules that one decision of an admin applies to. */
interface HeldItems {
  people: HeldPerson[];
  rules: HeldRules[];
}

/** Summarizes the effects of a decision in numbers. */
function decisionText({ people, rules }: HeldItems, answer: Decision['answer'], settings: Settings): string {
  const parts = answer === 'discarded' ? [discardText(people.length)] : [];
  if (answer === 'approved') {
    const ends = people.map((person) => travelerEnd(person, policiesOf(settings, person.connection)));
    const numberOf = (end: 'archived' | 'deleted' | undefined) => ends.filter((one) => one === end).length;
    parts.push(
      travelerCountText(numberOf('archived'), 'will be archived'),
      travelerCountText(numberOf('deleted'), 'will be deleted'),
      travelerCountText(numberOf(undefined), 'will be changed or linked'),
    );
  }
  const change = answer === 'approved' ? 'will follow' : 'will not follow';
  parts.push(
    ...rules.map(
      (held) =>
        `${affectedPeopleText(held)} of connection ${held.connection} ${change} the rules and lookups${fieldsText(held)}`,
    ),
  );
  return parts.filter((part) => part !== '').join(', ');
}

/** The affected fields, once everybody was looked at. */
function fieldsText({ effect }: HeldRules): string {
  if (!effect?.isComplete || effect.fields.length === 0) return '';
  const fields = effect.fields.map(({ field, people }) => `${fieldName(field, effect.names)} of ${people}`);
  return ` (${fields.join(', ')})`;
}

function discardText(count: number): string {
  return travelerCountText(count, count === 1 ? 'stays as it is' : 'stay as they are');
}

function travelerCountText(count: number, what: string): string {
  return count === 0 ? '' : `${countText(count, 'traveler')} ${what}`;
}

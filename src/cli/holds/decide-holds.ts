import type { Settings } from '../../config/settings.ts';
import {
  type HeldPerson,
  type HeldRules,
  toHeldPerson,
  travelerEnd,
} from '../../provisioning/holds/holds.ts';
import type { Decision } from '../../provisioning/identity.ts';
import { provisioningStore } from '../../store/provisioning-store.ts';
import { replicas } from '../../store/queues/replicas.ts';
import type { Database } from '../../store/sql/database.ts';
import { withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { confirm, countText, escapeLine, printJson, type Shell } from '../output.ts';
import { currentUser } from '../terminal.ts';
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
  return withDatabase(shell, async (database, settings) => {
    const { answer, yes, json } = decided;
    const connections = selectedConnections(database, settings, decided.connection);
    const about =
      decided.people.length > 0
        ? await findHeldPeople(database, connections, decided.people)
        : await findHeldItems(database, connections, decided);
    if (about.people.length === 0 && about.rules.length === 0)
      throw new Refused('Nothing of that kind is held.');
    const text = decisionText(about, answer, settings);
    await confirm(shell, `${text}. Go on?`, { yes, declined: 'Nothing was decided.' });
    if (!(await areRulesUnchanged(database, about.rules)))
      throw new Refused('The rules or lookups have changed meanwhile. Nothing was decided; look again.');
    await saveDecisions(database, about, answer);
    const rules = about.rules.map(({ connection }) => ({ connection }));
    const people = about.people.map(({ connection, id, userName }) => ({ connection, id, userName }));
    if (json) printJson(shell, { answer, people, rules });
    else shell.print(`${answer}: ${text}`);
  });
}

/** Finds the named people. Throws if one of them is unknown or not held, or if several are held. */
async function findHeldPeople(
  database: Database,
  connections: string[],
  names: readonly string[],
): Promise<HeldItems> {
  const people: HeldPerson[] = [];
  for (const name of new Set(names)) {
    const found = await findIdentities(database, connections, name);
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
  database: Database,
  connections: string[],
  { connection, cause, answer }: DecisionRequest,
): Promise<HeldItems> {
  const { holds } = provisioningStore(database);
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

async function areRulesUnchanged(database: Database, rules: HeldRules[]): Promise<boolean> {
  const { holds } = provisioningStore(database);
  const now = await Promise.all(rules.map(({ connection }) => holds.findHeldRules(connection)));
  return now.every((held, index) => held?.generation === rules[index]?.generation);
}

/** Decides by id, because more people may have become held since the admin confirmed the number. */
async function saveDecisions(
  database: Database,
  { people, rules }: HeldItems,
  answer: Decision['answer'],
): Promise<void> {
  const { holds } = provisioningStore(database);
  // The servers compare times by the clock of the database.
  const now = await replicas(database).time(Date.now());
  const by = currentUser();
  const byConnection = new Map<string, string[]>();
  for (const { connection, id } of people) {
    const ids = byConnection.get(connection) ?? [];
    ids.push(id);
    byConnection.set(connection, ids);
  }
  for (const [connection, ids] of byConnection) await holds.decide(connection, { ids }, answer, now, by);
  for (const { connection } of rules) await holds.decide(connection, { cause: 'rules' }, answer, now, by);
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
      ({ connection, people: count }) =>
        `${count > 100 ? 'more than 100' : count} people of connection ${connection} ${change} the rules and lookups`,
    ),
  );
  return parts.filter((part) => part !== '').join(', ');
}

function discardText(count: number): string {
  return travelerCountText(count, count === 1 ? 'stays as it is' : 'stay as they are');
}

function travelerCountText(count: number, what: string): string {
  return count === 0 ? '' : `${countText(count, 'traveler')} ${what}`;
}

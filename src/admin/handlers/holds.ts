import { heldPeoplePages } from '../../provisioning/holds/held-people.ts';
import {
  answerTo,
  approvalText,
  causeTexts,
  type HeldPerson,
  type HoldCount,
  type RequestedChanges,
  requestedChange,
  toHeldPerson,
  travelerEnd,
} from '../../provisioning/holds/holds.ts';
import type { HoldCause } from '../../provisioning/identity.ts';
import type { Policies } from '../../provisioning/policies.ts';
import type { holdsContract } from '../contract/holds.ts';
import type { HandlerRequest, Handlers } from '../contract/operation.ts';
import { type AdminDeps, chosenConnections, findConnection } from '../deps.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';

/** The number of people that a group names. */
const EXAMPLES = 3;
/** The number of ids that an entry of the audit log names. */
const NOTED = 20;

/** Handles what waits for the decision of an admin. */
export function holdHandlers(deps: AdminDeps): Handlers<typeof holdsContract, AdminContext> {
  return {
    listHolds: async () => {
      const [counts, requested] = [
        await deps.store.holds.countHolds(),
        await deps.store.holds.countRequestedChanges(),
      ];
      const groups = await Promise.all(counts.map((count) => toGroup(count, requested, deps)));
      return {
        people: counts.reduce((sum, { count }) => sum + count, 0),
        groups: groups.sort((one, other) => one.since - other.since),
      };
    },
    downloadHeldPeople: async ({ query: { connection, cause } }) =>
      heldPeoplePages(deps.store.holds, chosenConnections(deps, connection), cause),
    listHeldPeople: ({ params, query }) => listHeldPeople(params, query, deps),
    explainHold: ({ params }) => explainHold(params, deps),
    decideHolds: ({ body }, context) => decideHolds(body, context, deps),
  };
}

async function toGroup(hold: HoldCount, requested: RequestedChanges[], deps: AdminDeps) {
  const { connection, cause, count, since } = hold;
  const policies = findPolicies(connection, deps);
  const generation = cause === 'rules' ? await waitingGeneration(connection, deps) : undefined;
  const examples = await deps.store.holds.findHeldPeople({ connection, cause, limit: EXAMPLES });
  const wanted = requested.find((one) => one.connection === connection && one.cause === cause);
  return {
    ...{ connection, cause, people: count, since },
    // The people affected by new rules are counted until the limit is passed.
    isMore: generation !== undefined && count > RULES_LIMIT,
    causedBy: await causeOf({ connection, cause }, deps),
    why: causeTexts[cause].why(policies),
    ifDiscarded: causeTexts[cause].discarded,
    effects: generation === undefined && wanted ? effectsOf(wanted, policies) : allChanged(count),
    examples: examples.map((person) => toPerson(person, policies)),
    generation,
  };
}

/** More people than this are not counted before a change of rules is held. */
const RULES_LIMIT = 100;

async function waitingGeneration(connection: string, { store }: AdminDeps): Promise<number | undefined> {
  const held = await store.holds.findHeldRules(connection);
  return held && held.answer === undefined ? held.generation : undefined;
}

function effectsOf(wanted: RequestedChanges, policies: Policies | undefined) {
  const deleted = policies?.deprovision === 'delete' ? wanted.delete : 0;
  return { archived: wanted.deactivate + wanted.delete - deleted, deleted, changed: wanted.change };
}

function allChanged(changed: number) {
  return { archived: 0, deleted: 0, changed };
}

/** Says whose change is held. */
async function causeOf(
  { connection, cause }: { connection: string; cause: HoldCause },
  { store: { holds, rules } }: AdminDeps,
): Promise<string> {
  if (cause !== 'rules') return `the identity provider of connection ${connection}`;
  const [held, [mapping]] = [await holds.findHeldRules(connection), await rules.listMappings(connection, 1)];
  if (!held || !mapping || held.generation !== mapping.generation)
    return 'other lookups of the travel service, such as cost centers';
  const author = mapping.author === undefined ? '' : ` of ${mapping.author}`;
  return mapping.source === 'file' ? 'another mapping file' : `a new mapping${author}`;
}

function toPerson(person: HeldPerson, policies: Policies | undefined) {
  const { id, userName, hold, version } = person;
  return {
    ...{ id, userName, version, since: hold.since },
    wants: requestedChange(person),
    effect: travelerEnd(person, policies) ?? ('changed' as const),
  };
}

async function listHeldPeople(
  { connection, cause: name }: { connection: string; cause: string },
  { after, limit }: { after?: string | undefined; limit: number },
  deps: AdminDeps,
) {
  const cause = causeNamed(name);
  const { policies } = findConnection(deps, connection).connection;
  const place = after === undefined ? {} : { after: { ...toPlace(after), connection } };
  const people = await deps.store.holds.findHeldPeople({ connection, cause, ...place, limit: limit + 1 });
  const shown = people.slice(0, limit);
  const last = people.length > limit ? shown.at(-1) : undefined;
  return {
    people: shown.map((person) => toPerson(person, policies)),
    ...(last ? { next: `${last.hold.since}.${last.id}` } : {}),
  };
}

function toPlace(after: string): { since: number; id: string } {
  const point = after.indexOf('.');
  return { since: Number(after.slice(0, point)), id: after.slice(point + 1) };
}

function causeNamed(name: string): HoldCause {
  if (!Object.hasOwn(causeTexts, name)) throw new AdminError('notFound', `There is no cause ${name}.`);
  return name as HoldCause; // The table of texts has all causes and nothing else.
}

/** Returns the policies of a connection; undefined if the settings do not have it. */
function findPolicies(id: string, { connections }: AdminDeps): Policies | undefined {
  return connections.find(({ connection }) => connection.id === id)?.connection.policies;
}

async function explainHold({ connection, id }: { connection: string; id: string }, deps: AdminDeps) {
  const { policies } = findConnection(deps, connection).connection;
  const identity = await deps.store.identities.findById(connection, id);
  if (!identity) throw new AdminError('notFound', 'There is no such person.');
  const person = toHeldPerson(identity);
  if (!person) throw new AdminError('notFound', 'This person is not held.');
  const { cause } = person.hold;
  return {
    ...toPerson(person, policies),
    ...{ connection, cause },
    why: causeTexts[cause].why(policies),
    causedBy: await causeOf({ connection, cause }, deps),
    ifApproved: approvalText(person, policies),
    ifDiscarded: causeTexts[cause].discarded,
    answer: answerTo(identity),
  };
}

type Decided = HandlerRequest<(typeof holdsContract)['decideHolds']>['body'];

async function decideHolds(
  body: Decided,
  { note, caller }: Pick<AdminContext, 'note' | 'caller'>,
  held: AdminDeps,
) {
  const deps = { ...held, by: caller?.shownName };
  const { connection, cause, answer, people } = body;
  note({ connection, cause, answer, asked: people?.length ?? body.count });
  if (people) note({ people: people.slice(0, NOTED).map(({ id }) => id) });
  findConnection(deps, connection);
  const result = people ? await decidePeople(body, people, deps) : await decideGroup(body, deps);
  note(result);
  if (result.decided === 0) throw new AdminError('conflict', NOBODY_LEFT);
  deps.provisioning.wake();
  return result;
}

/** The dependencies of a decision, and the name of the admin. */
interface DecisionDeps extends Pick<AdminDeps, 'store' | 'now'> {
  by: string | undefined;
}

const NOBODY_LEFT =
  'None of these people waits for this decision any more: somebody else has decided, or the identity provider has changed them. Nothing was decided now.';

async function decidePeople(
  { connection, cause, answer }: Decided,
  people: { id: string; version: number }[],
  { store: { holds }, now, by }: DecisionDeps,
) {
  const decided = await holds.decideUndecided(connection, { cause, people }, answer, now(), by);
  return { decided, skipped: people.length - decided };
}

/** Decides about everybody in a group, if the group is still as large as the admin has seen it. */
async function decideGroup(
  { connection, cause, answer, count = 0, generation }: Decided,
  deps: DecisionDeps,
) {
  const { store, now, by } = deps;
  if (cause === 'rules' && generation !== undefined) {
    const decided = await store.holds.decideRulesChange(connection, generation, answer, now(), by);
    return { decided: decided ?? 0, skipped: 0 };
  }
  const people = await store.holds.findUndecided(connection, cause);
  if (people.length > 0 && people.length !== count)
    throw new AdminError(
      'conflict',
      `${people.length} people wait by now, not ${count}. Nothing was decided; look again.`,
    );
  return decidePeople({ connection, cause, answer }, people, deps);
}

import { countText } from '../../provisioning/conditions/texts.ts';
import { causedBy } from '../../provisioning/holds/caused-by.ts';
import {
  type DecisionSubject,
  decide,
  resultDetails,
  subjectDetails,
} from '../../provisioning/holds/decide.ts';
import { heldPeoplePages } from '../../provisioning/holds/held-people.ts';
import {
  answerTo,
  approvalText,
  causeTexts,
  type HeldPerson,
  type HeldRules,
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
import { listOpenDecisions } from '../open-decisions.ts';
import type { AdminContext } from '../router.ts';

/** The number of people that a group names. */
const EXAMPLES = 3;

/** Handles what waits for the decision of an admin. */
export function holdHandlers(deps: AdminDeps): Handlers<typeof holdsContract, AdminContext> {
  return {
    listHolds: async () => {
      const [counts, requested] = [
        await deps.store.holds.countHolds(),
        await deps.store.holds.countRequestedChanges(),
      ];
      const groups = await Promise.all(counts.map((count) => toGroup(count, requested, deps)));
      const { audit, now } = deps;
      const source = { audit, holds: deps.store.holds, now: now() };
      return {
        people: counts.reduce((sum, { count }) => sum + count, 0),
        groups: groups.sort((one, other) => one.since - other.since),
        decisions: await listOpenDecisions(source, deps.connectionIds()),
      };
    },
    downloadHeldPeople: async ({ query: { connection, cause } }) =>
      heldPeoplePages(deps.store.holds, chosenConnections(deps, connection), cause),
    listHeldPeople: ({ params, query }) => listHeldPeople(params, query, deps),
    explainHold: ({ params }) => explainHold(params, deps),
    decideHolds: ({ body }, context) => decideHolds(body, context, deps),
    readDecision: ({ params, query }) => readDecision(params, query, deps),
  };
}

async function toGroup(hold: HoldCount, requested: RequestedChanges[], deps: AdminDeps) {
  const { connection, cause, count, since } = hold;
  const policies = findPolicies(connection, deps);
  const change = cause === 'rules' ? await findWaitingChange(connection, deps) : undefined;
  const examples = await deps.store.holds.findHeldPeople({ connection, cause, limit: EXAMPLES });
  const wanted = requested.find((one) => one.connection === connection && one.cause === cause);
  const people = Math.max(count, change?.effect?.people ?? 0);
  return {
    ...{ connection, cause, people, since },
    isMore: change !== undefined && !change.effect?.isComplete,
    causedBy: await causedBy(hold, deps.store),
    why: causeTexts[cause].why(policies),
    ifDiscarded: causeTexts[cause].discarded,
    effects: !change && wanted ? effectsOf(wanted, policies) : allChanged(people),
    examples: examples.map((person) => toPerson(person, policies)),
    generation: change?.generation,
    effect: change?.effect,
  };
}

async function findWaitingChange(connection: string, { store }: AdminDeps): Promise<HeldRules | undefined> {
  const held = await store.holds.findHeldRules(connection);
  return held && held.answer === undefined ? held : undefined;
}

function effectsOf(wanted: RequestedChanges, policies: Policies | undefined) {
  const deleted = policies?.deprovision === 'delete' ? wanted.delete : 0;
  return { archived: wanted.deactivate + wanted.delete - deleted, deleted, changed: wanted.change };
}

function allChanged(changed: number) {
  return { archived: 0, deleted: 0, changed };
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
    causedBy: await causedBy({ connection, cause }, deps.store),
    ifApproved: approvalText(person, policies),
    ifDiscarded: causeTexts[cause].discarded,
    answer: answerTo(identity),
  };
}

/** Tells how far a decision is carried out, and lists its people. Throws 404 if nobody has it any more. */
async function readDecision(
  { connection, decision }: { connection: string; decision: string },
  { after = '', limit }: { after?: string | undefined; limit: number },
  deps: AdminDeps,
) {
  findConnection(deps, connection);
  const { holds } = deps.store;
  const at = Number(decision);
  const progress = Number.isSafeInteger(at) ? await holds.readProgress(connection, at) : undefined;
  if (!progress || progress.people + (progress.affected ?? 0) === 0)
    throw new AdminError('notFound', 'No person has this decision as the last one.');
  const people = await holds.listDecided(connection, at, { after, limit: limit + 1 });
  const listed = people.slice(0, limit);
  const last = people.length > limit ? listed.at(-1) : undefined;
  return { ...progress, listed, ...(last ? { next: last.id } : {}) };
}

type Decided = HandlerRequest<(typeof holdsContract)['decideHolds']>['body'];

/** Carries out the decision of an admin. */
async function decideHolds(
  body: Decided,
  { note, caller }: Pick<AdminContext, 'note' | 'caller'>,
  { store: { holds }, now, ...deps }: AdminDeps,
) {
  const { connection, cause, answer } = body;
  note({ connection, cause, answer, asked: body.people?.length ?? body.count });
  findConnection(deps, connection);
  const subject = await toSubject(body, holds);
  note(subjectDetails(subject));
  const admin = { answer, by: caller?.shownName ?? '', now: now(), mayReverse: false };
  const result = await decide(holds, subject, admin);
  const details = resultDetails(result, admin);
  note(details);
  if (result.decided === 0) throw new AdminError('conflict', NOBODY_LEFT);
  deps.provisioning.wake();
  return { ...details, decision: admin.now };
}

const NOBODY_LEFT =
  'None of these people waits for this decision any more: somebody else has decided, or the identity provider has changed them. Nothing was decided now.';

/** Throws 409 if a group is not as large any more as the admin has seen it. */
async function toSubject(
  { connection, cause, people, count = 0, generation }: Decided,
  holds: AdminDeps['store']['holds'],
): Promise<DecisionSubject> {
  if (people) return { connection, cause, people };
  if (cause === 'rules' && generation !== undefined)
    return { connection, cause, people: [], change: { generation, people: count } };
  const waiting = await holds.findUndecided(connection, cause);
  if (waiting.length > 0 && waiting.length !== count)
    throw new AdminError(
      'conflict',
      `${countText(waiting.length, 'person waits', 'people wait')} by now, not ${count}. Nothing was decided; look again.`,
    );
  return { connection, cause, people: waiting };
}

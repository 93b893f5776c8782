import { ProvisioningError } from '../../../src/provisioning/provisioning-error.ts';
import { type ScimResource, urns } from '../../../src/schema/resource.ts';
import type { Call, TravelFault } from '../../fixtures/fake-travel.ts';
import { waitUntilIdle } from '../../fixtures/idle.ts';
import { emailsOf, type ProvisioningFixture } from '../../fixtures/provisioning.ts';

/** An action of the IdP, of an admin or of the bridge. People and addresses are given by number. */
export type Action =
  | { kind: 'post'; who: number; address: number }
  | { kind: 'address'; who: number; address: number }
  | { kind: 'active'; who: number; active: boolean }
  | { kind: 'delete'; who: number }
  | { kind: 'manager'; who: number; manager: number }
  | { kind: 'language'; who: number; language: string }
  | { kind: 'wait'; ms: number }
  | { kind: 'import' }
  /** An admin deletes the traveler by hand. */
  | { kind: 'vanish'; who: number };

/**
 * The outcome of one call: success, a failure before the call is carried out, or a lost response. After `hang` and `die` the
 * process is killed and started again; only `die` carries out the call.
 */
export type CallOutcome = 'ok' | 'fail' | 'lose' | 'hang' | 'die';

/** The SCIM ids of the users that the IdP has created. */
export interface UserIds {
  /** The current id of each person, by the person's number. */
  current: Map<number, string>;
  /** All ids, including those of deleted users. */
  all: string[];
}

/** Executes the steps with these outcomes of calls, and then advances the clock, without faults, until all work is done. */
export async function play(
  fixture: ProvisioningFixture,
  steps: Action[][],
  outcomes: CallOutcome[],
): Promise<UserIds> {
  const ids: UserIds = { current: new Map(), all: [] };
  const remaining = [...outcomes];
  for (const actions of steps)
    await withFaults(fixture, remaining, () => actions.map((action) => execute(fixture, ids, action)));
  fixture.travel.faultFor = () => undefined;
  for (let round = 0; round < 6; round += 1) {
    await fixture.reconcileAfter(30 * 60_000);
    fixture.clock.advance(30 * 60_000);
    await fixture.importTravelers();
  }
  return ids;
}

/** Executes actions at the same time while calls take the next outcomes. Restarts the bridge if an outcome kills it. */
async function withFaults(
  fixture: ProvisioningFixture,
  outcomes: CallOutcome[],
  begin: () => Promise<void>[],
): Promise<void> {
  let markDead = () => {};
  const death = new Promise<'dead'>((resolve) => {
    markDead = () => resolve('dead');
  });
  fixture.travel.faultFor = (call) => {
    const fault = faultOf(call, outcomes.shift());
    if (fault === 'hang' || fault === 'die') markDead();
    return fault;
  };
  const actions = Promise.all(begin());
  // A write may wait for a lease that a killed process took while it died; its wait ends when time passes.
  const answeredOrDead = Promise.race([actions.then(() => 'answered' as const), death]);
  const idle = async () => waitUntilIdle().then(() => 'idle' as const);
  let state = await Promise.race([answeredOrDead, idle()]);
  for (; state === 'idle'; state = await Promise.race([answeredOrDead, idle()])) fixture.clock.advance(800);
  if (state === 'answered') return;
  // Each write is answered when its budget of 800 ms is used up. A write that began later has a later budget.
  let isAnswered = false;
  const answered = actions.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    fixture.clock.advance(800);
    await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  }
  await fixture.restart();
}

function faultOf({ verb }: Call, outcome: CallOutcome = 'ok'): TravelFault {
  switch (outcome) {
    case 'ok':
      return undefined;
    case 'fail':
      return { kind: 'unavailable', text: 'down' };
    case 'lose':
      return 'lose';
    case 'hang':
    case 'die':
      // Only an import reads pages, and no write waits for it, so a kill there tests nothing.
      return verb === 'readPage' ? undefined : outcome;
  }
}

async function execute(fixture: ProvisioningFixture, ids: UserIds, action: Action): Promise<void> {
  const { users } = fixture.bridge;
  const connection = fixture.connection.id;
  const id = 'who' in action ? ids.current.get(action.who) : undefined;
  const patch = async (values: ScimResource) => {
    if (id !== undefined) await fixture.patch(id, values);
  };
  try {
    switch (action.kind) {
      case 'post': {
        const created = await users.create(connection, newUser(action.who, action.address));
        ids.current.set(action.who, created.id);
        ids.all.push(created.id);
        return;
      }
      case 'address':
        return await patch(emailsOf(addressOf(action.address)));
      case 'active':
        return await patch({ active: action.active });
      case 'manager':
        return await patch({
          [urns.enterprise]: { manager: { value: ids.current.get(action.manager) ?? '' } },
        });
      case 'language':
        return await patch({ preferredLanguage: action.language });
      case 'vanish':
        if (id !== undefined) fixture.travel.travelers.delete((await fixture.identity(id)).travelId ?? '');
        return;
      case 'delete':
        if (id === undefined) return;
        await users.remove(connection, id);
        if (ids.current.get(action.who) === id) ids.current.delete(action.who);
        return;
      default:
        return await runInBackground(fixture, action);
    }
  } catch (error) {
    // The userName of a POST may be taken, and a user may have been deleted since the step began.
    if (!(error instanceof ProvisioningError) || error.kind === 'refused') throw error;
  }
}

/** Reconciles due identities or imports, and stops waiting when the process dies, because the work then never ends. */
async function runInBackground(
  fixture: ProvisioningFixture,
  action: { kind: 'wait'; ms: number } | { kind: 'import' },
): Promise<void> {
  let markDead = () => {};
  const death = new Promise<void>((resolve) => {
    markDead = resolve;
  });
  const { faultFor } = fixture.travel;
  fixture.travel.faultFor = async (call) => {
    const fault = await faultFor(call);
    if (fault === 'hang' || fault === 'die') markDead();
    return fault;
  };
  if (action.kind === 'wait') fixture.clock.advance(action.ms);
  const work =
    action.kind === 'wait' ? fixture.bridge.reconcileDue() : fixture.bridge.importer.run(fixture.connection);
  await Promise.race([work, death]);
}

function addressOf(number: number): string {
  return `a${number}@corp.example`;
}

/** A user as the IdP creates it. The userName of people with an even number is an address. */
function newUser(number: number, address: number): ScimResource {
  return {
    userName: number % 2 === 0 ? `p${number}@login.example` : `p${number}`,
    externalId: `E${number}`,
    name: { givenName: `P${number}`, familyName: 'Smith' },
    ...emailsOf(addressOf(address)),
    active: true,
  };
}

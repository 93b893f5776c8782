import { namesById, usedNames } from '../../provisioning/people/explain-fields.ts';
import type { PersonPlace } from '../../provisioning/people/people.ts';
import { goLive, planningText } from '../../provisioning/shadow/go-live.ts';
import {
  type ShadowOutcome,
  type ShadowPerson,
  shadowRowPages,
  summarizeShadow,
  toShadowPerson,
} from '../../provisioning/shadow/report.ts';
import type { Shadow } from '../../store/connection-modes.ts';
import type { Handlers } from '../contract/operation.ts';
import type { shadowContract } from '../contract/shadow.ts';
import { type AdminDeps, findConnection } from '../deps.ts';
import { AdminError } from '../errors.ts';
import { parsePlace, placeText } from '../person-place.ts';
import type { AdminContext } from '../router.ts';

/** Handles the modes of connections, and what those in shadow mode plan. */
export function shadowHandlers(deps: AdminDeps): Handlers<typeof shadowContract, AdminContext> {
  return {
    changeConnectionMode: async ({ params: { id }, body: { mode } }, { note }) => {
      note({ connection: id, mode });
      findConnection(deps, id);
      if (!(await deps.store.modes.change(id, { to: mode, now: deps.runtime.now() })))
        throw new AdminError('conflict', `The connection is in the mode ${mode} already.`);
      deps.provisioning.wake();
    },
    listShadowPeople: async ({ params: { id }, query: { outcome, after, limit } }) => {
      const shadow = await readShadow(deps, id);
      const place = after === undefined ? undefined : parsePlace(after, [id]).after;
      const { people, next } = await readPeople(deps, shadow, { outcome, place, limit });
      const shown = people.map(({ fields }) => fields);
      return {
        people,
        names: await readNames(deps, id, shown),
        next: next && placeText({ connection: id, after: next }),
      };
    },
    summarizeShadow: ({ params: { id } }) => summarize(deps, id),
    downloadShadow: async ({ params: { id } }) => {
      const shadow = await readShadow(deps, id);
      const lookups = (await deps.store.rules.find(id))?.lookups;
      const names = lookups ? namesById(lookups) : new Map<string, string>();
      return shadowRowPages(deps.store.shadowPlans.findPage, shadow, names);
    },
    goLive: ({ params: { id }, body }, context) => leaveShadow(deps, { id, ...body }, context),
  };
}

async function summarize(deps: AdminDeps, id: string) {
  const shadow = await readShadow(deps, id);
  const sums = await summarizeShadow(deps.store.shadowPlans.findPage, shadow, deps.runtime.now());
  return { since: shadow.since, ...sums, names: await readNames(deps, id, sums.fields) };
}

async function leaveShadow(
  deps: AdminDeps,
  { id, ...body }: { id: string; digest: string; acceptedChanges?: number | undefined },
  { note, caller }: Pick<AdminContext, 'note' | 'caller'>,
) {
  note({ connection: id, digest: body.digest });
  findConnection(deps, id);
  const { store, runtime } = deps;
  const result = await goLive(store, { connection: id, ...body, by: caller?.shownName, now: runtime.now() });
  if (result.outcome === 'notInShadow') throw notInShadow();
  if (result.outcome === 'outdated')
    throw new AdminError('conflict', 'The digest is not one of a report of this time in shadow mode.');
  if (result.outcome === 'planning') throw new AdminError('conflict', planningText(result.left));
  note({ result: result.outcome, approved: 'approved' in result ? result.approved : 0 });
  deps.provisioning.wake();
  return { approved: 0, examples: [], ...result };
}

/** Returns the names of the ids that `shown` contains. */
async function readNames({ store }: AdminDeps, id: string, shown: object): Promise<Record<string, string>> {
  const inForce = await store.rules.find(id);
  return inForce?.lookups ? usedNames(shown, inForce.lookups) : {};
}

function notInShadow(): AdminError {
  return new AdminError('conflict', 'The connection is not in shadow mode.');
}

async function readShadow(deps: AdminDeps, id: string): Promise<Shadow> {
  findConnection(deps, id);
  const shadow = await deps.store.modes.readShadow(id);
  if (!shadow) throw notInShadow();
  return shadow;
}

interface PageRequest {
  outcome: ShadowOutcome | undefined;
  place: PersonPlace | undefined;
  limit: number;
}

/** The number of pages of the store that one request reads at most, so that it ends soon if few people match. */
const MAX_STEPS = 10;

async function readPeople(
  { store }: AdminDeps,
  shadow: Shadow,
  { outcome, place, limit }: PageRequest,
): Promise<{ people: ShadowPerson[]; next: PersonPlace | undefined }> {
  const people: ShadowPerson[] = [];
  let after = place;
  for (let step = 0; step < MAX_STEPS && people.length < limit; step += 1) {
    const page = await store.shadowPlans.findPage(shadow.connection, after, limit - people.length);
    const read = page.people.map((identity) => toShadowPerson(identity, shadow));
    people.push(...read.filter((person) => outcome === undefined || person.outcome === outcome));
    after = page.next;
    if (!after) break;
  }
  return { people, next: after };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScimResource } from '../../src/schema/resource.ts';
import { type Database, openEmbedded } from '../../src/store/database.ts';
import { emailsOf, type ProvisioningFixture, withFixture } from '../fixtures/provisioning.ts';
import {
  bare,
  begun,
  cityOf,
  everything,
  faultsOf,
  lostByHand,
  project,
  rest,
  rolesOf,
  type Story,
  titleMapping,
  type Wish,
  write,
  writeUnder,
} from '../fixtures/unknown-calls.ts';

jest.setTimeout(120_000);

const directory = mkdtempSync(join(tmpdir(), 'jetbridge-late-'));
let database: Database;
let fixtures = 0;

beforeAll(async () => {
  database = await openEmbedded(directory, true);
});

afterAll(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

/** Each kind of call that writes, by the user before it (undefined: there is none) and after it. */
const kinds: Record<string, { from: ScimResource | undefined; to: Wish }> = {
  'a create': { from: undefined, to: everything },
  'a plain field': { from: everything, to: { ...everything, preferredLanguage: 'fr' } },
  'a removal of plain fields': {
    from: everything,
    to: without(everything, 'preferredLanguage', 'phoneNumbers'),
  },
  'a custom field': { from: everything, to: { ...everything, title: 'Looms' } },
  'a first custom field': { from: without(everything, 'title'), to: everything },
  'a removal of a custom field': { from: everything, to: without(everything, 'title') },
  'a role': { from: everything, to: { ...everything, ...rolesOf('guest') } },
  'a further role': { from: everything, to: { ...everything, ...rolesOf('organizer', 'guest') } },
  'a revoked role': { from: everything, to: { ...everything, ...rolesOf() } },
  'a removal of a city': { from: everything, to: without(everything, 'addresses') },
  'a removal of everything': { from: everything, to: bare(everything) },
  'an email': { from: everything, to: { ...everything, ...emailsOf('pia.new@corp.example') } },
  'an archive': { from: everything, to: { ...everything, active: false } },
  'an archive with more': {
    from: everything,
    to: { ...bare(everything), active: false },
  },
  'an un-archive': { from: { ...everything, active: false }, to: everything },
  'a DELETE': { from: everything, to: null },
};

/** What the identity provider does next. */
const events: Record<string, (story: Story) => Promise<void>> = {
  nothing: async () => {},
  'the former values': async (story) => edit(story, (_, from) => from ?? bare(everything)),
  'other values': async (story) =>
    edit(story, (user) => ({
      ...user,
      preferredLanguage: 'fr',
      title: 'Bridges',
      ...rolesOf('accountant'),
      ...cityOf('Nice'),
    })),
  'a removal of everything': async (story) => edit(story, (user) => bare(user)),
  'another address': async (story) =>
    edit(story, (user) => ({ ...user, ...emailsOf('pia.other@corp.example') })),
  'a deactivation': async (story) => edit(story, (user) => ({ ...user, active: false })),
  'a reactivation': async (story) => edit(story, (user) => ({ ...user, active: true })),
  'a DELETE': (story) => write(story, null),
  'a DELETE and a POST': async (story) => {
    await write(story, null);
    await write(story, { ...bare(everything), preferredLanguage: 'fr' });
  },
};

/** The user from which a story began, for those who go back to it. */
const origins = new WeakMap<Story, ScimResource | undefined>();

async function edit(
  story: Story,
  change: (user: ScimResource, from: ScimResource | undefined) => ScimResource,
): Promise<void> {
  // Nobody edits a user who was deleted.
  if (story.wish !== null) await write(story, change(story.wish, origins.get(story)));
}

/** Steps in the order in which they happen: the next attempt, the event, the late call. */
const orders = [
  ['late', 'attempt', 'event'],
  ['late', 'event', 'attempt'],
  ['attempt', 'late', 'event'],
  ['attempt', 'event', 'late'],
  ['event', 'late', 'attempt'],
  ['event', 'attempt', 'late'],
] as const;

function without(user: ScimResource, ...names: string[]): ScimResource {
  return Object.fromEntries(Object.entries(user).filter(([name]) => !names.includes(name)));
}

const kindNames = Object.keys(kinds);
const eventNames = Object.keys(events);

async function start(fixture: ProvisioningFixture, kind: string): Promise<Story> {
  const { from } = kinds[kind] ?? { from: undefined };
  const story: Story = from === undefined ? { fixture, id: '', wish: null } : await begun(fixture, from);
  if (from === undefined) fixture.travel.lookupData.customFields.push(project);
  origins.set(story, from);
  return story;
}

interface Case {
  kind: string;
  event: string;
  isKilled: boolean;
  order: readonly ('late' | 'attempt' | 'event')[];
  isRestarted: boolean;
}

async function faultsIn(given: Case): Promise<string[]> {
  const faults: string[] = [];
  fixtures += 1;
  await withFixture(
    async (fixture) => {
      const story = await start(fixture, given.kind);
      const { to } = kinds[given.kind] ?? { to: null };
      await writeUnder(story, { trouble: 'late', isKilled: given.isKilled }, to);
      for (const step of given.order) {
        if (step === 'late') fixture.travel.carryOutLateCalls();
        else if (step === 'attempt') await fixture.reconcileAfter(1_000);
        else await events[given.event]?.(story);
      }
      if (given.isRestarted) await fixture.restart();
      await rest(story);
      faults.push(...(await faultsOf(story)));
      const isSame = given.kind !== 'a create';
      if (isSame) faults.push(...(await lostByHand(story)).map((what) => `${what} is lost`));
    },
    { mapping: titleMapping, database, name: `fixture-${fixtures}` },
  );
  return faults;
}

test.each(kindNames)('%s that is carried out late does no harm, whatever comes next', async (kind) => {
  const failures: string[] = [];
  for (const event of eventNames) {
    for (const order of orders) {
      for (const isKilled of [false, true]) {
        const given = { kind, event, order, isKilled, isRestarted: isKilled };
        const faults = await faultsIn(given).catch((error) => [String(error)]);
        if (faults.length > 0)
          failures.push(`${event}; ${order.join(', ')}${isKilled ? ', killed' : ''}: ${faults.join('; ')}`);
      }
    }
  }
  expect(failures).toEqual([]);
});

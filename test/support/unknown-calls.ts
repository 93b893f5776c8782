import { type ScimResource, urns } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { type BridgeHouse, person } from './bridge-house.ts';
import type { Call, Trouble } from './fake-travel.ts';

/** The rules of the stories: a title fills a custom field. */
export const titleMapping = { scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'cf-1' }] };

/** The custom field that the title fills. */
export const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };

/** A user as the identity provider knows one: null once it was deleted. */
export type Wish = ScimResource | null;

/** One person's user at the identity provider, and what it wants last. */
export interface Story {
  house: BridgeHouse;
  /** The present SCIM id. */
  id: string;
  wish: Wish;
}

/** The roles as the travel extension has them. */
export function rolesOf(...values: string[]): ScimResource {
  return { [urns.travel]: { roles: values.map((value) => ({ value })) } };
}

/** An address with a city alone. */
export function cityOf(locality: string): ScimResource {
  return { addresses: [{ type: 'work', primary: true, locality }] };
}

/** A user who has something in every kind of field. */
export const everything = person('Pia', {
  externalId: 'E1',
  preferredLanguage: 'en',
  title: 'Engines',
  phoneNumbers: [{ value: '+33123456789', type: 'work' }],
  ...rolesOf('organizer'),
  ...cityOf('Lyon'),
});

const removable = ['preferredLanguage', 'title', 'phoneNumbers', urns.travel, 'addresses'];

/** The same user without anything that can be removed. */
export function bare(user: ScimResource): ScimResource {
  return Object.fromEntries(Object.entries(user).filter(([name]) => !removable.includes(name)));
}

/** What somebody adds to a traveler by hand. */
const handMade = {
  currency: 'EUR',
  roles: ['premium'],
  customFields: [{ customFieldId: 'cf-9', values: [{ data: 'by hand' }] }],
  address: { region: 'Quebec' },
};

/** Begins with a synchronized user, whose traveler somebody has added fields to. */
export async function begun(house: BridgeHouse, wish: ScimResource): Promise<Story> {
  if (!house.travel.known.customFields.includes(project)) house.travel.known.customFields.push(project);
  const { id } = await house.bridge.users.create(house.connection.id, wish);
  const traveler = await house.traveler(id);
  if (!traveler) throw new Error('no traveler was made');
  house.travel.people.set(traveler.id, {
    ...traveler,
    ...handMade,
    roles: [...(traveler.roles ?? []), ...handMade.roles],
    customFields: [...(traveler.customFields ?? []), ...handMade.customFields],
    address: { ...traveler.address, ...handMade.address },
  });
  await house.imported();
  return { house, id, wish };
}

/** Writes what the identity provider wants from now on; a deleted user is created anew. */
export async function write(story: Story, wish: Wish): Promise<void> {
  const { house, id } = story;
  const { users } = house.bridge;
  const connection = house.connection.id;
  const isThere = story.wish !== null;
  story.wish = wish;
  if (wish === null) {
    if (isThere) await users.remove(connection, id);
  } else if (isThere) await users.change(connection, id, () => wish, 'replace');
  else story.id = (await users.create(connection, wish)).id;
}

/** What becomes of the next call that writes, and whether the process is killed while it waits for the answer. */
export interface Fate {
  trouble: Exclude<Trouble, undefined | 'die' | 'hang'>;
  isKilled: boolean;
}

/** Writes while the next call of the bridge that writes has a fate. */
export async function writeUnder(story: Story, { trouble, isKilled }: Fate, wish: Wish): Promise<void> {
  const { house } = story;
  let dying = () => {};
  const death = new Promise<'dead'>((resolve) => {
    dying = () => resolve('dead');
  });
  house.travel.trouble = async (call) => {
    if (!isWrite(call)) return undefined;
    house.travel.trouble = () => undefined;
    if (!isKilled) return trouble;
    await house.restart();
    dying();
    return trouble;
  };
  let isAnswered = false;
  const answered = write(story, wish).then(() => {
    isAnswered = true;
  });
  await Promise.race([answered, death]);
  while (!isAnswered) {
    house.clock.advance(800);
    await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  }
  house.travel.trouble = () => undefined;
}

function isWrite({ verb }: Call): boolean {
  return verb === 'create' || verb === 'patch' || verb === 'remove';
}

/** Lets everything come to rest, past the last look for late calls. */
export async function rest({ house }: Story): Promise<void> {
  for (let round = 0; round < 4; round += 1) await house.pass(45_000);
}

/** What is wrong with a story at rest, in words. */
export async function faultsOf(story: Story): Promise<string[]> {
  const { house, id, wish } = story;
  const all = [...house.travel.people.values()].slice(1);
  const active = all.filter(({ archived }) => !archived);
  const faults = await callsForNothing(story);
  const identity = await house.identity(id);
  if (identity.state !== 'synced') faults.push(`is ${identity.state}`);
  const codes = identity.findings.map(({ field, code }) => `${field}: ${code}`);
  if (codes.length > 0) faults.push(`has findings: ${codes}`);
  if (identity.progress.late || identity.progress.announced) faults.push('still waits for an answer');
  if (wish === null || wish.active === false) {
    if (active.length > 0) faults.push('has left and is active');
    if (all.length > 1) faults.push('has several travelers');
    return faults;
  }
  if (all.length !== 1 || active.length !== 1)
    faults.push(`has ${all.length} travelers, ${active.length} active`);
  const own = house.travel.people.get(identity.travelId ?? '');
  return own ? [...faults, ...valueFaults(own, wish)] : [...faults, 'has no traveler'];
}

/** Nothing is left to do: neither time nor an import makes a call that writes or reads one traveler. */
async function callsForNothing({ house }: Story): Promise<string[]> {
  house.travel.calls.length = 0;
  await house.pass(120_000);
  await house.imported();
  const verbs = house.travel.calls.map(({ verb }) => verb).filter((verb) => verb !== 'page');
  return verbs.length > 0 ? [`calls for nothing: ${verbs}`] : [];
}

function valueFaults(traveler: TravelUser, wish: ScimResource): string[] {
  const wanted = wantedOf(wish);
  const has = {
    email: traveler.email,
    lang: traveler.lang,
    phone: traveler.phoneNumber?.replaceAll(' ', ''),
    title: traveler.customFields?.find(({ customFieldId }) => customFieldId === 'cf-1')?.values[0]?.data,
    roles: (traveler.roles ?? []).filter((role) => role !== 'premium').join(),
    city: traveler.address?.city,
  };
  return Object.keys(wanted).flatMap((name) => {
    const [is, should] = [has[name as keyof typeof has], wanted[name as keyof typeof has]]; // Of the same names.
    return is === should ? [] : [`${name} is ${is}, not ${should}`];
  });
}

function wantedOf(wish: ScimResource) {
  const first = (name: string, part: string) => {
    const values = wish[name];
    const [one] = Array.isArray(values) ? values : [];
    const value = typeof one === 'object' && one && !Array.isArray(one) ? one[part] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const extension = JSON.stringify(wish[urns.travel] ?? {});
  return {
    email: first('emails', 'value'),
    lang: wish.preferredLanguage,
    phone: first('phoneNumbers', 'value'),
    title: wish.title,
    roles: [...extension.matchAll(/"value":"(\w+)"/g)].map(([, role]) => role).join(),
    city: first('addresses', 'locality'),
  };
}

/** The hand-made fields that the traveler has no more. */
export async function lostByHand({ house, id }: Story): Promise<string[]> {
  const traveler = await house.traveler(id);
  if (!traveler) return [];
  const faults = traveler.currency === 'EUR' ? [] : ['currency'];
  if (!traveler.roles?.includes('premium')) faults.push('role premium');
  if (!traveler.customFields?.some(({ customFieldId }) => customFieldId === 'cf-9')) faults.push('cf-9');
  if (traveler.address?.region !== 'Quebec') faults.push('region');
  return faults;
}

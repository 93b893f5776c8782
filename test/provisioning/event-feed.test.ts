import type { FeedPage, TravelAnswer } from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import {
  type FeedFollower,
  type FeedResult,
  feedFollower,
} from '../../src/provisioning/import/event-feed.ts';
import { rulesSnapshots } from '../../src/provisioning/rules/rules-snapshots.ts';
import { type FakeFeed, fakeFeed } from '../fixtures/fake-feed.ts';
import {
  addressOf,
  desiredOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  provisioningFixture,
} from '../fixtures/provisioning.ts';

let fixture: ProvisioningFixture;
let feed: FakeFeed;
let following: FeedFollower;
let refreshed: number;
beforeEach(async () => {
  fixture = await provisioningFixture();
  feed = fakeFeed();
  following = followerIn(fixture);
  refreshed = 0;
});
afterEach(() => fixture.close());

function followerIn({ store, clock, connection }: ProvisioningFixture): FeedFollower {
  let ids = 0;
  const runtime = {
    ...clock,
    newId: () => {
      ids += 1;
      return `by-hand-${ids}`;
    },
    random: () => 0.5,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    checkpoint: () => {},
  };
  const followRules = async () => {
    refreshed += 1;
  };
  return feedFollower(
    {
      ...store,
      rulesSnapshots: rulesSnapshots({ rules: store.rules, runtime, configuredMappingOf: () => connection }),
      wake: () => {},
      runtime,
      refreshRules: followRules,
    },
    connection,
    { source: feed },
  );
}

/** Changes a traveler by hand, as an admin of the travel service does, and adds the event to the feed. */
function editByHand(id: string, change: Partial<TravelUser>): TravelUser {
  const before = fixture.travel.travelers.get(id);
  if (!before) throw new Error(`there is no traveler ${id}`);
  const after = { ...before, ...change };
  fixture.travel.travelers.set(id, after);
  feed.addEvent('user.updated', after, after.email === before.email ? undefined : before.email);
  return after;
}

/** Creates a user as the IdP does. Returns the SCIM id and the id of the traveler. */
async function createUser(name: string): Promise<{ id: string; travelId: string }> {
  const { id } = await fixture.bridge.users.create('default', person(name));
  const { travelId } = await fixture.identity(id);
  if (travelId === undefined) throw new Error(`${name} has no traveler`);
  return { id, travelId };
}

/** Sets the follower to the end of the feed, and clears the recorded requests and calls. */
async function beginAtEnd(): Promise<void> {
  await following.begin();
  feed.requests.length = 0;
  fixture.travel.calls.length = 0;
}

const callVerbs = () => fixture.travel.calls.map(({ verb }) => verb);

test('a poll without new events requests one event only', async () => {
  feed.addEvent('user.created', fixture.travel.addTraveler({ email: 'old@corp.example' }));
  await beginAtEnd();
  expect(await following.follow()).toBe('followed');
  expect(feed.requests).toEqual([{ limit: 1, from: undefined }]);
  expect(callVerbs()).toEqual([]);
  expect((await fixture.store.identities.findPage('default', 0, 10)).total).toBe(0);
});

test('a traveler created by hand becomes visible to IdPs and follows later changes', async () => {
  await beginAtEnd();
  const { id } = fixture.travel.addTraveler({ email: 'ada@corp.example', firstName: 'Ada' });
  feed.addEvent('user.created', fixture.travel.travelers.get(id));
  await following.follow();
  const findIdentity = async () =>
    (await fixture.store.identities.find('default', { by: 'travelId', value: id }))[0];
  expect(await findIdentity()).toMatchObject({ claimed: false, desired: { userName: 'ada@corp.example' } });
  editByHand(id, { firstName: 'Augusta' });
  await following.follow();
  expect((await findIdentity())?.desired).toMatchObject({ name: { givenName: 'Augusta' } });
  feed.addEvent('user.deleted', fixture.travel.travelers.get(id));
  fixture.travel.travelers.delete(id);
  await following.follow();
  expect(await findIdentity()).toBeUndefined();
  expect(callVerbs()).toEqual([]);
});

test('a linked traveler changed by hand is read once, and the drift is reported', async () => {
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  editByHand(travelId, { firstName: 'Eve' });
  editByHand(travelId, { firstName: 'Eva' });
  await following.follow();
  expect(callVerbs()).toEqual(['read']);
  expect((await fixture.identity(id)).observed).toMatchObject({ firstName: 'Eva' });
  await fixture.bridge.reconcileDue();
  expect(await fixture.findings(id)).toEqual(['firstName: drift']);
});

test('a change by hand is applied later if reading the traveler fails', async () => {
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  editByHand(travelId, { firstName: 'Eve' });
  fixture.travel.faultFor = ({ verb }) =>
    verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined;
  expect(await following.follow()).toBe('followed');
  await fixture.bridge.reconcileDue();
  fixture.travel.faultFor = () => undefined;
  await fixture.reconcileAfter(31_000);
  expect((await fixture.identity(id)).observed).toMatchObject({ firstName: 'Eve' });
  expect(await fixture.findings(id)).toEqual(['firstName: drift']);
});

test('a person who was held because of an administrator gets the traveler once it has no such role any more', async () => {
  const admin = fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
  await fixture.importTravelers();
  const { id } = await fixture.bridge.users.create('default', person('Ada', { userName: 'ada' }));
  await beginAtEnd();
  editByHand(admin.id, { roles: [] });
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(await fixture.identity(id)).toMatchObject({ state: 'synced', travelId: admin.id });
});

test('an event that is older than the observed value changes nothing', async () => {
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  const traveler = fixture.travel.travelers.get(travelId);
  feed.addEvent('user.updated', traveler && { ...traveler, firstName: 'Older' });
  await following.follow();
  expect((await fixture.identity(id)).observed).toMatchObject({ firstName: 'Ada' });
  expect(await fixture.findings(id)).toEqual([]);
  expect(callVerbs()).toEqual(['read']);
});

test('a linked traveler archived by hand is reported as drift', async () => {
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  editByHand(travelId, { archived: true });
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(await fixture.findings(id)).toEqual(['archived: drift']);
});

test('a linked traveler deleted by hand is created again', async () => {
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  feed.addEvent('user.deleted', fixture.travel.travelers.get(travelId));
  fixture.travel.travelers.delete(travelId);
  await following.follow();
  await fixture.reconcileAfter(60_000);
  const anew = await fixture.traveler(id);
  expect(anew).toMatchObject({ email: addressOf('Ada') });
  expect(anew?.id).not.toBe(travelId);
});

test.each([
  ['given up', (id: string) => void editByHand(id, { email: 'other@corp.example' })],
  [
    'freed by a deletion',
    (id: string) => {
      feed.addEvent('user.deleted', fixture.travel.travelers.get(id));
      fixture.travel.travelers.delete(id);
    },
  ],
])('an email address that is %s by hand goes to the user that waits for it', async (_title, free) => {
  const { id } = await createUser('Bob');
  const wanted = 'wanted@corp.example';
  const stranger = fixture.travel.addTraveler({ email: wanted });
  await fixture.patch(id, emailsOf(wanted));
  await fixture.bridge.reconcileDue();
  expect(await fixture.findings(id)).toEqual(['email: emailTaken']);
  await beginAtEnd();
  free(stranger.id);
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(await fixture.traveler(id)).toMatchObject({ email: wanted });
  expect(await fixture.findings(id)).toEqual([]);
});

test('the events of our own writes cause no call', async () => {
  await beginAtEnd();
  for (let n = 0; n < 60; n += 1) {
    const { id, travelId } = await createUser(`P${n}`);
    feed.addEvent('user.created', fixture.travel.travelers.get(travelId));
    await fixture.patch(id, { name: { givenName: 'New', familyName: 'Name' } });
    await fixture.bridge.reconcileDue();
    feed.addEvent('user.updated', fixture.travel.travelers.get(travelId));
  }
  fixture.travel.calls.length = 0;
  expect(await following.follow()).toBe('followed');
  await fixture.bridge.reconcileDue();
  expect(callVerbs()).toEqual([]);
  expect(feed.requests.map(({ limit }) => limit)).toEqual([1, 10, 100, 100]);
});

test('the events of our own deletions cause no call', async () => {
  await fixture.close();
  fixture = await provisioningFixture({ policies: { deprovision: 'delete' } });
  following = followerIn(fixture);
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  const traveler = fixture.travel.travelers.get(travelId);
  await fixture.bridge.users.remove('default', id);
  feed.addEvent('user.deleted', traveler);
  fixture.travel.calls.length = 0;
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(callVerbs()).toEqual([]);
});

test.each(['costCenter.created', 'billingProfile.updated', 'travelPolicy.deleted'])(
  '%s makes the lookups be read anew, once for all that came together',
  async (kind) => {
    await beginAtEnd();
    let expired = 0;
    fixture.connection.lookups.expire = () => {
      expired += 1;
    };
    feed.addEvent(kind);
    feed.addEvent(kind);
    feed.addEvent('invoice.created');
    await following.follow();
    expect([expired, refreshed]).toEqual([1, 1]);
    feed.addEvent('tripProject.created');
    await following.follow();
    expect([expired, refreshed]).toEqual([1, 1]);
  },
);

describe('the position in the feed', () => {
  const addEvents = (count: number) => {
    for (let n = 0; n < count; n += 1) feed.addEvent('invoice.created');
  };
  /** Adds a traveler by hand, polls the feed, and returns the result and the number of identities of the traveler. */
  const followNewTraveler = async () => {
    const { id } = fixture.travel.addTraveler({ email: `n${feed.events.length}@corp.example` });
    feed.addEvent('user.created', fixture.travel.travelers.get(id));
    const outcome = await following.follow();
    const found = await fixture.store.identities.find('default', { by: 'travelId', value: id });
    return [outcome, found.length];
  };

  test('is the beginning if the feed was empty', async () => {
    await beginAtEnd();
    expect(await followNewTraveler()).toEqual(['followed', 1]);
  });

  test('is taken once, and no event before it is applied', async () => {
    addEvents(3);
    expect(await following.follow()).toBe('lost');
    expect(feed.requests).toEqual([{ limit: 1, from: undefined }]);
    expect(await following.begin()).toBe('followed');
    expect(feed.requests).toHaveLength(1);
    expect(await followNewTraveler()).toEqual(['followed', 1]);
  });

  test('is lost once it has expired, so that an import is needed, and later events are applied', async () => {
    addEvents(3);
    await beginAtEnd();
    feed.events.splice(0);
    feed.events.push({ id: 'later', kind: 'invoice.created', traveler: undefined, previousEmail: undefined });
    expect(await following.follow()).toBe('lost');
    expect(await followNewTraveler()).toEqual(['followed', 1]);
  });

  test('is lost if it is more than fifty pages back, and no further page is read', async () => {
    addEvents(1);
    await beginAtEnd();
    addEvents(6_000);
    expect(await following.follow()).toBe('lost');
    // Fifty pages, and one to take a new position.
    expect(feed.requests).toHaveLength(51);
    expect(await followNewTraveler()).toEqual(['followed', 1]);
  });

  test('is found among thousands of events', async () => {
    addEvents(1);
    await beginAtEnd();
    const { id } = fixture.travel.addTraveler({ email: 'first@corp.example' });
    feed.addEvent('user.created', fixture.travel.travelers.get(id));
    addEvents(4_000);
    expect(await following.follow()).toBe('followed');
    expect(await fixture.store.identities.find('default', { by: 'travelId', value: id })).toHaveLength(1);
  });

  test('does not move while a page fails, so that no event is missed', async () => {
    addEvents(1);
    await beginAtEnd();
    const { id } = fixture.travel.addTraveler({ email: 'first@corp.example' });
    feed.addEvent('user.created', fixture.travel.travelers.get(id));
    addEvents(50);
    feed.faultFor = (from) => (from === undefined ? undefined : { kind: 'unavailable', text: 'lost' });
    expect(await following.follow()).toBe('unavailable');
    feed.faultFor = () => undefined;
    expect(await following.follow()).toBe('followed');
    expect(await fixture.store.identities.find('default', { by: 'travelId', value: id })).toHaveLength(1);
  });

  test('is lost if a cursor ends between two pages', async () => {
    addEvents(1);
    await beginAtEnd();
    addEvents(50);
    feed.faultFor = (from) => (from === undefined ? undefined : { kind: 'ok', value: 'none' });
    expect(await following.follow()).toBe('lost');
  });

  test.each<[FeedResult, TravelAnswer<FeedPage | 'none'>]>([
    ['none', { kind: 'ok', value: 'none' }],
    ['unavailable', { kind: 'unavailable', text: 'down' }],
    ['unavailable', { kind: 'unauthorized' }],
  ])('is missing while the feed is %s, and is taken later', async (outcome, answer) => {
    feed.faultFor = () => answer;
    expect(await following.begin()).toBe(outcome);
    expect(await following.follow()).toBe(outcome);
    feed.faultFor = () => undefined;
    expect(await following.follow()).toBe('lost');
    expect(await followNewTraveler()).toEqual(['followed', 1]);
  });
});

test('an event never changes what the IdP has written', async () => {
  const { id, travelId } = await createUser('Ada');
  await beginAtEnd();
  editByHand(travelId, { email: 'else@corp.example' });
  await following.follow();
  await fixture.bridge.reconcileDue();
  const view = await fixture.bridge.users.read('default', id);
  expect(desiredOf(view)).toMatchObject({ userName: addressOf('Ada') });
});

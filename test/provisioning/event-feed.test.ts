import { type FeedFollower, type FeedResult, feedFollower } from '../../src/provisioning/event-feed.ts';
import { rulesSnapshots } from '../../src/provisioning/rules-snapshot.ts';
import type { FeedPage, TravelAnswer } from '../../src/provisioning/travel-ports.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
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
    { ...store, rulesSnapshots: rulesSnapshots(), wake: () => {}, runtime, refreshRules: followRules },
    connection,
    feed,
  );
}

/** Changes a traveler by hand, as an admin of the travel service does, and lets the feed tell of it. */
function byHand(id: string, change: Partial<TravelUser>): TravelUser {
  const before = fixture.travel.travelers.get(id);
  if (!before) throw new Error(`there is no traveler ${id}`);
  const after = { ...before, ...change };
  fixture.travel.travelers.set(id, after);
  feed.addEvent('user.updated', after, after.email === before.email ? undefined : before.email);
  return after;
}

/** Somebody whom an IdP has made, and whose traveler is there. */
async function joined(name: string): Promise<{ id: string; travelId: string }> {
  const { id } = await fixture.bridge.users.create('default', person(name));
  const { travelId } = await fixture.identity(id);
  if (travelId === undefined) throw new Error(`${name} has no traveler`);
  return { id, travelId };
}

/** Follows from the present moment on. */
async function begun(): Promise<void> {
  await following.begin();
  feed.requests.length = 0;
  fixture.travel.calls.length = 0;
}

const verbs = () => fixture.travel.calls.map(({ verb }) => verb);

test('when nothing has happened, the newest event is asked for and nothing else', async () => {
  feed.addEvent('user.created', fixture.travel.addTraveler({ email: 'old@corp.example' }));
  await begun();
  expect(await following.follow()).toBe('followed');
  expect(feed.requests).toEqual([{ limit: 1, from: undefined }]);
  expect(verbs()).toEqual([]);
  expect((await fixture.store.identities.findPage('default', 0, 10)).total).toBe(0);
});

test('a traveler who was made by hand is there for IdPs, and changes along', async () => {
  await begun();
  const { id } = fixture.travel.addTraveler({ email: 'ada@corp.example', firstName: 'Ada' });
  feed.addEvent('user.created', fixture.travel.travelers.get(id));
  await following.follow();
  const kept = async () => (await fixture.store.identities.find('default', { by: 'travelId', value: id }))[0];
  expect(await kept()).toMatchObject({ claimed: false, desired: { userName: 'ada@corp.example' } });
  byHand(id, { firstName: 'Augusta' });
  await following.follow();
  expect((await kept())?.desired).toMatchObject({ name: { givenName: 'Augusta' } });
  feed.addEvent('user.deleted', fixture.travel.travelers.get(id));
  fixture.travel.travelers.delete(id);
  await following.follow();
  expect(await kept()).toBeUndefined();
  expect(verbs()).toEqual([]);
});

test('a linked traveler who was changed by hand is read once, and the drift is found', async () => {
  const { id, travelId } = await joined('Ada');
  await begun();
  byHand(travelId, { firstName: 'Eve' });
  byHand(travelId, { firstName: 'Eva' });
  await following.follow();
  expect(verbs()).toEqual(['read']);
  expect((await fixture.identity(id)).observed).toMatchObject({ firstName: 'Eva' });
  await fixture.bridge.reconcileDue();
  expect(await fixture.findings(id)).toEqual(['firstName: drift']);
});

test('a change by hand is not forgotten when reading the person fails', async () => {
  const { id, travelId } = await joined('Ada');
  await begun();
  byHand(travelId, { firstName: 'Eve' });
  fixture.travel.faultFor = ({ verb }) =>
    verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined;
  expect(await following.follow()).toBe('unavailable');
  fixture.travel.faultFor = () => undefined;
  expect(await following.follow()).toBe('followed');
  await fixture.bridge.reconcileDue();
  expect((await fixture.identity(id)).observed).toMatchObject({ firstName: 'Eve' });
  expect(await fixture.findings(id)).toEqual(['firstName: drift']);
});

test('an event that is older than what is there now changes nothing back', async () => {
  const { id, travelId } = await joined('Ada');
  await begun();
  const traveler = fixture.travel.travelers.get(travelId);
  feed.addEvent('user.updated', traveler && { ...traveler, firstName: 'Older' });
  await following.follow();
  expect((await fixture.identity(id)).observed).toMatchObject({ firstName: 'Ada' });
  expect(await fixture.findings(id)).toEqual([]);
  expect(verbs()).toEqual(['read']);
});

test('a linked traveler who was archived by hand is drift, too', async () => {
  const { id, travelId } = await joined('Ada');
  await begun();
  byHand(travelId, { archived: true });
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(await fixture.findings(id)).toEqual(['archived: drift']);
});

test('a linked traveler who was deleted by hand is made again', async () => {
  const { id, travelId } = await joined('Ada');
  await begun();
  feed.addEvent('user.deleted', fixture.travel.travelers.get(travelId));
  fixture.travel.travelers.delete(travelId);
  await following.follow();
  await fixture.reconcileAfter(60_000);
  const anew = await fixture.traveler(id);
  expect(anew).toMatchObject({ email: addressOf('Ada') });
  expect(anew?.id).not.toBe(travelId);
});

test.each([
  ['given up', (id: string) => void byHand(id, { email: 'other@corp.example' })],
  [
    'freed by a deletion',
    (id: string) => {
      feed.addEvent('user.deleted', fixture.travel.travelers.get(id));
      fixture.travel.travelers.delete(id);
    },
  ],
])('an address that is %s by hand goes to whoever waits for it', async (_title, free) => {
  const { id } = await joined('Bob');
  const wanted = 'wanted@corp.example';
  const stranger = fixture.travel.addTraveler({ email: wanted });
  await fixture.patch(id, emailsOf(wanted));
  await fixture.bridge.reconcileDue();
  expect(await fixture.findings(id)).toEqual(['email: emailTaken']);
  await begun();
  free(stranger.id);
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(await fixture.traveler(id)).toMatchObject({ email: wanted });
  expect(await fixture.findings(id)).toEqual([]);
});

test('our own writes come back in the feed and cost no call', async () => {
  await begun();
  for (let n = 0; n < 60; n += 1) {
    const { id, travelId } = await joined(`P${n}`);
    feed.addEvent('user.created', fixture.travel.travelers.get(travelId));
    await fixture.patch(id, { name: { givenName: 'New', familyName: 'Name' } });
    await fixture.bridge.reconcileDue();
    feed.addEvent('user.updated', fixture.travel.travelers.get(travelId));
  }
  fixture.travel.calls.length = 0;
  expect(await following.follow()).toBe('followed');
  await fixture.bridge.reconcileDue();
  expect(verbs()).toEqual([]);
  expect(feed.requests.map(({ limit }) => limit)).toEqual([1, 10, 100, 100]);
});

test('our own deletions cost no call, either', async () => {
  await fixture.close();
  fixture = await provisioningFixture({ policies: { deprovision: 'delete' } });
  following = followerIn(fixture);
  const { id, travelId } = await joined('Ada');
  await begun();
  const traveler = fixture.travel.travelers.get(travelId);
  await fixture.bridge.users.remove('default', id);
  feed.addEvent('user.deleted', traveler);
  fixture.travel.calls.length = 0;
  await following.follow();
  await fixture.bridge.reconcileDue();
  expect(verbs()).toEqual([]);
});

test.each(['costCenter.created', 'billingProfile.updated', 'travelPolicy.deleted'])(
  '%s makes the lookups be read anew, once for all that came together',
  async (kind) => {
    await begun();
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

describe('the place in the feed', () => {
  const tell = (count: number) => {
    for (let n = 0; n < count; n += 1) feed.addEvent('invoice.created');
  };
  /** What becomes of a traveler who is made by hand. */
  const isSeen = async () => {
    const { id } = fixture.travel.addTraveler({ email: `n${feed.events.length}@corp.example` });
    feed.addEvent('user.created', fixture.travel.travelers.get(id));
    const followed = await following.follow();
    const found = await fixture.store.identities.find('default', { by: 'travelId', value: id });
    return [followed, found.length];
  };

  test('in a feed that was empty is its beginning', async () => {
    await begun();
    expect(await isSeen()).toEqual(['followed', 1]);
  });

  test('is taken once, and before that nothing is followed', async () => {
    tell(3);
    expect(await following.follow()).toBe('lost');
    expect(feed.requests).toEqual([{ limit: 1, from: undefined }]);
    expect(await following.begin()).toBe('followed');
    expect(feed.requests).toHaveLength(1);
    expect(await isSeen()).toEqual(['followed', 1]);
  });

  test('that has expired is lost; everybody must be read, and what comes from then on is seen', async () => {
    tell(3);
    await begun();
    feed.events.splice(0);
    feed.events.push({ id: 'later', kind: 'invoice.created', traveler: undefined, previousEmail: undefined });
    expect(await following.follow()).toBe('lost');
    expect(await isSeen()).toEqual(['followed', 1]);
  });

  test('that is more than fifty pages back is lost, and no more is asked for', async () => {
    tell(1);
    await begun();
    tell(6_000);
    expect(await following.follow()).toBe('lost');
    // Fifty pages, and one to begin anew.
    expect(feed.requests).toHaveLength(51);
    expect(await isSeen()).toEqual(['followed', 1]);
  });

  test('is found among thousands', async () => {
    tell(1);
    await begun();
    const { id } = fixture.travel.addTraveler({ email: 'first@corp.example' });
    feed.addEvent('user.created', fixture.travel.travelers.get(id));
    tell(4_000);
    expect(await following.follow()).toBe('followed');
    expect(await fixture.store.identities.find('default', { by: 'travelId', value: id })).toHaveLength(1);
  });

  test('stays where it is while pages are lost on the way, and nothing is missed', async () => {
    tell(1);
    await begun();
    const { id } = fixture.travel.addTraveler({ email: 'first@corp.example' });
    feed.addEvent('user.created', fixture.travel.travelers.get(id));
    tell(50);
    feed.faultFor = (from) => (from === undefined ? undefined : { kind: 'unavailable', text: 'lost' });
    expect(await following.follow()).toBe('unavailable');
    feed.faultFor = () => undefined;
    expect(await following.follow()).toBe('followed');
    expect(await fixture.store.identities.find('default', { by: 'travelId', value: id })).toHaveLength(1);
  });

  test('whose cursor has ended on the way is lost', async () => {
    tell(1);
    await begun();
    tell(50);
    feed.faultFor = (from) => (from === undefined ? undefined : { kind: 'ok', value: 'none' });
    expect(await following.follow()).toBe('lost');
  });

  test.each<[FeedResult, TravelAnswer<FeedPage | 'none'>]>([
    ['none', { kind: 'ok', value: 'none' }],
    ['unavailable', { kind: 'unavailable', text: 'down' }],
    ['unavailable', { kind: 'unauthorized' }],
  ])('is not there where the feed is %s, and is taken when there is one', async (followed, answer) => {
    feed.faultFor = () => answer;
    expect(await following.begin()).toBe(followed);
    expect(await following.follow()).toBe(followed);
    feed.faultFor = () => undefined;
    expect(await following.follow()).toBe('lost');
    expect(await isSeen()).toEqual(['followed', 1]);
  });
});

test('what an IdP has written stays as the IdP wants it', async () => {
  const { id, travelId } = await joined('Ada');
  await begun();
  byHand(travelId, { email: 'else@corp.example' });
  await following.follow();
  await fixture.bridge.reconcileDue();
  const view = await fixture.bridge.users.read('default', id);
  expect(desiredOf(view)).toMatchObject({ userName: addressOf('Ada') });
});

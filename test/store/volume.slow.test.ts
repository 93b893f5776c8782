import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeManyUsers } from './conformance/connections.ts';
import { describeManyHolds } from './conformance/holds.ts';
import { describeAnyIdentities } from './conformance/identities.ts';
import { describeManyMembers } from './conformance/memberships.ts';
import { describeManyPeople } from './conformance/people.ts';
import { describeLongLists } from './conformance/travel-pages.ts';

const databases = temporaryDatabases('jetbridge-volume-');
const open = () => databases.open();

describe('the store', () => {
  describeAnyIdentities(open);
  describeManyHolds(open);
  describeManyMembers(open);
  describeManyPeople(open);
  describeManyUsers(open);
  describeLongLists(open);
});

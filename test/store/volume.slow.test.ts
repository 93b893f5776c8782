import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeManyHolds } from './conformance/holds.ts';
import { describeAnyIdentities } from './conformance/identities.ts';
import { describeManyPeople } from './conformance/people.ts';
import { describeLongLists } from './conformance/travel-pages.ts';

const databases = temporaryDatabases('jetbridge-volume-');
const open = () => databases.open();

describe('the store', () => {
  describeAnyIdentities(open);
  describeManyHolds(open);
  describeManyPeople(open);
  describeLongLists(open);
});

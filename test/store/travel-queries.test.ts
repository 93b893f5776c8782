import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeDeliveryQueue } from './conformance/delivery-queue.ts';
import { describeTravel } from './conformance/travel.ts';
import { describeTravelPages } from './conformance/travel-pages.ts';

const databases = temporaryDatabases('jetbridge-travel-');
const open = () => databases.open();

describe('the database', () => {
  describeTravel(open);
  describeDeliveryQueue(open);
  describeTravelPages(open);
});

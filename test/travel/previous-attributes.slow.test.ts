import { changedResources, describeRandomChanges } from './random-changes.ts';

describe.each(changedResources.filter(({ type }) => type !== 'billingProfile'))(
  'the events of random changes of a $type',
  (resource) => describeRandomChanges(resource),
);

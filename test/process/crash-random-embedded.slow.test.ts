import { describeRandomCrashes } from './crash-random.ts';

describe('a bridge with the embedded travel service, both in one process', () =>
  describeRandomCrashes('embedded'));

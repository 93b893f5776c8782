import { describeRandomCrashes } from './crash-random.ts';

describe('a bridge in front of a travel service that runs on', () => describeRandomCrashes('split'));

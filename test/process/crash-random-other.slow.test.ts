import { describeRandomCrashes } from './crash-random.ts';

describe('a bridge in front of a travel API of another kind', () => describeRandomCrashes('other', 4));

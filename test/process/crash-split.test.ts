import { describeCrashPoints } from './crash-points.ts';
import { describeRandomCrashes } from './crash-random.ts';

describe('a bridge in front of a travel service that runs on', () => {
  describeCrashPoints('split');
  describeRandomCrashes('split');
});

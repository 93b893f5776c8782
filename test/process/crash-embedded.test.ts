import { describeCrashPoints } from './crash-points.ts';
import { describeRandomCrashes } from './crash-random.ts';

describe('a bridge with the embedded travel service, both in one process', () => {
  describeCrashPoints('embedded');
  describeRandomCrashes('embedded');
});

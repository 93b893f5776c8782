import { describeCrashPoints } from './crash-points.ts';

describe('a bridge with the embedded travel service, both in one process', () =>
  describeCrashPoints('embedded'));

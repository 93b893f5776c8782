import { describeCrashPoints } from './crash-points.ts';

describe('a bridge in front of a travel service that runs on', () => describeCrashPoints('split'));

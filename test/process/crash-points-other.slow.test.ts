import { describeCrashPoints } from './crash-points.ts';

describe('a bridge in front of a travel API of another kind', () =>
  describeCrashPoints('other', ['beforeSend', 'afterAnswer']));

import { kinds, testHostile } from './send-hostile.ts';

testHostile(kinds.flat());

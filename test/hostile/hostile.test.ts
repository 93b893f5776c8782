import { kinds, testHostile } from './send-hostile.ts';

// The slow test of the same name sends them all.
testHostile(kinds.flatMap((requests) => requests.filter((_, at) => at % 10 === 0)));

import { testConcurrentWriters } from './group-writers.ts';

describe('sixty concurrent writers of one group all succeed', () => testConcurrentWriters(60));

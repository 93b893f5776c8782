import { idioms } from './idioms.ts';
import { playOverHttp } from './idioms-over-http.ts';

describe('over HTTP the outcome of each idiom is the same as that of the function', () => {
  playOverHttp(idioms);
});

import { reads } from './reads.mjs';
import { writes } from './writes.mjs';

/**
 * The measured operations. `requestOf` returns the request of one number, which no other request of the run has; `travel`, for a write, is
 * the call alone that it makes to the travel API. What is promised is
 * compared with a peer (peer-operations.mjs). `amount` is of one round; the stock packages get fewer, as they are slower. A client
 * sends its requests about one group one after the other, hence `connections`. `isFar`: it skips all people before, so that its cost grows with them.
 */
export const operations = [...reads, ...writes];

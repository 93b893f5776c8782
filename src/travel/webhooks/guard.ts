import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPrivateHost, isPublicAddress } from './address.ts';
import type { Resolve } from './lookup.ts';

/** A receiver where events are not sent. */
export class PrivateAddress extends Error {
  constructor() {
    super('leads to a private address');
    this.name = 'PrivateAddress';
  }
}

/**
 * Keeps requests away from private addresses: throws for a URL that names one, and answers the look-up to connect by,
 * so that the addresses that were looked at are those that are used, whatever the name server says a moment later.
 */
export function guarded(url: URL, resolve: Resolve, allowPrivate: boolean): LookupFunction {
  if (!allowPrivate && isPrivateHost(url.hostname)) throw new PrivateAddress();
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (!first) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
        if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address)))
          return callback(new PrivateAddress(), '');
        if (options.all) return callback(null, ordered(found));
        return callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/** Each address once. */
function ordered(found: LookupAddress[]): LookupAddress[] {
  return [...new Map(found.map((one) => [one.address, one])).values()];
}

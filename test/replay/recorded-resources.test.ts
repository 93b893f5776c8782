import { isExactRequest, parseExchange } from '../../src/replay/recorded-resources.ts';

/** True if a recorded read of this path names the resources that it wants. */
function isExact(path: string): boolean {
  const read = {
    ...{ at: 0, connection: 'okta', method: 'GET', path },
    ...{ status: 200, requestHeaders: {}, responseHeaders: {} },
  };
  return isExactRequest(parseExchange(read));
}

test.each([
  ['/Users/7', true],
  ['/Users', false],
  ['/Users?filter=userName%20eq%20%22ada%22', true],
  ['/Users?filter=userName%20sw%20%22ada%20eq%20%22', false],
  ['/Users?filter=userName%20eq%20%22ada%22%20and%20title%20pr', false],
  ['/Users?count=7', false],
])('a read of %s names the resources that it wants: %s', (path, expected) => {
  expect(isExact(path)).toBe(expected);
});

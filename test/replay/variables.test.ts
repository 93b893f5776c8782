import fc from 'fast-check';
import { substitute, substitutePath, substituteText, variableNames } from '../../src/replay/player.ts';

describe('variables of a scenario', () => {
  const variables = { id: 'a/b c', total: 3, tokenEndpoint: 'http://h/oauth/token?x=1', urn: 'urn:x' };

  test('are percent-encoded in a path, whose own encoding is unchanged', () => {
    expect(substitutePath('/Users?filter=userName+eq+%22{{id}}%22&n={{total}}', variables)).toBe(
      '/Users?filter=userName+eq+%22a%2Fb%20c%22&n=3',
    );
  });

  test('the token endpoint is a URL and is not encoded in a path', () => {
    expect(substitutePath('{{tokenEndpoint}}', variables)).toBe('http://h/oauth/token?x=1');
  });

  test('are plain text in headers', () => {
    expect(substituteText('Bearer {{id}} {{total}}', variables)).toBe('Bearer a/b c 3');
  });

  test('are substituted in strings and member names of a body, and keep their type if they stand alone', () => {
    expect(
      substitute({ '{{urn}}': [{ n: '{{total}}', s: 'n{{total}}', t: true, z: null }] }, variables),
    ).toEqual({
      'urn:x': [{ n: 3, s: 'n3', t: true, z: null }],
    });
  });

  test('that are unknown become missing-<name>', () => {
    expect(substitutePath('/Users/{{gone}}', variables)).toBe('/Users/missing-gone');
    expect(substitute('{{toString}}', variables)).toBe('missing-toString');
  });

  test('a recorded __proto__ is kept as a member', () => {
    const filled = substitute(JSON.parse('{"__proto__": {"admin": "{{total}}"}}'), variables);
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"admin":3}}');
  });

  test('are found anywhere in a JSON value', () => {
    expect(variableNames([{ '{{a}}': 'x{{b}}y{{c}}' }, 1])).toEqual(new Set(['a', 'b', 'c']));
  });

  test('a body without variables is unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes('{{'));
        expect(JSON.stringify(substitute(value, variables))).toBe(JSON.stringify(value));
      }),
    );
  });
});

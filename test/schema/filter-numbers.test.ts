import { parseFilter } from '../../src/schema/filter-parser.ts';

describe('a number in a filter is read as JSON reads it (RFC 8259 §6)', () => {
  const numbers = [
    '0',
    '-0',
    '7',
    '-1.5',
    '1.5e0',
    '1E5',
    '1e+5',
    '25e-1',
    '0.10',
    '9007199254740991',
    '1e-400',
  ];
  test.each(numbers)('%s', (text) => {
    expect(parseFilter(`urn:x:y:2.0:User:a eq ${text}`)).toMatchObject({ value: JSON.parse(text) });
    expect(parseFilter(`urn:x:y:2.0:User:a[b eq ${text}]`)).toMatchObject({
      path: { filter: { value: JSON.parse(text) } },
    });
  });
});

describe('a number that JSON does not allow is a fault at its first character', () => {
  test.each([
    '05',
    '-05',
    '00',
    '+1',
    '.5',
    '1.',
    '1.e5',
    '1e',
    '1e+',
    'e5',
    '-',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
  ])('%s', (text) => {
    expect(parseFilter(`id eq ${text}`)).toEqual({ fault: expect.any(String), position: 6 });
  });
});

describe('a number that JavaScript would round is a fault that says what to send', () => {
  test.each(['9007199254740993', '-9007199254740992', '1e400', '1e22', '9'.repeat(5000)])('%s', (text) => {
    expect(parseFilter(`id eq ${text}`)).toEqual({
      fault: expect.stringMatching(/^"[-\d.e…]{3,61}" is beyond what numbers hold; send it as a string$/),
      position: 6,
    });
  });
});

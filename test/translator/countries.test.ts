import { readCountry } from '../../src/translator/countries.ts';

test('a text longer than the name of any country is no country, and is not normalized', () => {
  const normalize = jest.spyOn(String.prototype, 'normalize');
  // Normalizing so many combining marks takes seconds.
  expect(readCountry(`France${'\u0301'.repeat(4_000)}${'\u0316'.repeat(4_000)}`)).toMatchObject({
    fault: { code: 'countryUnknown' },
  });
  for (const text of normalize.mock.contexts) expect(String(text).length).toBeLessThanOrEqual(200);
  normalize.mockRestore();
});

test.each(['France', 'UNITED KINGDOM', 'saint lucia', 'Côte d’Ivoire'])('%s is a country', (name) => {
  expect(readCountry(name)).toEqual({ value: expect.stringMatching(/^[A-Z]{2}$/) });
});

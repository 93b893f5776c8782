import { noLookups } from '../../src/model/translation.ts';
import { namedResourceReader, readPhoneNumber } from '../../src/translator/values/readers.ts';

describe('a resource that is named otherwise than it is spelled', () => {
  const costCenters = [
    { id: 'c1', name: 'Sales  North', archived: false },
    { id: 'c2', name: 'Marketing', archived: false },
    { id: 'c3', name: 'MARKETING', archived: false },
  ];
  const read = (value: unknown) =>
    namedResourceReader({ field: 'costCenterId', noun: 'cost center', among: () => costCenters })(
      JSON.parse(JSON.stringify(value)),
      { lookups: noLookups, references: new Map(), applied: {}, phoneCountries: [] },
    );

  it('is found without regard to case and repeated blanks', () => {
    expect(read(' sales NORTH')).toEqual({ value: 'c1' });
    expect(read({ id: 'c1', name: 'SALES north' })).toEqual({ value: 'c1' });
    expect(read('SalesNorth')).toMatchObject({ fault: { code: 'costCenterUnknown' } });
  });

  it('is the one with that very spelling, if there is one, and none if the name fits several', () => {
    expect(read('MARKETING')).toEqual({ value: 'c3' });
    expect(read('marketing')).toMatchObject({ fault: { code: 'costCenterAmbiguous' } });
  });
});

describe('readPhoneNumber', () => {
  it('reads the same text by the countries that are given each time', () => {
    const read = (countries: string[]) => readPhoneNumber('06 12 34 56 78', countries);
    const unreadable = { fault: expect.objectContaining({ code: 'phoneUnreadable' }) };
    expect(read(['FR'])).toEqual({ value: '+33 612345678' });
    expect(read(['US'])).toEqual(unreadable);
    expect(read([])).toEqual({ fault: expect.objectContaining({ code: 'phoneWithoutCountry' }) });
    expect(read(['US', 'FR'])).toEqual({ value: '+33 612345678' });
    expect(read(['FR'])).toEqual({ value: '+33 612345678' });
    expect(read(['US'])).toEqual(unreadable);
    expect(readPhoneNumber('FR 06 12 34 56 78', ['US'])).toEqual(unreadable);
    expect(readPhoneNumber('FR:06 12 34 56 78', ['US'])).toEqual(unreadable);
  });

  it('reads any number of texts, and each of them in the same way again', () => {
    const numbers = Array.from({ length: 2_500 }, (_, index) => `6${String(10_000_000 + index)}`);
    const readAll = () => numbers.map((number) => readPhoneNumber(`+33${number}`, []));
    const readings = numbers.map((number) => ({ value: `+33 ${number}` }));
    expect([readAll(), readAll()]).toEqual([readings, readings]);
  });

  it('refuses a long text, again and again', () => {
    const text = `+33612345678${' '.repeat(5_000)}x`;
    const unreadable = { fault: expect.objectContaining({ code: 'phoneUnreadable' }) };
    expect([readPhoneNumber(text, []), readPhoneNumber(text, [])]).toEqual([unreadable, unreadable]);
  });
});

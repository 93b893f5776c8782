import type { Json } from '../../../src/travel/json.ts';
import type { Row } from './statements.ts';

/** A form of values: examples that are accepted and refused, with the codes, and how they are returned. */
export interface Form {
  taken: Json[];
  refused: [value: Json, code: string][];
  isAnswered(value: unknown): boolean;
}

/** The form of a row; undefined for forms whose values need a fixture. */
export function formOf({ form, values = [] }: Row): Form | undefined {
  return new Map<string, Form>([
    ...Object.entries(plain),
    ['enum', { taken: values, refused: [...notText, ['somethingElse', 'enum']], isAnswered: among(values) }],
    [
      'choice',
      { taken: values, refused: [...notText, ['somethingElse', 'enum']], isAnswered: among(values) },
    ],
    ['open', { taken: values, refused: notText, isAnswered: isText }],
    ['list', { taken: [values, values.slice(0, 1)], refused: notListed, isAnswered: listOf(among(values)) }],
    [
      'list of country',
      {
        taken: [['US', 'BR'], ['FR']],
        refused: [...notList, [['us'], 'country'], [['FR', 'XX'], 'country']],
        isAnswered: listOf(shaped(/^[A-Z]{2}$/)),
      },
    ],
    ['list of open', { taken: [values], refused: notList, isAnswered: listOf(isText) }],
    ['object', { taken: values, refused: notObject, isAnswered: isObject }],
  ]).get(form);
}

const notText: Form['refused'] = [
  [1, 'type'],
  [true, 'type'],
  [{ text: 'x' }, 'type'],
  [['x'], 'type'],
];
const notNumber: Form['refused'] = [
  ['1', 'type'],
  [true, 'type'],
  [[1], 'type'],
];
const notFlag: Form['refused'] = [
  ['true', 'type'],
  [0, 'type'],
  [[], 'type'],
];
const notObject: Form['refused'] = [
  ['x', 'type'],
  [1, 'type'],
  [[{}], 'type'],
];
const notList: Form['refused'] = [
  ['x', 'type'],
  [{ 0: 'x' }, 'type'],
  [[1], 'type'],
];
const notListed: Form['refused'] = [...notList, [['somethingElse'], 'enum']];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shaped = (shape: RegExp) => (value: unknown) => typeof value === 'string' && shape.test(value);
const among = (values: Json[]) => (value: unknown) => values.includes(value as Json);
const listOf = (test: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(test);

const idA = shaped(/^[0-9a-f]{24}$/);
const idB = shaped(/^[A-Za-z0-9_@~.-]{1,50}$/);
const dateTime = shaped(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

const AMOUNT = ['base', 'tax', 'taxRate', 'total'];

/** "Responses may carry only `currency` and `total`." */
function isAmount(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { currency, ...numbers } = value as Record<string, unknown>;
  return (
    shaped(/^[A-Z]{3}$/)(currency) &&
    isNumber(numbers['total']) &&
    Object.entries(numbers).every(([name, one]) => AMOUNT.includes(name) && isNumber(one))
  );
}

const answered = (isAnswered: Form['isAnswered']): Form => ({ taken: [], refused: [], isAnswered });

const plain: Record<string, Form> = {
  string: { taken: ['Some words', 'Zoë 東京'], refused: notText, isAnswered: isText },
  email: {
    taken: ['Ada.Lovelace@example.com', 'a+b@mail.example.org'],
    refused: [...notText, ['nobody', 'email'], ['a@b@example.com', 'email'], ['', 'email']],
    isAnswered: shaped(/^[^@\s]+@[^@\s]+$/),
  },
  lang: {
    taken: ['en', 'fr'],
    refused: [...notText, ['de', 'lang'], ['EN', 'lang'], ['', 'lang']],
    isAnswered: among(['en', 'fr']),
  },
  country: {
    taken: ['FR', 'US'],
    refused: [...notText, ['France', 'country'], ['fr', 'country'], ['QQ', 'country']],
    isAnswered: shaped(/^[A-Z]{2}$/),
  },
  currency: {
    taken: ['EUR', 'USD'],
    refused: [...notText, ['euro', 'pattern'], ['eur', 'pattern']],
    isAnswered: shaped(/^[A-Z]{3}$/),
  },
  knownCurrency: {
    taken: ['EUR', 'USD'],
    refused: [...notText, ['euro', 'pattern'], ['eur', 'pattern'], ['ZZZ', 'pattern']],
    isAnswered: shaped(/^[A-Z]{3}$/),
  },
  date: {
    taken: ['1992-02-29', '2000-12-31'],
    refused: [
      ...notText,
      ['1993-02-29', 'pattern'],
      ['29/02/1992', 'pattern'],
      ['1992-2-29', 'pattern'],
      ['1992-02-29T00:00:00Z', 'pattern'],
    ],
    isAnswered: shaped(/^\d{4}-\d\d-\d\d$/),
  },
  phoneNumber: {
    taken: ['+33 612345678', '+1 2025550123'],
    refused: [
      ...notText,
      ['+33612345678', 'pattern'],
      ['0612345678', 'pattern'],
      ['33 612345678', 'pattern'],
    ],
    isAnswered: shaped(/^\+\d{1,3} /),
  },
  url: {
    taken: ['https://receiver.example.com/hooks?x=1', 'https://receiver.example.org'],
    refused: [...notText, ['receiver', 'url'], ['ftp://receiver.example.com', 'url']],
    isAnswered: shaped(/^https?:\/\//),
  },
  number: { taken: [10, 2.5, 0], refused: notNumber, isAnswered: isNumber },
  integer: { taken: [10, 0], refused: [...notNumber, [1.5, 'type']], isAnswered: Number.isInteger },
  quantity: { taken: [10, 2.5, 0], refused: [...notNumber, [-0.5, 'range']], isAnswered: isNumber },
  count: {
    taken: [10, 0],
    refused: [...notNumber, [1.5, 'type'], [-3, 'range']],
    isAnswered: Number.isInteger,
  },
  boolean: { taken: [true, false], refused: notFlag, isAnswered: (value) => typeof value === 'boolean' },
  flag: { taken: [true, false], refused: notFlag, isAnswered: (value) => typeof value === 'boolean' },
  idA: answered(idA),
  idB: answered(idB),
  objects: answered(listOf(isObject)),
  embedded: answered(isObject),
  idsB: answered(listOf(idB)),
  strings: answered(listOf(isText)),
  dateTime: answered(dateTime),
  localeDateTime: answered(shaped(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)),
  amount: answered(isAmount),
};

import fc from 'fast-check';
import type { Departure, EvidenceRow, PersonalValues } from '../../src/model/identity.ts';
import { personalValuesOf, type Return, whoIsWho } from '../../src/provisioning/people/who-is-who.ts';

const DAY_MS = 86_400_000;
const NOW = 400 * DAY_MS;

/** A user whose userName is the address. */
function user(name: string, more: Partial<PersonalValues> = {}): PersonalValues {
  return { name, contacts: [`${name.replace(' ', '.').toLowerCase()}@corp.example`], ...more };
}

type Facts = Partial<Omit<Return, 'leaver' | 'newcomer' | 'now'>> & { days?: number };

function rowFor(leaver: PersonalValues, newcomer: PersonalValues, { days = 10, ...facts }: Facts = {}) {
  const departure: Departure = { ...leaver, at: NOW - days * DAY_MS };
  const known = { isSameConnection: true, isSameUser: false, wasSeenBefore: false, ...facts };
  return whoIsWho({ leaver: departure, newcomer, now: NOW, ...known });
}

const smith = user('Alma Smith');
const longAgo = { days: 399 };
const reactivated = { ...longAgo, isSameUser: true };

/** A case of the table: a leaver, a newcomer, what is known besides, and the row. */
type Case = readonly [string, PersonalValues, PersonalValues, Facts, EvidenceRow];

const externalIds: Case[] = [
  [
    'the externalId of a rehire after a year, under another name and address',
    user('Alma Smith', { externalId: 'hr-1' }),
    user('Alma Meyer', { externalId: 'hr-1' }),
    longAgo,
    1,
  ],
  [
    'the externalId, although the newcomer was seen before',
    user('Alma Smith', { externalId: 'hr-1' }),
    user('Bert Jones', { externalId: 'hr-1' }),
    { wasSeenBefore: true },
    1,
  ],
  [
    'an externalId of another connection',
    user('Alma Smith', { externalId: 'hr-1' }),
    user('Bert Jones', { externalId: 'hr-1' }),
    { isSameConnection: false },
    3,
  ],
  [
    'an externalId that is the userName',
    { externalId: 'ASMITH', name: 'Alma Smith', contacts: ['asmith'] },
    { externalId: 'ASMITH', name: 'Anton Smith', contacts: ['asmith'] },
    {},
    3,
  ],
  [
    'an externalId that is an address of the newcomer alone',
    { externalId: 'a.smith@corp.example', name: 'Alma Smith', contacts: ['alma'] },
    { externalId: 'a.smith@corp.example', name: 'Anton Smith', contacts: ['a.smith@corp.example'] },
    {},
    3,
  ],
  [
    'an externalId that is the local part of an address',
    { externalId: 'a.smith', name: 'Alma Smith', contacts: ['a.smith@corp.example'] },
    { externalId: 'a.smith', name: 'Anton Smith', contacts: ['a.smith@corp.example'] },
    {},
    3,
  ],
  [
    'an empty externalId',
    user('Alma Smith', { externalId: ' ' }),
    user('Bert Jones', { externalId: ' ' }),
    {},
    3,
  ],
];

const reactivations: Case[] = [
  ['the same user after a year', smith, smith, reactivated, 1],
  ['the same user without names or externalId', { contacts: ['a'] }, { contacts: ['b'] }, reactivated, 1],
  [
    'the same user under another spelling of the name',
    user('Jörg Müller'),
    { ...smith, name: 'Joerg Mueller (External)' },
    reactivated,
    1,
  ],
  [
    'the same user under a new externalId lately',
    smith,
    { ...smith, externalId: 'guid-1' },
    { isSameUser: true },
    2,
  ],
  [
    'the same user under a new externalId after a year',
    smith,
    { ...smith, externalId: 'guid-1' },
    reactivated,
    3,
  ],
  ['the same user under a new name', smith, { ...smith, name: 'Alma Meyer' }, { isSameUser: true }, 3],
  ['the same user, whose name is gone', smith, { contacts: smith.contacts }, { isSameUser: true }, 3],
];

const namesakes: Case[] = [
  ['a rehire after 89 days', smith, smith, { days: 89 }, 2],
  ['a rehire after 90 days', smith, smith, { days: 90 }, 3],
  ['a rehire in another connection', smith, smith, { isSameConnection: false }, 2],
  ['a namesake who was seen before the departure', smith, smith, { wasSeenBefore: true }, 3],
  ['a namesake with another address', smith, { ...smith, contacts: ['alma.smith2@corp.example'] }, {}, 3],
  [
    'a namesake with one of the addresses in another case',
    { ...smith, contacts: ['alma', 'Alma.Smith@corp.example'] },
    { ...smith, contacts: ['asmith', 'alma.smith@CORP.example'] },
    {},
    2,
  ],
  ['another person with the address', smith, { ...smith, name: 'Bert Jones' }, {}, 3],
  ['a person who has married', smith, { ...smith, name: 'Alma Meyer' }, {}, 3],
  ['a person with a second given name', smith, { ...smith, name: 'Alma Maria Smith' }, {}, 3],
  ['two users without names', { contacts: ['a'] }, { contacts: ['a'] }, {}, 3],
  ['names that are punctuation', { ...smith, name: '-' }, { ...smith, name: '.' }, {}, 3],
];

const spellings: Case[] = (
  [
    ['Zoë O’Brien', 'ZOE OBrien'],
    ['Jörg Müller', 'Jorg Muller'],
    ['Jörg Müller', 'Joerg Mueller'],
    ['Søren Ågård', 'Soeren Aagaard'],
    ['Anna-Maria Rossi', 'Anna Maria Rossi'],
    ['Alma Smith [Contractor] (ext. (2))', 'Alma Smith'],
    ['王 小明', '王小明'],
  ] as const
).map(([one, other]) => [`${one} and ${other}`, { ...smith, name: one }, { ...smith, name: other }, {}, 2]);

const others: Case[] = [
  ['Michał and Michael', { ...smith, name: 'Michał Nowak' }, { ...smith, name: 'Michael Nowak' }, {}, 3],
  ['another script', { ...smith, name: 'Иван Петров' }, { ...smith, name: 'Ivan Petrov' }, {}, 3],
];

test.each([externalIds, reactivations, namesakes, spellings, others].flat())(
  '%s',
  (_, leaver, newcomer, facts, row) => {
    expect(rowFor(leaver, newcomer, facts)).toBe(row);
  },
);

const anyContact = fc.oneof(fc.emailAddress(), fc.stringMatching(/^[a-z]{1,8}$/));
const anyValues = fc.record(
  {
    externalId: fc.string({ maxLength: 12 }),
    name: fc.string({ maxLength: 24, unit: 'grapheme' }),
    contacts: fc.array(anyContact, { maxLength: 4 }),
  },
  { requiredKeys: ['contacts'] },
);
const anyFacts = fc.record({
  days: fc.integer({ min: -1, max: 399 }),
  isSameConnection: fc.boolean(),
  isSameUser: fc.boolean(),
  wasSeenBefore: fc.boolean(),
});

test('who is who does not depend on which of the two left', () => {
  fc.assert(
    fc.property(anyValues, anyValues, anyFacts, (one, other, facts) => {
      expect(rowFor(one, other, facts)).toBe(rowFor(other, one, facts));
    }),
  );
});

test('a newcomer with another externalId and another address is another person, whatever the names', () => {
  fc.assert(
    fc.property(anyValues, anyValues, anyFacts, (one, other, facts) => {
      const leaver = {
        ...one,
        externalId: 'hr-1',
        contacts: one.contacts.map((contact) => `old-${contact}`),
      };
      const newcomer = { ...other, externalId: 'hr-2', contacts: other.contacts };
      fc.pre(!newcomer.contacts.some((contact) => contact.startsWith('old-')));
      expect(rowFor(leaver, newcomer, facts)).toBe(3);
    }),
  );
});

test('an externalId that passes on with a userName or an address says nothing', () => {
  fc.assert(
    fc.property(anyContact, fc.boolean(), (contact, isLocalPart) => {
      const externalId = isLocalPart ? contact.replace(/@[^@]*$/, '') : contact;
      const one = { externalId, name: 'Alma Smith', contacts: [contact] };
      expect(rowFor(one, { ...one, name: 'Bert Jones' })).toBe(3);
    }),
  );
});

test('case, accents, punctuation and brackets in a name make no difference', () => {
  const anyWord = fc.stringMatching(/^[a-z]{1,10}$/);
  const anyNoise = fc.constantFrom(' ', '-', "'", '. ', ' (External) ', '\u0301', ' [x] ');
  fc.assert(
    fc.property(fc.array(fc.tuple(anyWord, anyNoise), { minLength: 1, maxLength: 4 }), (words) => {
      const plain = words.map(([word]) => word).join(' ');
      const noisy = words.map(([word, noise]) => `${word.toUpperCase()}${noise}`).join('');
      expect(rowFor({ ...smith, name: plain }, { ...smith, name: noisy })).toBe(2);
    }),
  );
});

test('a long run of combining marks is compared in bounded time', () => {
  const name = `A${'\u0301'.repeat(60_000)}`;
  expect(rowFor({ ...smith, name }, { ...smith, name: 'A' })).toBe(2);
});

test.each([
  ['the parts of the name', { name: { givenName: 'Alma', familyName: 'Smith', formatted: 'Dr. A. Smith' } }],
  ['the formatted name', { name: { formatted: 'Alma Smith' }, displayName: 'almas' }],
  ['the displayName', { displayName: 'Alma Smith' }],
])('the values of a user have the name from %s', (_, attributes) => {
  const emails = [{ value: 'alma@corp.example' }, { value: 'alma' }];
  expect(personalValuesOf({ userName: 'alma', externalId: 'hr-1', emails, ...attributes })).toEqual({
    externalId: 'hr-1',
    name: 'Alma Smith',
    contacts: ['alma', 'alma@corp.example'],
  });
});

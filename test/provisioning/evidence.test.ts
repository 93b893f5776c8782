import {
  type EvidenceRow,
  judgeReturn,
  type PersonalValues,
  type ReturnFacts,
  type Verdict,
} from '../../src/provisioning/users/evidence.ts';

/** A case of the table: a leaver, a newcomer, what is known besides, and the expected row with its verdict. */
type Case = readonly [
  title: string,
  leaver: PersonalValues,
  newcomer: PersonalValues,
  facts: Partial<ReturnFacts> & { days?: number },
  expected: `${EvidenceRow} ${Verdict}`,
];

const DAY_MS = 86_400_000;

/** A user of the connection `okta`, with a userName that is the address. */
function user(givenName: string, familyName: string, more: PersonalValues = {}): PersonalValues {
  const userName = `${givenName}.${familyName}@corp.example`.toLowerCase();
  return { connection: 'okta', userName, emails: [userName], givenName, familyName, ...more };
}

const smith = user('Alma', 'Smith');
const recent = { days: 10 };
const longAgo = { days: 400 };
const reactivated = { isSameUser: true, days: 400 };

const rehires: Case[] = [
  [
    'a rehire under the same externalId',
    { ...smith, externalId: 'hr-1' },
    { ...smith, externalId: 'hr-1' },
    longAgo,
    '3 same',
  ],
  [
    'a rehire under a new externalId and the same number',
    { ...smith, externalId: 'hr-1', employeeNumber: '77' },
    { ...smith, externalId: 'hr-2', employeeNumber: '77' },
    longAgo,
    '4 same',
  ],
  [
    'a rehire after a month under a new externalId, without numbers',
    { ...smith, externalId: 'hr-1' },
    { ...smith, externalId: 'hr-2' },
    { days: 30 },
    '6 same',
  ],
  ['a rehire after 89 days', smith, smith, { days: 89 }, '6 same'],
  ['a rehire after 90 days', smith, smith, { days: 90 }, '7 unclear'],
  [
    'a rehire after years under a new number',
    { ...smith, employeeNumber: '77' },
    { ...smith, employeeNumber: '4711' },
    longAgo,
    '7 unclear',
  ],
  [
    'a rehire within a month under a new number',
    { ...smith, employeeNumber: '77' },
    { ...smith, employeeNumber: '4711' },
    recent,
    '6 same',
  ],
  ['a rehire whose departure has no known time', smith, smith, {}, '7 unclear'],
  [
    'a leave of absence: the user is deactivated and activated',
    { ...smith, externalId: 'hr-1' },
    { ...smith, externalId: 'hr-1' },
    reactivated,
    '2 same',
  ],
  ['a leave of absence without externalId and number', smith, smith, reactivated, '2 same'],
  [
    'a user without names is deactivated and activated',
    { connection: 'okta', userName: 'desk' },
    { connection: 'okta', userName: 'desk' },
    reactivated,
    '2 same',
  ],
  [
    'a reactivation with another spelling of the name',
    user('José', 'Núñez'),
    user('Jose', 'NUNEZ'),
    reactivated,
    '2 same',
  ],
  [
    'a reactivation with another address only',
    smith,
    { ...smith, emails: ['alma@corp.example'] },
    reactivated,
    '2 same',
  ],
  [
    'a reactivation that completes a missing name, after a year',
    { ...smith, givenName: undefined },
    smith,
    reactivated,
    '7 unclear',
  ],
  [
    'a reactivation under another number, after a year',
    { ...smith, employeeNumber: '77' },
    { ...smith, employeeNumber: '78' },
    reactivated,
    '7 unclear',
  ],
];

const marriages: Case[] = [
  [
    'a marriage, with the same externalId',
    { ...smith, externalId: 'hr-1' },
    { ...smith, familyName: 'Meyer', externalId: 'hr-1' },
    longAgo,
    '3 same',
  ],
  [
    'a marriage, with the same number',
    { ...smith, employeeNumber: '77' },
    { ...smith, familyName: 'Meyer', employeeNumber: '77' },
    longAgo,
    '4 same',
  ],
  [
    'a marriage during a leave, without any number',
    smith,
    { ...smith, familyName: 'Meyer' },
    recent,
    '5 other',
  ],
  [
    'a reactivation after a marriage, with the same externalId',
    { ...smith, externalId: 'hr-1' },
    { ...smith, familyName: 'Meyer', externalId: 'hr-1' },
    reactivated,
    '3 same',
  ],
  [
    'a reactivation after a marriage, without any number',
    smith,
    { ...smith, familyName: 'Meyer' },
    reactivated,
    '5 other',
  ],
  [
    'a double name that keeps the old one',
    smith,
    { ...smith, familyName: 'Smith-Meyer' },
    recent,
    '7 unclear',
  ],
  [
    'a double name and the number',
    { ...smith, employeeNumber: '77' },
    { ...smith, familyName: 'Smith-Meyer', employeeNumber: '77' },
    longAgo,
    '4 same',
  ],
  [
    'a change of the given name, with the same number',
    { ...smith, employeeNumber: '77' },
    { ...smith, givenName: 'Alan', employeeNumber: '77' },
    recent,
    '4 same',
  ],
  [
    'all names are new, with the same number',
    { ...smith, employeeNumber: '77' },
    user('Alan', 'Meyer', { employeeNumber: '77' }),
    recent,
    '5 other',
  ],
];

const recycled: Case[] = [
  ['an address that passes to another person', smith, { ...smith, givenName: 'Bert' }, recent, '5 other'],
  [
    'the same with two externalIds',
    { ...smith, externalId: 'hr-1' },
    { ...smith, givenName: 'Bert', externalId: 'hr-2' },
    recent,
    '5 other',
  ],
  [
    'an externalId that is the address passes with it',
    { ...smith, externalId: 'alma.smith@corp.example' },
    { ...smith, givenName: 'Bert', externalId: 'alma.smith@corp.example' },
    recent,
    '5 other',
  ],
  [
    'an externalId that is the local part passes with it',
    { ...smith, externalId: 'alma.smith' },
    { ...smith, givenName: 'Bert', externalId: 'Alma.Smith' },
    recent,
    '5 other',
  ],
  [
    'an externalId that is the userName passes with it',
    { ...smith, userName: 'asmith', externalId: 'ASMITH' },
    { ...smith, userName: 'asmith', givenName: 'Bert', externalId: 'ASMITH' },
    recent,
    '5 other',
  ],
  [
    'an externalId that is one of several addresses',
    { ...smith, emails: ['a@corp.example', 'b@corp.example'], externalId: 'b@corp.example' },
    { ...smith, givenName: 'Bert', externalId: 'b@corp.example' },
    recent,
    '5 other',
  ],
  [
    'an externalId that is the address of one side only',
    { ...smith, externalId: 'x9' },
    { ...smith, givenName: 'Bert', userName: 'x9', externalId: 'x9' },
    recent,
    '5 other',
  ],
  [
    'the same person under an externalId that is the address',
    { ...smith, externalId: 'alma.smith@corp.example' },
    { ...smith, externalId: 'alma.smith@corp.example' },
    recent,
    '6 same',
  ],
  [
    'a blank externalId on both sides',
    { ...smith, externalId: ' ' },
    { ...smith, givenName: 'Bert', externalId: ' ' },
    recent,
    '5 other',
  ],
  [
    'a reactivation that gives the user to another person',
    { ...smith, externalId: 'hr-1' },
    { ...smith, givenName: 'Bert', externalId: 'hr-2' },
    reactivated,
    '5 other',
  ],
  [
    'two people wanted one address at the same time',
    smith,
    { ...smith, givenName: 'Bert' },
    { ...recent, sharedAddress: true },
    '1 other',
  ],
  [
    'two users of one name wanted one address at the same time',
    smith,
    smith,
    { ...recent, sharedAddress: true },
    '1 other',
  ],
  [
    'two users with one externalId wanted one address at the same time',
    { ...smith, externalId: 'hr-1' },
    { ...smith, externalId: 'hr-1' },
    { ...recent, sharedAddress: true },
    '1 other',
  ],
];

const mailboxes: Case[] = [
  [
    'a functional mailbox without names',
    { connection: 'okta', userName: 'info@corp.example' },
    { connection: 'okta', userName: 'info@corp.example' },
    recent,
    '7 unclear',
  ],
  [
    'a functional mailbox with a name for the desk',
    { ...smith, givenName: undefined, familyName: 'Travel Desk' },
    { ...smith, givenName: undefined, familyName: 'Travel desk' },
    recent,
    '6 same',
  ],
  [
    'a functional mailbox that gets the name of a person',
    { ...smith, givenName: undefined, familyName: 'Reception' },
    user('Bert', 'Meyer'),
    recent,
    '5 other',
  ],
  [
    'a mailbox without names that gets the name of a person',
    { connection: 'okta', userName: 'desk' },
    user('Bert', 'Meyer'),
    recent,
    '7 unclear',
  ],
  [
    'a functional mailbox under its stable externalId',
    { connection: 'okta', userName: 'desk', externalId: 'g-1' },
    { connection: 'okta', userName: 'desk', externalId: 'g-1' },
    longAgo,
    '3 same',
  ],
  [
    'a number, and no names on one side',
    { connection: 'okta', employeeNumber: '77' },
    { ...smith, employeeNumber: '77' },
    longAgo,
    '4 same',
  ],
];

const moves: Case[] = [
  [
    'a change of IdP with the same number',
    { ...smith, externalId: 'hr-1', employeeNumber: '77' },
    { ...smith, connection: 'entra', externalId: 'guid', employeeNumber: '77' },
    longAgo,
    '4 same',
  ],
  [
    'a change of IdP without numbers, at once',
    { ...smith, externalId: 'hr-1' },
    { ...smith, connection: 'entra', externalId: 'guid' },
    { days: 0 },
    '6 same',
  ],
  [
    'a change of IdP without numbers, after a year',
    smith,
    { ...smith, connection: 'entra' },
    longAgo,
    '7 unclear',
  ],
  [
    'equal externalIds of two IdPs tell nothing',
    { ...smith, externalId: '1' },
    { ...smith, givenName: 'Bert', connection: 'entra', externalId: '1' },
    recent,
    '5 other',
  ],
  [
    'the externalId attribute is changed to the object id, then a reactivation',
    { ...smith, externalId: '00uOLD' },
    { ...smith, externalId: 'guid-1' },
    { isSameUser: true, days: 1 },
    '6 same',
  ],
  [
    'the externalId attribute is changed, a reactivation after a year',
    { ...smith, externalId: '00uOLD' },
    { ...smith, externalId: 'guid-1' },
    reactivated,
    '7 unclear',
  ],
  [
    'the externalId attribute is changed, the number stays',
    { ...smith, externalId: '00uOLD', employeeNumber: '77' },
    { ...smith, externalId: 'guid-1', employeeNumber: '77' },
    reactivated,
    '4 same',
  ],
  [
    'the IdP stops sending an externalId, a reactivation next day',
    { ...smith, externalId: '00uOLD' },
    smith,
    { isSameUser: true, days: 1 },
    '6 same',
  ],
  [
    'an archived traveler without a user, made lately',
    { givenName: 'Alma', familyName: 'Smith' },
    smith,
    { days: 3 },
    '6 same',
  ],
  [
    'an archived traveler without a user, of unknown date',
    { givenName: 'Alma', familyName: 'Smith' },
    smith,
    {},
    '7 unclear',
  ],
  [
    'an archived traveler of another person',
    { givenName: 'Alma', familyName: 'Smith' },
    { ...smith, givenName: 'Bert' },
    {},
    '5 other',
  ],
  [
    'two travelers without a user and without externalIds are not compared by connection',
    { externalId: 'x', givenName: 'Alma', familyName: 'Smith' },
    { ...smith, givenName: 'Bert', externalId: 'x' },
    {},
    '5 other',
  ],
];

const contractors: Case[] = [
  [
    'a contractor who becomes an employee, with a new number',
    { ...smith, employeeNumber: 'C-12' },
    { ...smith, employeeNumber: '4711' },
    recent,
    '6 same',
  ],
  [
    'a contractor who becomes an employee, with the number',
    { ...smith, userName: 'ext.smith', employeeNumber: '12' },
    { ...smith, employeeNumber: '12' },
    longAgo,
    '4 same',
  ],
  [
    'a contractor whose mark in brackets goes away',
    { ...smith, familyName: 'Smith (External)' },
    smith,
    recent,
    '6 same',
  ],
  ['a mark in brackets before the name', { ...smith, givenName: '[EXT] Alma' }, smith, recent, '6 same'],
  ['nested brackets', { ...smith, familyName: 'Smith (Acme (UK))' }, smith, recent, '6 same'],
  [
    'a name that consists of a mark counts as absent',
    { ...smith, givenName: '(unknown)' },
    { ...smith, givenName: 'Bert' },
    recent,
    '7 unclear',
  ],
  [
    'the agency fills the place: the number of the place stays',
    { ...smith, employeeNumber: '12' },
    user('Bert', 'Meyer', { employeeNumber: '12' }),
    recent,
    '5 other',
  ],
];

const numbers: Case[] = [
  [
    'leading zeros do not count',
    { ...smith, employeeNumber: '00077' },
    { ...smith, employeeNumber: '77' },
    longAgo,
    '4 same',
  ],
  [
    'a number in another case',
    { ...smith, employeeNumber: 'e77' },
    { ...smith, employeeNumber: 'E77 ' },
    longAgo,
    '4 same',
  ],
  [
    'a number of zeros is no number',
    { ...smith, employeeNumber: '0000' },
    { ...smith, employeeNumber: '0' },
    longAgo,
    '7 unclear',
  ],
  [
    'an empty number is no number',
    { ...smith, employeeNumber: '' },
    { ...smith, employeeNumber: '' },
    longAgo,
    '7 unclear',
  ],
  [
    'a placeholder that another person has, too',
    { ...smith, employeeNumber: '9999' },
    { ...smith, employeeNumber: '9999' },
    { ...longAgo, isNumberShared: true },
    '7 unclear',
  ],
  [
    'a placeholder, and two people who share the family name',
    { ...smith, employeeNumber: 'N/A' },
    { ...smith, givenName: 'Bert', employeeNumber: 'N/A' },
    { ...recent, isNumberShared: true },
    '5 other',
  ],
  ['a number on one side only', { ...smith, employeeNumber: '77' }, smith, longAgo, '7 unclear'],
];

const namesakes: Case[] = [
  [
    'a namesake years later',
    user('John', 'Smith', { externalId: 'a' }),
    user('John', 'Smith', { externalId: 'b' }),
    longAgo,
    '7 unclear',
  ],
  [
    'a namesake with another number, within a month',
    user('John', 'Smith', { employeeNumber: '1' }),
    user('John', 'Smith', { employeeNumber: '2' }),
    recent,
    '6 same',
  ],
  ['a brother with the same family name', user('John', 'Smith'), user('Peter', 'Smith'), recent, '5 other'],
  ['a colleague with the same given name', user('John', 'Smith'), user('John', 'Meyer'), recent, '5 other'],
  [
    'father and son, told apart by a second name',
    user('John', 'Smith'),
    user('John Paul', 'Smith'),
    recent,
    '7 unclear',
  ],
];

const spellings: Case[] = [
  ['accents', user('Zoë', 'Núñez'), user('Zoe', 'Nunez'), recent, '6 same'],
  [
    'umlauts that are written as two letters',
    user('Jörg', 'Müller'),
    user('Joerg', 'Mueller'),
    recent,
    '6 same',
  ],
  ['umlauts that lose their dots', user('Jörg', 'Müller'), user('Jorg', 'Muller'), recent, '6 same'],
  ['ß as ss', user('Anna', 'Weiß'), user('Anna', 'WEISS'), recent, '6 same'],
  ['ø as o and as oe', user('Søren', 'Bjørk'), user('Soren', 'Bjork'), recent, '6 same'],
  ['ø as oe', user('Søren', 'Bjørk'), user('Soeren', 'Bjoerk'), recent, '6 same'],
  ['ł and ń', user('Łukasz', 'Kamiński'), user('Lukasz', 'Kaminski'), recent, '6 same'],
  ['æ, þ and ð', user('Æsa', 'Þórðardóttir'), user('Aesa', 'Thordardottir'), recent, '6 same'],
  ['å as aa', user('Åse', 'Skår'), user('Aase', 'Skaar'), recent, '6 same'],
  ['the Turkish letters ı and İ', user('İpek', 'Yıldız'), user('Ipek', 'Yildiz'), recent, '6 same'],
  ['đ as d', user('Đorđe', 'Ilić'), user('Dorde', 'Ilic'), recent, '6 same'],
  ['decomposed letters', user('Zoe\u0308', 'Nu\u0301n\u0303ez'), user('Zoë', 'Núñez'), recent, '6 same'],
  ['full-width letters', user('ＡＬＭＡ', 'Ｓｍｉｔｈ'), smith, recent, '6 same'],
  ['apostrophes', user('Sinéad', "O'Brien"), user('Sinead', 'O’Brien'), recent, '6 same'],
  ['an apostrophe that is left out', user('Sinead', "O'Brien"), user('Sinead', 'OBrien'), recent, '6 same'],
  ['a hyphen that becomes a space', user('Jean-Luc', 'Durand'), user('Jean Luc', 'Durand'), recent, '6 same'],
  ['a hyphen that is left out', user('Jean-Luc', 'Durand'), user('Jeanluc', 'Durand'), recent, '6 same'],
  ['spaces, invisible characters and case', user(' alma\u200b', 'SMITH  '), smith, recent, '6 same'],
  ['a middle name that is left out', user('Anna Maria', 'Rossi'), user('Anna', 'Rossi'), recent, '7 unclear'],
  [
    'a middle name that is left out, with the number',
    user('Anna Maria', 'Rossi', { employeeNumber: '5' }),
    user('Anna', 'Rossi', { employeeNumber: '5' }),
    longAgo,
    '4 same',
  ],
  ['Michał is not Michael', user('Michał', 'Nowak'), user('Michael', 'Nowak'), recent, '5 other'],
  ['another script shares no word', user('Иван', 'Петров'), user('Ivan', 'Petrov'), recent, '5 other'],
  [
    'another script, with the externalId',
    user('Иван', 'Петров', { externalId: 'p-1' }),
    user('Ivan', 'Petrov', { externalId: 'p-1' }),
    longAgo,
    '3 same',
  ],
  ['Chinese names that are equal', user('小明', '王'), user('小明', '王'), recent, '6 same'],
  ['a name as one text', { connection: 'okta', fullName: 'Alma Smith' }, smith, recent, '6 same'],
  [
    'a name as one text, of another person',
    { connection: 'okta', fullName: 'Bert Meyer' },
    smith,
    recent,
    '5 other',
  ],
];

const all = [
  ...[rehires, marriages, recycled, mailboxes, moves],
  ...[contractors, numbers, namesakes, spellings],
].flat();

test.each(all)('%s', (_, leaver, newcomer, { days, ...known }, expected) => {
  const facts: ReturnFacts = {
    ...{ sharedAddress: false, isSameUser: false, isNumberShared: false },
    msSinceDeparture: days === undefined ? undefined : days * DAY_MS,
    ...known,
  };
  const { row, verdict } = judgeReturn(leaver, newcomer, facts);
  expect(`${row} ${verdict}`).toBe(expected);
});

test('a long run of combining marks is compared in bounded time', () => {
  const name = `A${'\u0301'.repeat(60_000)}`;
  const facts = { sharedAddress: false, isSameUser: false, isNumberShared: false, msSinceDeparture: 0 };
  expect(judgeReturn({ ...smith, givenName: name }, { ...smith, givenName: 'A' }, facts).verdict).toBe(
    'same',
  );
});

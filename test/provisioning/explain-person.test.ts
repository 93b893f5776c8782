import { findings } from '../../src/model/findings.ts';
import type { Identity } from '../../src/model/identity.ts';
import { explainFields } from '../../src/provisioning/people/explain-fields.ts';
import { explainPerson, verdictOn } from '../../src/provisioning/people/explain-person.ts';
import { NOW, person, traveler } from '../fixtures/store.ts';

const inactive = { desired: { userName: 'ada@corp.example', active: false } };
const linked = { travelId: 't-1', observed: traveler('t-1', 'ada@corp.example') };
const archived = { travelId: 't-1', observed: traveler('t-1', 'ada@corp.example', { archived: true }) };

const verdicts: [title: string, identity: Partial<Identity>, verdict: object][] = [
  ['in step', { state: 'synced', ...linked }, { status: 'synced' }],
  ['imported', { state: 'synced', claimed: false, ...linked }, { status: 'imported' }],
  [
    'deactivated',
    { state: 'synced', ...archived, ...inactive },
    { status: 'archived', because: 'the identity provider has deactivated the user' },
  ],
  [
    'deleted',
    { state: 'synced', ...archived, deletedAt: NOW },
    { status: 'archived', because: 'the identity provider has deleted the user', since: NOW },
  ],
  [
    'archived by hand',
    { state: 'synced', ...archived },
    { status: 'archived', because: 'somebody has archived the traveler in the travel service' },
  ],
  [
    'whose change is planned in shadow mode',
    {
      state: 'dirty',
      nextAttemptAt: NOW + 1,
      findings: [findings.shadow('change', ['firstName'])],
      ...linked,
    },
    { status: 'waiting', because: 'the connection is in shadow mode, and the change is planned' },
  ],
  [
    'without an address',
    { state: 'pending', findings: [findings.noEmail()] },
    {
      status: 'noTraveler',
      because: 'there is no usable email address, and no traveler can exist without one',
    },
  ],
  [
    'with the address of another one',
    { state: 'pending', findings: [findings.emailTaken('ada@corp.example')] },
    { status: 'noTraveler', because: 'another traveler has this email address' },
  ],
  [
    'moved to another connection',
    {
      state: 'synced',
      deletedAt: NOW,
      findings: [
        { field: '*', code: 'movedTo', reason: 'The connection entra provisions it now.', remedy: '-' },
      ],
    },
    {
      status: 'noTraveler',
      because: 'the connection entra provisions it now',
    },
  ],
  [
    'inactive, and the traveler was deleted',
    {
      state: 'synced',
      ...inactive,
      applied: { email: { sent: 'a@x.example', seen: 'a@x.example', source: 'a@x.example' } },
    },
    {
      status: 'noTraveler',
      because: 'the traveler was deleted in the travel service, and the user is inactive',
    },
  ],
  [
    'held by the safety valve',
    {
      state: 'held',
      hold: { cause: 'safetyValve', since: NOW },
      findings: [findings.noEmail(), findings.heldBySafetyValve()],
    },
    {
      status: 'held',
      because: 'many people left at once, more than the connection lets go without an admin',
      since: NOW,
    },
  ],
  [
    'whose departure only a restored backup states',
    {
      state: 'held',
      hold: { cause: 'safetyValve', since: NOW },
      findings: [findings.restored('lastName', 'King', 'Byron'), findings.restoredDeparture()],
    },
    {
      status: 'held',
      because: expect.stringMatching(/^the database was restored from a backup, after which the person is/),
      since: NOW,
    },
  ],
  [
    'whose deletion is held because the client never knew the person',
    {
      ...{ claimed: false, deletedAt: NOW, state: 'held', findings: [findings.neverProvisioned()] },
      hold: { cause: 'neverProvisioned', since: NOW },
    },
    {
      status: 'held',
      because: expect.stringMatching(/^the identity provider has deleted a person whom it had never sent/),
      since: NOW,
    },
  ],
  [
    'whom an admin keeps active',
    {
      ...{ state: 'synced', travelId: 't1' },
      findings: [findings.keptActive({ by: 'Grace', at: Date.UTC(2026, 10, 20) })],
    },
    {
      status: 'synced',
      because:
        'the identity provider wants this person to leave, and Grace keeps the traveler active since 2026-11-20',
    },
  ],
  [
    'whom the travel API does not archive',
    {
      ...{ state: 'synced', travelId: 't1' },
      findings: [findings.notApplied('lang', 'fr', 'en'), findings.notApplied('archived', true, false)],
    },
    {
      status: 'synced',
      because:
        'the travel API has accepted that this traveler is archived, and a later read shows that it is not: the person still has access',
    },
  ],
  [
    'refused',
    { state: 'refused', findings: [findings.ownCredential()] },
    {
      status: 'refused',
      because: 'Jetbridge uses the credential of this traveler and never changes it',
    },
  ],
  [
    'after failed attempts',
    { state: 'dirty', attempts: 3, nextAttemptAt: NOW + 5_000 },
    {
      status: 'waiting',
      because: expect.stringMatching(/^the last 3 attempts failed: the travel API could not be used/),
      until: NOW + 5_000,
    },
  ],
  [
    'while an attempt runs',
    { state: 'dirty', attempts: 3, leasedUntil: NOW + 1 },
    { status: 'waiting', because: 'an attempt is running' },
  ],
  [
    'after a decision',
    { state: 'dirty', decision: { cause: 'guarded', answer: 'approved', version: 1 } },
    { status: 'waiting', because: 'an admin has approved the held change' },
  ],
  [
    'due at once',
    { state: 'dirty' },
    { status: 'waiting', because: 'a change is due and no attempt has begun' },
  ],
];

test.each(verdicts)('the state of a person %s has its reason', (_title, identity, verdict) => {
  expect(verdictOn(person('ada', identity), { now: NOW, outage: undefined })).toEqual(verdict);
});

test('a person who waits while the travel API cannot be used waits for it, also before the first attempt', () => {
  const outage = 'the travel API answers 503 since 2026-11-20T14:02Z';
  for (const more of [{ attempts: 0 }, { attempts: 3 }, { leasedUntil: NOW + 1 }])
    expect(verdictOn(person('ada', { state: 'dirty', ...more }), { now: NOW, outage })).toEqual({
      ...{ status: 'waiting', because: outage },
    });
  expect(
    verdictOn(person('ada', { state: 'synced', travelId: 't-1' }), { now: NOW, outage }).because,
  ).toBeUndefined();
});

const applied = (value: string, extra: object = {}) => ({
  lastName: { sent: value, seen: value, source: value, ...extra },
});
const withLastName = (lastName: string) => ({ observed: traveler('t-1', 'a@x.example', { lastName }) });
const trace = (value: string): Identity['trace'] => [
  {
    ...{ field: 'lastName', origin: 'default', rule: 'name.familyName', outcome: 'set' },
    ...{ before: value, after: value },
  },
];

const absent = { field: 'lastName', origin: 'default', rule: 'name.familyName', outcome: 'absent' } as const;

const standings: [title: string, identity: Partial<Identity>, standing: string | undefined][] = [
  ['as sent', { trace: trace('King'), applied: applied('King'), ...withLastName('King') }, 'same'],
  ['spelled otherwise', { applied: applied('King', { seen: 'KING' }), ...withLastName('KING') }, 'same'],
  ['that reads spell otherwise', { applied: applied('De Wit'), ...withLastName('DEWIT') }, 'same'],
  [
    'whose last change was not applied',
    {
      findings: [findings.notApplied('lastName', 'King', 'Byron')],
      applied: applied('King', { seen: 'Byron' }),
      ...withLastName('Byron'),
    },
    'notApplied',
  ],
  ['changed by hand', { applied: applied('King'), ...withLastName('Byron') }, 'drift'],
  ['removed by hand', { applied: applied('King'), observed: traveler('t-1', 'a@x.example') }, 'drift'],
  ['not read again', { applied: applied('King') }, 'unread'],
  [
    'sent without an answer',
    {
      applied: { lastName: { sent: 'King', source: 'King' } },
      trace: trace('King'),
    },
    'uncertain',
  ],
  [
    'refused',
    { trace: trace('King'), refused: { lastName: { value: 'King', basis: 'b', reason: 'too short' } } },
    'refused',
  ],
  [
    'wanted otherwise',
    { trace: trace('Byron'), applied: applied('King'), ...withLastName('King') },
    'notSent',
  ],
  ['without a traveler', { trace: trace('King') }, 'notSent'],
  [
    'unchanged since the import',
    { trace: trace('King'), origin: { baseline: {} }, ...withLastName('Byron') },
    'imported',
  ],
  ['without a usable value', { trace: [{ ...absent, before: '' }], ...withLastName('Byron') }, 'leftOut'],
  ['without a rule', withLastName('Byron'), 'foreign'],
  ['without any value', {}, undefined],
];

test.each(standings)('a field %s has its standing', (_title, identity, standing) => {
  const explained = explainFields(person('ada', identity)).find(({ field }) => field === 'lastName');
  expect(explained?.standing).toBe(standing);
});

test('a field has the values of the IdP, the rules, the request, the answer and the traveler', () => {
  const identity = person('ada', {
    trace: [
      {
        ...{ field: 'lastName', origin: 'file', rule: 'title | trim', outcome: 'set' },
        ...{ before: ' Byron ', after: 'Byron' },
      },
    ],
    applied: applied('King', { seen: 'KING' }),
    refused: { lastName: { value: 'Byron', basis: 'b', reason: 'too short' } },
    ...withLastName('Lovelace'),
  });
  expect(explainFields(identity).find(({ field }) => field === 'lastName')).toEqual({
    field: 'lastName',
    standing: 'refused',
    rules: [
      {
        field: 'lastName',
        origin: 'file',
        rule: 'title | trim',
        outcome: 'set',
        before: ' Byron ',
        after: 'Byron',
      },
    ],
    ...{ source: ' Byron ', wanted: 'Byron', sent: 'King', answered: 'KING', observed: 'Lovelace' },
    refusal: 'too short',
  });
});

test('a value that the traveler had already is in step, and was not sent', () => {
  const identity = person('ada', {
    applied: applied('King', { before: 'King' }),
    ...withLastName('King'),
  });
  const explained = explainFields(identity).find(({ field }) => field === 'lastName');
  expect(explained).toEqual({
    ...{ field: 'lastName', standing: 'same', rules: [], source: 'King', observed: 'King' },
  });
});

test('an explanation names the resources and custom fields of its values, and no others', () => {
  const identity = person('ada', {
    ...linked,
    applied: { costCenterId: { sent: 'cc-1', seen: 'cc-1', source: 'Research' } },
  });
  const costCenters = [
    { id: 'cc-1', name: 'Research', archived: false },
    { id: 'cc-2', name: 'Sales', archived: false },
  ];
  const lookups = {
    ...{ customFields: [], billingProfiles: [], travelPolicies: [], scimUserMappings: [], costCenters },
  };
  const context = { references: [], exchanges: [], rulesInForce: 1, lookups, now: NOW, outage: undefined };
  const { names } = explainPerson(identity, context);
  expect(names).toEqual({ 'cc-1': 'Research' });
});

test('a role that the traveler has is in step, by whatever name the rule gives it', () => {
  const identity = person('ada', {
    travelId: 't-1',
    observed: traveler('t-1', 'ada@corp.example', { roles: ['premium'] }),
    applied: { 'roles.premium': { sent: true, seen: true, source: 'VIP' } },
    trace: [
      {
        ...{ field: 'roles.premium', origin: 'file', rule: '"premium"', outcome: 'set' },
        ...{ before: 'VIP', after: 'premium' },
      },
    ],
  });
  const explained = explainFields(identity).find(({ field }) => field === 'roles.premium');
  expect(explained).toMatchObject({ standing: 'same', wanted: true, sent: true, observed: true });
});

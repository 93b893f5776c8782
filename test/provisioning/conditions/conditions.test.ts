import type { Condition, LocalFact } from '../../../src/model/conditions.ts';
import { findConditions } from '../../../src/provisioning/conditions/conditions.ts';
import { type ConditionFacts, describeOutage } from '../../../src/provisioning/conditions/facts.ts';
import { connectionState, MINUTE, NOW, soundFacts, summaryOf } from './facts.ts';

const DAY = 24 * 60 * MINUTE;

/** Returns severity, kind and text of each condition. */
function told(facts: Partial<ConditionFacts>): string[] {
  return findConditions({ ...soundFacts, ...facts }).map(
    ({ severity, kind, subject, text }: Condition) =>
      `${severity} ${kind}${subject === undefined ? '' : ` (${subject})`}: ${text}`,
  );
}

const outage: LocalFact = {
  ...{ kind: 'travelOutage', connection: 'okta', since: NOW - 28 * MINUTE, status: 503 },
};
const waiting = summaryOf('okta', {
  states: { dirty: 25 },
  failing: { people: 3, oldest: NOW - 2 * MINUTE },
});
const found = (code: string, people: number, total: number) =>
  summaryOf('okta', { states: { synced: total }, findings: new Map([[code, people]]) });

test('nothing is told of a sound service', () => {
  expect(told({})).toEqual([]);
});

test.each<[string, Partial<ConditionFacts>, string[]]>([
  [
    'a full disk',
    { storeFault: 'the disk is full' },
    ['failing databaseUnwritable: The database cannot be written: the disk is full.'],
  ],
  [
    'an outage for which changes wait',
    { local: [outage], summaries: [waiting] },
    [
      'failing travelOutage: The travel API answers 503 since 2026-11-20T14:02Z; 25 changes wait, the oldest for 2 minutes.',
    ],
  ],
  [
    'an outage that began after the oldest change was written',
    { local: [{ ...outage, since: NOW - MINUTE }], summaries: [waiting] },
    [
      'failing travelOutage: The travel API answers 503 since 2026-11-20T14:29Z; 25 changes wait, the oldest for 1 minute.',
    ],
  ],
  [
    'an outage that has just begun',
    { local: [{ ...outage, since: NOW }], summaries: [waiting] },
    [
      'failing travelOutage: The travel API answers 503 since 2026-11-20T14:30Z; 25 changes wait, the oldest for 1 second.',
    ],
  ],
  [
    'an outage of one of two connections',
    {
      local: [{ ...outage, status: undefined, detail: 'ETIMEDOUT' }],
      summaries: [summaryOf('okta'), summaryOf('entra')],
    },
    [
      'failing travelOutage: The travel API of okta does not answer (ETIMEDOUT) since 2026-11-20T14:02Z; no change waits for it.',
    ],
  ],
  ['one lost call, for which no change waits', { local: [{ ...outage, since: NOW - 5_000 }] }, []],
  [
    'a pause of calls, at once',
    { local: [{ ...outage, since: NOW, status: undefined, pause: 'throttled' }] },
    [
      'failing travelOutage: The travel API asks to be called later since 2026-11-20T14:30Z; no change waits for it.',
    ],
  ],
  [
    'a refused credential',
    { local: [{ ...outage, kind: 'credentialRefused', status: 401 }] },
    [
      'failing credentialRefused: The travel API refuses the credential (401) since 2026-11-20T14:02Z; no change waits for it.',
    ],
  ],
  [
    'held people, and rules that wait',
    {
      counts: [{ connection: 'okta', cause: 'safetyValve', count: 1, since: NOW }],
      connections: [connectionState('okta', { proposedSince: NOW })],
    },
    [
      'warning hold (safetyValve): Changes of 1 person are held: the safety valve has stopped these departures.',
      'warning proposedRules: Other rules wait for an admin, because they would change more than 100 people; the rules in force stay so.',
    ],
  ],
  [
    'doubtful answers, and travelers who stay active, which come first',
    {
      counts: [
        { connection: 'okta', cause: 'unclearAnswer', count: 2, since: NOW },
        { connection: 'okta', cause: 'notArchived', count: 1, since: NOW },
      ],
    },
    [
      'failing notArchived: The travel API has accepted the deactivation of 1 person, and their travelers stay active.',
      'warning unclearAnswer: The answers about 2 people may come from a gateway in place of the travel API.',
    ],
  ],
  [
    'travelers of one of two connections that differ from a restored database',
    { summaries: [summaryOf('okta', { findings: new Map([['restored', 1]]) }), summaryOf('entra')] },
    [
      'warning restoredPeople: The database was restored from a backup, and 1 traveler of okta differs from it: they stay so until the identity provider states these people, or an admin has the stored values sent again.',
    ],
  ],
  [
    'a finding that concerns nearly everybody',
    { summaries: [found('costCenterUnknown', 2_000, 2_001)] },
    ['warning findings (costCenterUnknown): Cost center unknown for 2,000 of 2,001 people.'],
  ],
  ['a tenth of the people, from twenty on', { summaries: [found('phoneUnreadable', 19, 19)] }, []],
  ['less than a tenth of the people', { summaries: [found('phoneUnreadable', 99, 1_000)] }, []],
  [
    'five thousand of a million people',
    { summaries: [found('phoneUnreadable', 5_000, 1_000_000)] },
    ['warning findings (phoneUnreadable): Phone unreadable for 5,000 of 1,000,000 people.'],
  ],
  ['a decision about everybody', { summaries: [found('outOfScope', 500, 500)] }, []],
  [
    'a hundredth of refused people, from five on',
    { summaries: [summaryOf('okta', { states: { synced: 495, refused: 5 } })] },
    ['warning refusedPeople: The travel API refuses 5 of 500 people.'],
  ],
  ['four refused people', { summaries: [summaryOf('okta', { states: { synced: 4, refused: 4 } })] }, []],
  [
    'faults of the mapping and lists that cannot be read',
    {
      local: [
        { kind: 'mappingFaults', connection: 'okta', since: NOW, count: 2 },
        { kind: 'staleLookups', connection: 'okta', since: NOW, detail: 'costCenters, customFields' },
      ],
    },
    [
      'warning mappingFaults: The mapping has 2 names that the travel service does not know; these fields stay as they are.',
      'warning staleLookups: Lists of the travel API can no longer be read (costCenters, customFields); older values serve.',
    ],
  ],
  [
    'few file descriptors',
    { local: [{ kind: 'fileDescriptors', connection: '', since: NOW, detail: '940 of 1,024 are open' }] },
    [
      'failing fileDescriptors: A server has few file descriptors left (940 of 1,024 are open) and soon accepts no connection: raise its limit (ulimit -n).',
    ],
  ],
  [
    'an import that fails',
    { connections: [connectionState('okta', { importState: { failedSince: NOW - 28 * MINUTE } })] },
    [
      'warning importFailed: The import of travelers fails since 2026-11-20T14:02Z; it is tried again every minute.',
    ],
  ],
  [
    'lists that cannot be read because of an outage',
    {
      local: [outage, { kind: 'staleLookups', connection: 'okta', since: NOW, detail: 'costCenters' }],
      summaries: [waiting],
    },
    [expect.stringMatching(/^failing travelOutage/)],
  ],
  [
    'an import that fails because of an outage',
    {
      ...{ local: [outage], summaries: [waiting] },
      connections: [connectionState('okta', { importState: { failedSince: NOW } })],
    },
    [expect.stringMatching(/^failing travelOutage/)],
  ],
  [
    'imports that are incomplete, and that ended at their maximum',
    {
      connections: [
        connectionState('okta', { importState: { isIncomplete: true, at: NOW, read: 3 } }),
        connectionState('entra', { importState: { isIncomplete: false, at: NOW, read: 500, maximum: 500 } }),
        connectionState('ping', {
          importState: { isIncomplete: true, at: NOW, read: 40, endedEarly: { total: 130 } },
        }),
        connectionState('one', { importState: { isIncomplete: true, at: NOW, read: 1_000, endedEarly: {} } }),
      ],
    },
    [
      'warning importIncomplete: The last import listed too few of the known travelers to conclude that the others are gone.',
      'warning importMaximum: The last import has ended at its maximum of 500 travelers.',
      'warning importIncomplete: The last import read 40 of 130 travelers before its pages repeated or ended: nobody is taken for gone.',
      'warning importIncomplete: The last import read 1,000 travelers before its pages repeated or ended: nobody is taken for gone.',
    ],
  ],
  [
    'groups that a mapping names in vain',
    {
      missingGroups: [
        { connection: 'okta', count: 1 },
        { connection: 'entra', count: 2 },
      ],
    },
    [
      'warning missingGroups: The mapping names 1 group that the identity provider has not sent, or has renamed or deleted.',
      'warning missingGroups: The mapping names 2 groups that the identity provider has not sent, or has renamed or deleted.',
    ],
  ],
  [
    'tokens that end within 30 days, and none that ends later or has ended',
    {
      tokens: [29, 31, -1].flatMap((days) => [
        { kind: 'tokenEnds', connection: 'okta', name: `entra ${days}`, expiresAt: NOW + days * DAY },
        {
          kind: 'adminTokenEnds',
          connection: undefined,
          name: `report ${days}`,
          expiresAt: NOW + days * DAY,
        },
      ]),
    },
    [
      'warning tokenEnds (entra 29): A token of the connection okta ends on 2026-12-19.',
      'warning adminTokenEnds (report 29): A token of a script ends on 2026-12-19.',
    ],
  ],
  [
    'a certificate that ends soon',
    { certificate: { validFrom: 0, validTo: NOW + 29 * DAY } },
    ['warning certificateEnds: The certificate in TLS_CERT ends on 2026-12-19.'],
  ],
  [
    'a certificate that has ended',
    { certificate: { validFrom: 0, validTo: NOW - DAY } },
    ['failing certificateEnds: The certificate in TLS_CERT ended on 2026-11-19.'],
  ],
  [
    'a burst of refused sign-ins, and a suspicion of a restore',
    {
      local: [
        { kind: 'signIns', connection: '', since: NOW, count: 57 },
        { kind: 'restoreSuspected', connection: 'okta', since: NOW, count: 3 },
      ],
    },
    [
      'warning signIns: 57 sign-ins to the admin page were refused within ten minutes.',
      'warning restoreSuspected: The travelers of 3 people had values that were never sent, after a time without a server: if the database was restored, tell so now, before old values are sent; otherwise somebody has entered these values in the travel service.',
    ],
  ],
])('%s', (_name, facts, expected) => {
  expect(told(facts)).toEqual(expected);
});

test('what another process has seen within a minute counts, and its earlier beginning', () => {
  const shared = [{ fact: outage, seenAt: NOW - 59_000 }];
  expect(told({ shared, summaries: [waiting] })).toEqual([
    expect.stringMatching(/answers 503 since .*14:02Z/),
  ]);
  const local = [{ ...outage, since: NOW - MINUTE }];
  expect(told({ shared, local, summaries: [waiting] })).toEqual([expect.stringMatching(/since .*14:02Z/)]);
  expect(told({ shared: [{ fact: outage, seenAt: NOW - 60_000 }], summaries: [waiting] })).toEqual([]);
});

test('the outage is told for each person of the connection who waits for it', () => {
  const facts = { ...soundFacts, local: [outage] };
  expect(describeOutage('okta', facts)).toBe('the travel API answers 503 since 2026-11-20T14:02Z');
  expect(describeOutage('entra', facts)).toBeUndefined();
});

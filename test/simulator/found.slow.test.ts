import { defaultPolicies } from '../../src/provisioning/policies.ts';
import { seeds } from '../fixtures/runs.ts';
import type { Event } from './events.ts';
import { expectKeptInFile } from './short-histories.ts';

/** Further histories that the simulator has found and shrunk, each with the fault that it showed. */

const expectKept = expectKeptInFile();

it('a leaver who gives up an address while another one has the own new one gets that as soon as it is free', () =>
  expectKept(
    [
      { what: { kind: 'join', who: 5, as: 'same', active: true }, pause: 1_700 },
      { what: { kind: 'active', who: 5, active: false, as: 'same' }, pause: 600 },
      { what: { kind: 'join', who: 2, as: 'other', active: true }, pause: 1_400 },
      { what: { kind: 'faults', next: ['down', 'down', 'down', 'down', 'down', 'down'] }, pause: 0 },
      { what: { kind: 'email', who: 2, address: 5 }, pause: 200 },
      { what: { kind: 'email', who: 5, address: 2 }, pause: 5_000 },
    ],
    { policies: { ...defaultPolicies, safetyValve: undefined } },
  ));

it('a newcomer gets the address of a leaver whose traveler has it only since a swap that was under way', () =>
  expectKept([
    { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 100 },
    { what: { kind: 'join', who: 1, as: 'same', active: true }, pause: 100 },
    { what: { kind: 'rest' }, pause: 0 },
    { what: { kind: 'faults', next: [...Array(12).fill('pass'), 'slow'] }, pause: 0 },
    { what: { kind: 'swap', ring: [0, 1] }, pause: 20 },
    { what: { kind: 'leave', who: 0 }, pause: 20 },
    { what: { kind: 'join', who: 0, as: 'other', active: true }, pause: 1_500 },
  ]));

it.each(seeds(4, 6, 7, 8))(
  'an address for which an attempt without an answer has waited is given on, once its person wants another one (seed %d)',
  (seed) =>
    expectKept(
      [
        { what: { kind: 'email', who: 5, address: 6 }, pause: 400 },
        { what: { kind: 'update', who: 0, via: 'patch', set: { lang: 1 } }, pause: 2_500 },
        { what: { kind: 'update', who: 4, via: 'patch', set: {} }, pause: 0 },
        { what: { kind: 'swap', ring: [0, 4] }, pause: 0 },
        { what: { kind: 'swap', ring: [4, 5, 2] }, pause: 0 },
        { what: { kind: 'faults', next: ['late', 'slow'] }, pause: 300 },
        { what: { kind: 'update', who: 0, via: 'put', set: { roles: 2 } }, pause: 0 },
      ],
      { replicas: 2 },
      seed,
    ),
);

it('the traveler of a create from before a restore, carried out after it, is that of somebody else for who gets it', () =>
  expectKept(
    [
      { what: { kind: 'update', who: 0, via: 'patch', set: { city: 1 } }, pause: 2_000 },
      { what: { kind: 'update', who: 0, via: 'patch', set: { city: 1 } }, pause: 2_000 },
      { what: { kind: 'email', who: 1, address: 1 }, pause: 2_000 },
      { what: { kind: 'leave', who: 0 }, pause: 2_000 },
      { what: { kind: 'email', who: 1, address: 0 }, pause: 2_000 },
      { what: { kind: 'leave', who: 1 }, pause: 2_000 },
      { what: { kind: 'rest' }, pause: 0 },
      { what: { kind: 'backup' }, pause: 2_000 },
      { what: { kind: 'faults', next: ['late'] }, pause: 0 },
      { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 20 },
      { what: { kind: 'restore' }, pause: 45_000 },
      { what: { kind: 'join', who: 1, as: 'same', active: true }, pause: 2_000 },
    ],
    { policies: { ...defaultPolicies, safetyValve: undefined, deprovision: 'delete' } },
  ));

it('a value that the travel API has accepted and not carried out is sent again under other rules', () =>
  expectKept([
    { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 2_000 },
    { what: { kind: 'update', who: 0, via: 'patch', set: { lang: 0 } }, pause: 2_000 },
    { what: { kind: 'active', who: 0, active: false, as: 'same' }, pause: 2_000 },
    { what: { kind: 'rest' }, pause: 0 },
    { what: { kind: 'faults', next: ['pass', 'status503', 'pass', 'noEffect'] }, pause: 0 },
    { what: { kind: 'active', who: 0, active: true, as: 'same' }, pause: 200 },
    { what: { kind: 'update', who: 0, via: 'patch', set: { lang: 1 } }, pause: 5_000 },
    { what: { kind: 'mapping', name: 'departmentAsTitle' }, pause: 0 },
    { what: { kind: 'rest' }, pause: 0 },
  ]));

/** The seed decides that the attempt begins between the two changes. */
it('a person who was in scope for the moment between two changes of the mapping may have got a traveler', () =>
  expectKept(
    [
      { what: { kind: 'mapping', name: 'keepStrangersToStaff' }, pause: 0 },
      { what: { kind: 'rest' }, pause: 0 },
      { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 2_000 },
      { what: { kind: 'mapping', name: 'defaults' }, pause: 0 },
      { what: { kind: 'mapping', name: 'keepStrangersToStaff' }, pause: 0 },
      { what: { kind: 'rest' }, pause: 0 },
    ],
    { replicas: 2 },
    2,
  ));

it('a leaver whom the scope left out before, and whose traveler is activated by hand, stays so while drift is reported', () =>
  expectKept([
    { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 2_000 },
    { what: { kind: 'update', who: 0, via: 'patch', set: { title: 1 } }, pause: 2_000 },
    { what: { kind: 'mapping', name: 'keepDirectors' }, pause: 0 },
    { what: { kind: 'rest' }, pause: 0 },
    { what: { kind: 'active', who: 0, active: false, as: 'same' }, pause: 2_000 },
    { what: { kind: 'edit', who: 0, field: 'archived' }, pause: 2_000 },
    { what: { kind: 'rest' }, pause: 0 },
    { what: { kind: 'update', who: 0, via: 'patch', set: { phone: 0 } }, pause: 2_000 },
  ]));

const joinAndLoseCreate: Event[] = [
  { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 200 },
  { what: { kind: 'email', who: 0, address: 5 }, pause: 60_000 },
];
const leaveAndReturn: Event[] = [
  { what: { kind: 'active', who: 0, active: false, as: 'same' }, pause: 200 },
  { what: { kind: 'active', who: 0, active: true, as: 'same' }, pause: 60_000 },
];
const updateTwice: Event[] = [
  { what: { kind: 'update', who: 0, via: 'patch', set: { givenName: 1 } }, pause: 200 },
  { what: { kind: 'update', who: 0, via: 'patch', set: { givenName: 2 } }, pause: 60_000 },
];
const joined: Event[] = [{ what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 3_000 }];

/** The seed decides that the call is carried out after more than `lateMs`, and before its time-out and `lateMs` have passed. */
it.each([
  { call: 'create', seed: 3, before: [], reads: 0, events: joinAndLoseCreate },
  { call: 'archive', seed: 6, before: joined, reads: 1, events: leaveAndReturn },
  { call: 'update', seed: 2, before: joined, reads: 0, events: updateTwice },
])(
  'a late $call of a process that has ended is looked for until it can no longer arrive',
  ({ seed, before, reads, events }) =>
    expectKept(
      [
        ...before,
        {
          what: { kind: 'faults', next: [...Array.from({ length: reads }, () => 'pass' as const), 'late'] },
          pause: 0,
        },
        { what: { kind: 'kill', replica: 0, at: { effects: 1, edge: 'during' } }, pause: 0 },
        ...events,
      ],
      {},
      seed,
    ),
);

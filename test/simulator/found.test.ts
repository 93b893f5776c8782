import { seeds } from '../fixtures/runs.ts';
import { expectKeptInFile } from './short-histories.ts';

/** Histories that the simulator has found and shrunk, each with the fault that it showed. `found.slow.test.ts` has more of them. */

const expectKept = expectKeptInFile();

it('a leaver takes the own address back if the person who needed it wants another one before it is given up', () =>
  expectKept([
    { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 100 },
    { what: { kind: 'join', who: 1, as: 'same', active: true }, pause: 100 },
    { what: { kind: 'rest' }, pause: 0 },
    { what: { kind: 'faults', next: ['pass', 'pass', 'pass', 'slow'] }, pause: 0 },
    { what: { kind: 'leave', who: 0 }, pause: 20 },
    { what: { kind: 'join', who: 0, as: 'other', active: true }, pause: 20 },
    { what: { kind: 'email', who: 0, address: 5 }, pause: 1_500 },
  ]));

/** The seed decides when the late call is carried out. */
it.each(seeds(1, 2, 3, 4, 5, 6))(
  'a late archive is undone after a move, also if an import looks at the traveler meanwhile (seed %d)',
  (seed) =>
    expectKept(
      [
        { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 3_000 },
        { what: { kind: 'faults', next: ['pass', 'late'] }, pause: 0 },
        { what: { kind: 'move', who: 0 }, pause: 1_600 },
        { what: { kind: 'import' }, pause: 0 },
      ],
      { replicas: 2 },
      seed,
    ),
);

it('a create that a gateway sends twice leaves no second traveler, if the search fails and the address changes', () =>
  expectKept([
    { what: { kind: 'faults', next: ['twice', 'status503'] }, pause: 0 },
    { what: { kind: 'join', who: 0, as: 'same', active: true }, pause: 300 },
    { what: { kind: 'email', who: 0, address: 5 }, pause: 5_000 },
  ]));

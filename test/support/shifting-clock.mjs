// Shifts the wall clock of a process, while it runs and from its first moment on. Preload it:
//
//   NODE_OPTIONS="--import file:///…/test/support/shifting-clock.mjs" SHIFT_FILE=/tmp/…/shift node dist/main.js serve
//
// The file named by SHIFT_FILE holds a whole number of milliseconds that are added to every reading of Date: `new Date()`,
// `Date()`, `Date.now()`. It is looked at when Date is read, at most once in 10 ms, so that a change counts at once and
// reading Date stays cheap. No file, or one that holds no number (such as one that is just being written), changes nothing.
// Two processes that share the file share the shift; it outlives them.
//
// What the machine's own clock decides is not shifted: performance.now(), timers, the Date header that Node's HTTP server
// sends, the times of files.
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 10;

const file = process.env.SHIFT_FILE;
const RealDate = Date;
const realNow = RealDate.now;
let shift = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

function look() {
  if (!file || performance.now() - lookedAt < LOOK_EVERY_MS) return;
  lookedAt = performance.now();
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (/^-?\d+$/.test(text)) shift = Number(text);
  } catch {
    // There is no file yet.
  }
}

function shiftedNow() {
  look();
  return realNow() + shift;
}

const ShiftedDate = new Proxy(RealDate, {
  apply: () => new RealDate(shiftedNow()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(
      target,
      args.length === 0 ? [shiftedNow()] : args,
      newTarget === ShiftedDate ? target : newTarget,
    ),
});

RealDate.now = shiftedNow;
RealDate.prototype.constructor = ShiftedDate;
globalThis.Date = ShiftedDate;

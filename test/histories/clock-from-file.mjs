// Preload: shifts the wall clock (Date) of a process by the milliseconds that stand in the file CLOCK_SHIFT_FILE. The
// file is read again and again, so that a test lets the clock of a running process jump. Timers are not shifted.
import { readFileSync } from 'node:fs';

const POLL_MS = 20;
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
const file = process.env.CLOCK_SHIFT_FILE;
let shift = 0;

function readShift() {
  const text = readFileSync(file, 'utf8');
  // An empty file is one that is just being written.
  if (text !== '') shift = Number(text);
}

if (file) {
  readShift();
  setInterval(readShift, POLL_MS).unref();
  const now = () => realNow() + shift;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) =>
      Reflect.construct(
        target,
        values.length === 0 ? [now()] : values,
        newTarget === Date ? target : newTarget,
      ),
    apply: () => new RealDate(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
}

/** The time of a local clock that is written as if it were UTC, from a time in epoch milliseconds. */
export function localTime(time: number, zone: string): number {
  return time + aheadOfUtc(time, zone);
}

/** The time in epoch milliseconds at which the clocks of a zone show a local time that is written as if it were UTC. */
export function timeOf(local: number, zone: string): number {
  // The offset of a time near by is that of the time itself, but within hours of a change of the clocks.
  const near = local - aheadOfUtc(local, zone);
  return local - aheadOfUtc(near, zone);
}

/** How far the clocks of a zone are ahead of UTC at a time, in milliseconds. */
function aheadOfUtc(time: number, zone: string): number {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return shown - Math.floor(time / 1000) * 1000;
}

/** Making one takes longer than a thousand uses of it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  clocks.set(timeZone, made);
  return made;
}

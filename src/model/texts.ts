/** A number with separators, e.g. `1,204`. */
export function numberText(count: number): string {
  return count.toLocaleString('en-US');
}

/** A number and the word that follows it: the first one after 1. */
export function countText(count: number, one: string, many: string): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

export function peopleText(count: number): string {
  return countText(count, 'person', 'people');
}

/** A time to the minute, e.g. `2026-11-20T14:02Z`. The admin page shows it in the time of the browser. */
export function minuteText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`;
}

/** A day, e.g. `2026-11-20`. */
export function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Converts a code, such as `costCenterUnknown`, to words. */
export function toWords(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

export function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns a duration in its largest whole unit, e.g. `12 minutes`. */
export function durationText(ms: number): string {
  const seconds = Math.max(1, Math.floor(ms / 1000));
  const units: [string, number][] = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ];
  const [name, length] = units.find(([, unit]) => seconds >= unit) ?? ['second', 1];
  return countText(Math.floor(seconds / length), name, `${name}s`);
}

import type { Dice } from './dice.ts';

/**
 * Ids that come from dice and the time of the story. They begin with the time, as those of many services do (UUID version
 * 7 is one): what is made together stands together in every index, so that a million are made as fast as a thousand.
 */
export function identifiers(dice: Dice, now: () => number): (form: 'A' | 'B') => string {
  const digits = (count: number) =>
    Array.from({ length: count / 4 }, () => hex(dice.between(0, 0xffff), 4)).join('');
  return (form) => {
    if (form === 'A') return `${hex(Math.floor(now() / 1000), 8)}${digits(16)}`;
    const time = hex(now(), 12);
    const [a, b] = [digits(4).slice(1), digits(4).slice(1)];
    return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-${dice.of(['8', '9', 'a', 'b'])}${b}-${digits(12)}`;
  };
}

function hex(number: number, length: number): string {
  return number.toString(16).padStart(length, '0');
}

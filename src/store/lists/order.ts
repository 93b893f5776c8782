import type { SortKey } from '../../provisioning/list-ports.ts';

/** Compares keys as an index does: texts by code points, whoever has no value last, or first when descending. */
export function comparing(descending: boolean): (left: SortKey, right: SortKey) => number {
  const ascending = (left: SortKey, right: SortKey) =>
    byValue(left.value, right.value) || left.position - right.position;
  return descending ? (left, right) => ascending(right, left) : ascending;
}

function byValue(left: SortKey['value'], right: SortKey['value']): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return typeof left === 'string' && typeof right === 'string'
    ? byCodePoints(left, right)
    : Number(left) - Number(right);
}

function byCodePoints(left: string, right: string): number {
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates stand for code points behind all others. */
function rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

import { isObject } from '../../components/texts.ts';
import type { TransformKind } from './completion.ts';

/** A transform as it is written: its kind and its option, '' for a word without one. */
export interface WrittenTransform {
  kind: TransformKind;
  option: string | Record<string, string>;
}

/** Reads a transform; undefined if it has not the form of any kind, so that fields cannot show it. */
export function readTransform(value: unknown, kinds: TransformKind[]): WrittenTransform | undefined {
  const find = (name: string) => kinds.find((one) => one.name === name);
  if (typeof value === 'string') {
    const kind = find(value);
    return kind?.isWord ? { kind, option: '' } : undefined;
  }
  const [[name, option] = ['', undefined], ...others] = Object.entries(Object(value));
  const kind = find(name);
  if (!kind || others.length > 0) return undefined;
  if (kind.option === 'text') return typeof option === 'string' ? { kind, option } : undefined;
  return kind.option !== 'none' && isTexts(option) ? { kind, option } : undefined;
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string');
}

/** Returns a transform of a kind with an empty option, as it is written. */
export function newTransform(kind: TransformKind): unknown {
  if (kind.option === 'none' || kind.option === 'text') return withOption(kind, '');
  return withOption(kind, Object.fromEntries(kind.members.map(([name]) => [name, ''])));
}

/** Returns a transform with an option, as it is written. Without a text it is the word alone, where that is allowed. */
export function withOption({ name, isWord }: TransformKind, option: WrittenTransform['option']): unknown {
  return option === '' && isWord ? name : { [name]: option };
}

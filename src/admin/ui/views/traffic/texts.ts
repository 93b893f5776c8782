import type { Exchange } from '../../../contract/traffic.ts';

/** The outcome of an exchange: its symbol, its colour and the text of its status. */
export function outcomeOf({ status, error }: Pick<Exchange, 'status' | 'error'>): {
  symbol: string;
  color: string;
  text: string;
} {
  if (status === undefined) return { symbol: '✗', color: 'red', text: error ?? 'no answer' };
  const text = String(status);
  if (status >= 500) return { symbol: '✗', color: 'red', text };
  if (status >= 400) return { symbol: '!', color: 'orange', text };
  return { symbol: '✓', color: 'green', text };
}

/** Returns a duration, e.g. `3.2 ms` or `1.4 s`. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${Math.round(ms * 10) / 10} ms`;
}

/** Returns JSON with one member on each line; another text as it is. */
export function prettyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Returns a path as people read it: without percent-encoding where it can be decoded. */
export function pathText(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns a path for a narrow column: of each UUID only the beginning and the end. */
export function shortPath(path: string): string {
  return pathText(path).replace(
    /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})\b/gi,
    '$1…$2',
  );
}

import type { Exchange } from '../../../../operations/traffic/traffic.ts';

/** The outcome of an exchange: its symbol, its colour and the text of its status. */
export function outcomeOf({ status, error }: Pick<Exchange, 'status' | 'error'>): {
  symbol: string;
  color?: string;
  text: string;
} {
  if (status === undefined) return { symbol: '✗', color: 'red', text: error ?? 'no answer' };
  const text = String(status);
  if (status >= 500) return { symbol: '✗', color: 'red', text };
  if (status >= 400) return { symbol: '!', color: 'orange', text };
  return { symbol: '✓', text };
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

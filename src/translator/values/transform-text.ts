// The words for a transform in traces and on the page. The file imports nothing, because it is in the page, too.

/** Returns a transform in words, e.g. `prefix CC-` or `map Navy → US Navy, …`: a long option only begins. */
export function transformText(transform: unknown): string {
  if (typeof transform === 'string') return transform;
  const [[name, option] = ['?', undefined]] = Object.entries(Object(transform));
  if (typeof option !== 'object' || option === null) return `${name} ${option}`;
  const { pattern, with: result } = Object(option);
  if (pattern !== undefined) return `${name} ${pattern} by ${result || 'nothing'}`;
  const pairs = Object.entries(option).map(([from, to]) => `${from} → ${to}`);
  const shown = pairs.length > MAX_PAIRS ? [...pairs.slice(0, MAX_PAIRS), '…'] : pairs;
  return `${name} ${shown.join(', ')}`;
}

/** The pairs of an option that are shown. */
const MAX_PAIRS = 3;

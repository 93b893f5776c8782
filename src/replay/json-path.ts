type Segment =
  | { kind: 'member'; name: string }
  | { kind: 'item'; index: number }
  | { kind: 'filter'; key: string; value: unknown }
  | { kind: 'nulls' };

/**
 * Reads the value at a path: `a.b`, `[0]`, `["urn:…"]`, `[?(key=="v")]` for the first item that matches, `$nulls` for
 * the number of nulls in what stands before it. Undefined when there is nothing there.
 */
export function readAt(value: unknown, path: string): unknown {
  const segments = segmentsOf(path);
  if (!segments) throw new SyntaxError(`"${path}" is no path`);
  return segments.reduce(follow, value);
}

/** True for what `readAt` can read by. */
export function isPath(path: string): boolean {
  return segmentsOf(path) !== undefined;
}

function follow(value: unknown, segment: Segment): unknown {
  switch (segment.kind) {
    case 'member':
      return memberOf(value, segment.name);
    case 'item':
      return Array.isArray(value) ? value[segment.index] : undefined;
    case 'filter':
      return Array.isArray(value)
        ? value.find((item) => memberOf(item, segment.key) === segment.value)
        : undefined;
    case 'nulls':
      return countNulls(value);
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function countNulls(value: unknown): number {
  if (value === null) return 1;
  if (typeof value !== 'object') return 0;
  return Object.values(value).reduce((sum: number, member) => sum + countNulls(member), 0);
}

const filter = /^\[\?\(\s*(?:@\.)?([\w$.:-]+)\s*==\s*("(?:[^"\\]|\\.)*"|[\w.+-]+)\s*\)\]/;
const quoted = /^\[("(?:[^"\\]|\\.)*")\]/;
const index = /^\[(\d+)\]/;
const member = /^\.?([^.[\]]+)/;

function segmentsOf(path: string): Segment[] | undefined {
  const segments: Segment[] = [];
  let rest = path;
  while (rest !== '') {
    const next = segmentAt(rest);
    if (!next) return undefined;
    segments.push(next.segment);
    rest = rest.slice(next.length);
  }
  return segments;
}

function segmentAt(rest: string): { segment: Segment; length: number } | undefined {
  const [all = '', key = '', value = ''] = filter.exec(rest) ?? [];
  if (all) return { segment: { kind: 'filter', key, value: literal(value) }, length: all.length };
  const [name, quotedName = ''] = quoted.exec(rest) ?? [];
  if (name) return { segment: { kind: 'member', name: String(literal(quotedName)) }, length: name.length };
  const [item, at] = index.exec(rest) ?? [];
  if (item) return { segment: { kind: 'item', index: Number(at) }, length: item.length };
  const [plain, word = ''] = member.exec(rest) ?? [];
  if (!plain) return undefined;
  return {
    segment: word === '$nulls' ? { kind: 'nulls' } : { kind: 'member', name: word },
    length: plain.length,
  };
}

function literal(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

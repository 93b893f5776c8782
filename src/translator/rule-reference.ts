import type { RuleReference, SkippedReference, TraceEntry } from './translation.ts';

/** A rule of the mapping as a trace names it, with details of its use for one user. */
export interface TracedRule extends Pick<TraceEntry, 'rule' | 'when' | 'read'> {
  origin: 'file' | 'collection';
  /** The path of a template that has no value. */
  missing?: string;
}

/**
 * Makes the text by which a trace refers to a rule of the mapping: the origin and the rule, then each detail on a line of
 * its own. SCIM paths, conditions and JSON texts contain no line feed.
 */
export function toReference({ origin, rule, ...details }: TracedRule): Exclude<RuleReference, number> {
  const lines = detailNames.flatMap((name) =>
    details[name] === undefined ? [] : [`${name} ${details[name]}`],
  );
  return `${origin} ${[rule, ...lines].join('\n')}`;
}

/** Makes the text by which a trace refers to a rule whose condition does not hold. */
export function toSkippedReference(rule: TracedRule): SkippedReference {
  return `skipped ${toReference(rule)}`;
}

/** Returns true for the reference to a rule whose condition does not hold. */
export function isSkippedReference(
  reference: RuleReference | SkippedReference,
): reference is SkippedReference {
  return typeof reference === 'string' && reference.startsWith('skipped ');
}

/** Parses the reference to a rule of the mapping. */
export function parseReference(reference: Exclude<RuleReference, number> | SkippedReference): TracedRule {
  const [rule = '', ...lines] = reference.replace(/^skipped /, '').split('\n');
  const details = lines.map((line) => splitAtBlank(line));
  const [origin, text] = splitAtBlank(rule);
  return { ...Object.fromEntries(details), origin: origin === 'file' ? 'file' : 'collection', rule: text };
}

const detailNames = ['when', 'read', 'missing'] as const;

function splitAtBlank(line: string): [string, string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}

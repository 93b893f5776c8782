import { jsonPath } from '../../schema/json-path.ts';
import { patternSize } from '../../schema/pattern-size.ts';
import { isObject, type Json, type JsonObject } from '../../schema/resource.ts';
import type { MappingFault } from './mapping-faults.ts';

/** The largest mapping that may be put in force (docs/mappings/transforms.md, How large a mapping may be). */
export const mappingLimits = {
  rules: 500,
  /** The number of patterns, those of the transforms `replace`. */
  patterns: 200,
  /** The compiled size of all patterns together. */
  patternSize: 5_000,
  /** The characters of all paths, templates and conditions together. A filter is evaluated for each value of a person. */
  pathTexts: 100_000,
};

/** The longest pattern, in characters. The schema of mappings refuses a longer one, which is never compiled. */
export const maxPatternLength = 1_000;

/**
 * Finds what makes a mapping larger than one may be. Takes any JSON and compiles nothing, so that it comes before everything that does: a
 * small text may have patterns that take a minute to compile.
 */
export function findLimitFaults(mapping: unknown): MappingFault[] {
  // Parsed JSON is JSON.
  const rules = isObject(mapping as Json) ? (mapping as JsonObject)['scimUserMapping'] : undefined;
  if (!Array.isArray(rules)) return [];
  if (rules.length > mappingLimits.rules)
    return [
      {
        path: 'scimUserMapping',
        problem: `has ${rules.length} rules, and a mapping has at most ${mappingLimits.rules}`,
        remedy: 'Keep one rule for each field and condition; a transform "map" holds any number of values.',
      },
    ];
  return [...findPathFaults(rules), ...findPatternFaults(rules.flatMap(patternsOf))];
}

function findPathFaults(rules: Json[]): MappingFault[] {
  const sized = rules.map((rule, index) => ({
    path: jsonPath(['scimUserMapping', index]),
    size: pathSize(rule),
  }));
  return findExcess(sized, mappingLimits.pathTexts, (size, total) => ({
    problem: `is the largest of rules that read too much: its paths and condition have ${size} characters, those of all rules together ${total}, and a mapping has at most ${mappingLimits.pathTexts}`,
    remedy:
      'Shorten the conditions ("when") and the filters in paths; a transform "map" distinguishes any number of values.',
  }));
}

/** Returns the fault of the largest part if all parts together are larger than the limit. */
function findExcess(
  sized: { path: string; size: number }[],
  limit: number,
  describe: (size: number, total: number) => Omit<MappingFault, 'path'>,
): MappingFault[] {
  const total = sized.reduce((sum, { size }) => sum + size, 0);
  const [largest] = sized.toSorted((one, other) => other.size - one.size);
  return total <= limit || !largest ? [] : [{ path: largest.path, ...describe(largest.size, total) }];
}

/** The number of characters of what a rule that may have any form reads, and of its condition. */
function pathSize(rule: Json): number {
  if (!isObject(rule)) return 0;
  const texts = [rule['scimAttribute'], rule['sources'], rule['template'], rule['when']].flat();
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

interface Pattern {
  path: string;
  text: string;
}

function findPatternFaults(patterns: Pattern[]): MappingFault[] {
  const [excess] = patterns.slice(mappingLimits.patterns);
  if (excess)
    return [
      {
        path: excess.path,
        problem: `is one pattern too many: the mapping has ${patterns.length} of them, and may have ${mappingLimits.patterns}`,
        remedy: 'Use "map", "trim", "digits" or a change of case where it does the same as "replace".',
      },
    ];
  const sized = patterns.map(({ path, text }) => ({ path, size: patternSize(text) }));
  return findExcess(sized, mappingLimits.patternSize, (size, total) => ({
    problem: `is the largest of patterns that are too large: its size is ${size}, that of all together ${total}, and a mapping has at most ${mappingLimits.patternSize}`,
    remedy: 'Repeat less: {n,m} counts what it repeats m times. "+" and "*" count it once.',
  }));
}

/** The patterns of a rule that may have any form. */
function patternsOf(rule: Json, index: number): Pattern[] {
  const transforms = isObject(rule) ? rule['transforms'] : undefined;
  if (!Array.isArray(transforms)) return [];
  return transforms.flatMap((transform, position) => {
    const replace = isObject(transform) ? transform['replace'] : undefined;
    const text = isObject(replace) ? replace['pattern'] : undefined;
    const path = jsonPath(['scimUserMapping', index, 'transforms', position, 'replace', 'pattern']);
    return typeof text === 'string' ? [{ path, text: text.slice(0, maxPatternLength) }] : [];
  });
}

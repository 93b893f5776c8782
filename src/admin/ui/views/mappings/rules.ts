/** A rule of a mapping as it is written. Members of other types than expected are left to the check of the service. */
export type WrittenRule = Record<string, unknown>;

/** A mapping as it is written. */
type WrittenMapping = Record<string, unknown>;

/** Parses the text of a mapping; undefined if it is not a JSON object with a list of rules, or none. */
export function parseRules(text: string): { mapping: WrittenMapping; rules: WrittenRule[] } | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
    const mapping: WrittenMapping = { ...parsed };
    const { scimUserMapping: rules = [] } = mapping;
    const isList = Array.isArray(rules) && rules.every((rule) => typeof rule === 'object' && rule !== null);
    return isList ? { mapping, rules } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text of a mapping with other rules. Its other members stay as they are. */
export function withRules(text: string, change: (rules: WrittenRule[]) => WrittenRule[]): string {
  const parsed = parseRules(text);
  if (!parsed) return text;
  return `${JSON.stringify({ ...parsed.mapping, scimUserMapping: change(parsed.rules) }, null, 2)}\n`;
}

/** Moves a rule by one place, up (-1) or down (1). */
export function moveRule(rules: WrittenRule[], index: number, by: -1 | 1): WrittenRule[] {
  const [one, other] = [rules[index], rules[index + by]];
  if (!one || !other) return rules;
  return rules.map((rule, at) => (at === index ? other : at === index + by ? one : rule));
}

/** What a rule sets: the name of a field or custom field. */
export function targetOf({ userAttribute, customField, customFieldId }: WrittenRule): string {
  return String(userAttribute ?? customField ?? customFieldId ?? '?');
}

/** What a rule reads. */
export function inputOf({ scimAttribute, sources, template }: WrittenRule): string {
  if (Array.isArray(sources)) return sources.join(' → ');
  return scimAttribute === undefined ? JSON.stringify(template ?? '?') : String(scimAttribute);
}

/** The transforms of a rule in one line, e.g. `trim | prefix "CC-"`. */
export function transformsOf({ transforms }: WrittenRule): string {
  if (!Array.isArray(transforms)) return '';
  return transforms
    .map((one) => {
      if (typeof one === 'string') return one;
      const [[name, option] = ['?', undefined]] = Object.entries(Object(one));
      return `${name} ${JSON.stringify(option)}`;
    })
    .join(' | ');
}

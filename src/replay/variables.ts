/** What `{{name}}` stands for: given by the runner, or captured from an answer, whose type it keeps. */
export type Variables = Record<string, unknown>;

const placeholder = /\{\{(\w+)\}\}/g;
/** An absolute URL, so it goes into a path as it is. */
const asIs = 'tokenEndpoint';

/** Puts the variables in, as text. One that is not known, since its capture failed, becomes `missing-<name>`. */
export function fillText(text: string, variables: Variables): string {
  return text.replace(placeholder, (_, name: string) => String(lookUp(name, variables)));
}

/** Puts the variables into a path, percent-encoded; what stands around them is encoded already and stays as it is. */
export function fillPath(path: string, variables: Variables): string {
  return path.replace(placeholder, (_, name: string) => {
    const value = String(lookUp(name, variables));
    return name === asIs ? value : encodeURIComponent(value);
  });
}

/** Puts the variables into every string and name of a JSON value. A string that is one variable alone takes its type. */
export function fill(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') {
    const alone = /^\{\{(\w+)\}\}$/.exec(value)?.[1];
    return alone === undefined ? fillText(value, variables) : lookUp(alone, variables);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  // Through entries, so that a recorded `__proto__` stays a member like any other.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [fillText(name, variables), fill(member, variables)]),
  );
}

/** The names of all variables that stand anywhere in a JSON value. */
export function namesIn(value: unknown): Set<string> {
  return new Set([...JSON.stringify(value).matchAll(placeholder)].flatMap(([, name]) => name ?? []));
}

function lookUp(name: string, variables: Variables): unknown {
  return Object.hasOwn(variables, name) ? variables[name] : `missing-${name}`;
}

/** Formats a JSON path, e.g. `scimUserMapping[2].transforms[0]`; `$` is the whole file. */
export function jsonPath(path: PropertyKey[]): string {
  const text = path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      return /^[\w$]+$/.test(String(part)) ? `.${String(part)}` : `[${JSON.stringify(String(part))}]`;
    })
    .join('');
  return text === '' ? '$' : text.replace(/^\./, '');
}

/** A piece of HTML, in which every text is escaped. */
export interface Markup {
  readonly html: string;
}

type Part = Markup | string | number | Part[];

/** Markup from a template: what is put in is escaped, unless it is markup itself; undefined and false are left out. */
export function html(pieces: TemplateStringsArray, ...parts: (Part | undefined | false)[]): Markup {
  const text = pieces.map((piece, position) => {
    const part = parts[position];
    return part === undefined || part === false ? piece : piece + rendered(part);
  });
  return { html: text.join('') };
}

/** A text of the contract: what stands between backticks is code. */
export function worded(text: string): Markup[] {
  const parts = text.split('`');
  return parts.map((part, position) => (position % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}

function rendered(part: Part): string {
  if (Array.isArray(part)) return part.map(rendered).join('');
  return typeof part === 'object' ? part.html : escaped(String(part));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

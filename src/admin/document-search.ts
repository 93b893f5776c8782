import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { foldCase } from '../schema/case-fold.ts';

/** A part of a document below a heading, as `npm run build` writes it to `search.json`. */
interface Section {
  page: string;
  title: string;
  heading: string;
  /** The id of the heading. */
  id: string;
  text: string;
}

/** A section with the texts in which words are sought. */
interface IndexedSection extends Section {
  folded: { title: string; heading: string; text: string };
}

const MAX_QUERY = 200;
const MAX_WORDS = 8;
const MAX_RESULTS = 20;
/** The length of an excerpt, in characters, and of its part before the word that was found. */
const EXCERPT = { length: 220, before: 60 };

/** Returns the handler of searches in the documents of a folder, which needs no script in the browser. It reads the index when it is first asked. */
export function documentSearch(folder: string): RequestHandler {
  let index: { sections: IndexedSection[]; document: string } | undefined;
  const read = () => ({
    // The build has written it.
    sections: (JSON.parse(readFileSync(join(folder, 'search.json'), 'utf8')) as Section[]).map(toIndexed),
    document: readFileSync(join(folder, 'search-results.html'), 'utf8'),
  });
  return ({ query: { q } }, response) => {
    index ??= read();
    const text = typeof q === 'string' ? q.slice(0, MAX_QUERY) : '';
    const words =
      foldCase(text)
        .match(/[\p{L}\p{N}]+/gu)
        ?.slice(0, MAX_WORDS) ?? [];
    const results = text === '' ? '' : resultsText(findSections(index.sections, words), words);
    const parts: Record<string, string> = { query: escapeHtml(text), results };
    response.type('html').send(index.document.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name] ?? ''));
  };
}

function toIndexed(section: Section): IndexedSection {
  const { title, heading, text } = section;
  const folded = { title: foldCase(title), heading: foldCase(heading), text: foldCase(text) };
  return { ...section, folded };
}

/** Returns the sections that have all words: those first that have them in the heading, then in the title. */
function findSections(sections: IndexedSection[], words: string[]): Section[] {
  if (words.length === 0) return [];
  const found = sections.flatMap((section) => {
    const { title, heading, text } = section.folded;
    const scores = words.map((word) =>
      heading.includes(word) ? 4 : title.includes(word) ? 2 : text.includes(word) ? 1 : 0,
    );
    return scores.includes(0) ? [] : [{ section, score: scores.reduce<number>((sum, one) => sum + one, 0) }];
  });
  const best = found.toSorted((one, other) => other.score - one.score).slice(0, MAX_RESULTS);
  return best.map(({ section }) => section);
}

function resultsText(sections: Section[], words: string[]): string {
  if (sections.length === 0) return '<p>Nothing was found. Try fewer words, or others.</p>';
  const items = sections.map(({ page, title, heading, id, text }) => {
    const name = heading === title ? title : `${title} › ${heading}`;
    const address = escapeHtml(`${page}#${encodeURIComponent(id)}`);
    return `<li><a href="${address}">${escapeHtml(name)}</a><p>${excerptOf(text, words)}</p></li>`;
  });
  return `<ol>${items.join('')}</ol>`;
}

/** Returns the part of a text around the first word that it has, with all words marked. */
function excerptOf(text: string, words: string[]): string {
  // Words are letters and digits only.
  const marks = new RegExp(`(${words.join('|')})`, 'giu');
  const start = Math.max(0, text.search(marks) - EXCERPT.before);
  const part = text.slice(start, start + EXCERPT.length);
  const marked = part.split(marks).map((piece, index) => {
    const escaped = escapeHtml(piece);
    return index % 2 === 1 ? `<mark>${escaped}</mark>` : escaped;
  });
  return `${start > 0 ? '… ' : ''}${marked.join('')}${start + EXCERPT.length < text.length ? ' …' : ''}`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

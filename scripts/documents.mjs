// Renders the documents of the package as the pages that the server has at /docs.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The documents outside of docs, and the index: the pages by their documents. */
const named = {
  'docs/README.md': 'index.html',
  'README.md': 'readme.html',
  'CHANGELOG.md': 'changelog.html',
};

/** Writes the documents that the package contains to a folder as pages, with their images, a style sheet, and what a search in them needs. */
export function renderDocuments(folder) {
  const packed = packedFiles();
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('docs', file))
    .filter((file) => file.endsWith('.md') && packed.test(file));
  const pages = new Map(below.map((file) => [file, posix.relative('docs', file).replace(/\.md$/, '.html')]));
  for (const [file, page] of Object.entries(named)) pages.set(file, page);
  const sections = [];
  for (const [file, page] of pages) {
    mkdirSync(join(folder, dirname(page)), { recursive: true });
    const rendered = renderDocument(readFileSync(join(root, file), 'utf8'), { file, pages });
    writeFileSync(join(folder, page), rendered);
    sections.push(...sectionsOf(rendered, page));
  }
  writeFileSync(join(folder, 'search.json'), JSON.stringify(sections));
  writeFileSync(
    join(folder, 'search-results.html'),
    renderPage({
      title: 'Search',
      content: '<h1>Search</h1>\n{{results}}\n',
      query: '{{query}}',
      addressOf: String,
    }),
  );
  cpSync(join(root, 'docs/images'), join(folder, 'images'), { recursive: true });
  cpSync(join(root, 'scripts/documents.css'), join(folder, 'style.css'));
  cpSync(join(root, 'src/admin/ui/icon.svg'), join(folder, 'icon.svg'));
}

/** Returns a pattern of the files that `files` of package.json names, or that are below the folders that it names. */
function packedFiles() {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const patterns = files.map((pattern) =>
    pattern
      .replaceAll('.', '\\.')
      .replaceAll('*', '[^/]*')
      .replace(/\{(.+)\}/, (_braces, names) => `(${names.replaceAll(',', '|')})`),
  );
  return new RegExp(`^(${patterns.join('|')})(/|$)`);
}

/** Returns a document as a page. HTML in the document is shown as text, except for line breaks; comments are left out. */
export function renderDocument(markdown, { file, pages }) {
  const page = pages.get(file);
  const toPage = (target) => posix.relative(posix.dirname(page), target);
  const newId = idsOfHeadings();
  const renderer = {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${newId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const target = /^https?:/.test(href) ? href : documentLink(href, { file, pages, toPage });
      return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
    },
    image({ href, text }) {
      const image = posix.relative('docs', posix.join(posix.dirname(file), href));
      return `<img src="${escapeHtml(toPage(image))}" alt="${escapeHtml(text)}">`;
    },
    html({ text }) {
      return escapeHtml(text.replace(/<!--.*?-->/gs, '')).replace(/&lt;br&gt;/g, '<br>');
    },
  };
  // Code and tables that are wider than a narrow screen scroll, and an element that scrolls must have the focus of the keyboard.
  const content = new Marked({ renderer })
    .parse(markdown)
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  const [, title = file] = /^# (.+)$/m.exec(markdown) ?? [];
  return renderPage({ title: title.replaceAll('`', ''), content, addressOf: toPage });
}

/** Returns a page with a document or with what a search has found. */
function renderPage({ title, content, query = '', addressOf }) {
  const links = [
    ['Documentation', 'index.html'],
    ['Operations', 'operations.html'],
    ['Settings', 'settings.html'],
    ['Commands', 'command-line.html'],
  ].map(([text, target]) => `<a href="${addressOf(target)}">${text}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Jetbridge</title>
<link rel="icon" href="${addressOf('icon.svg')}">
<link rel="stylesheet" href="${addressOf('style.css')}">
</head>
<body>
<nav aria-label="Documents">${links.join(' ')} <a href="/admin">Admin page</a>
<form role="search" action="${addressOf('search')}">
<input type="search" name="q" aria-label="Search the documents" placeholder="Search" maxlength="200" value="${query}">
<button>Search</button>
</form>
</nav>
<main>
${content}</main>
</body>
</html>
`;
}

/** Returns the sections of a page: what stands below each heading, without marks. */
function sectionsOf(rendered, page) {
  const [, content = ''] = /<main>(.*)<\/main>/s.exec(rendered) ?? [];
  const parts = content.split(/(?=<h[1-6] id=")/).flatMap((part) => {
    const [, id, heading, rest] = /^<h[1-6] id="([^"]*)">(.*?)<\/h[1-6]>(.*)$/s.exec(part) ?? [];
    return id === undefined ? [] : [{ page, id, heading: textOf(heading), text: textOf(rest) }];
  });
  return parts.map((part) => ({ title: parts[0].heading, ...part }));
}

const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

function textOf(html) {
  const text = html.replace(/<[^>]*>/g, ' ').replace(/&(lt|gt|quot|#39|amp);/g, (entity) => entities[entity]);
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the address of a linked document, relative to the page; undefined for files that are no documents, such as sources. */
function documentLink(href, { file, pages, toPage }) {
  const [path, anchor] = href.split('#');
  const end = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return end;
  const target = pages.get(posix.join(posix.dirname(file), path));
  return target && `${toPage(target)}${end}`;
}

/** Returns a function that makes the ids of headings as GitHub does, so that links work in both places. */
function idsOfHeadings() {
  const counts = new Map();
  return (text) => {
    const id = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

import type { JsonObject } from '../json.ts';
import { objectIn, objectsIn, operationsIn, type ReadOperation, textIn } from './contract.ts';
import { deliveriesSection } from './deliveries.ts';
import { fieldsTable } from './fields.ts';
import { html, type Markup, worded } from './markup.ts';
import { answerDetails, operationSection } from './operation.ts';
import { style } from './style.ts';

/** A contract as a page to be read: without scripts, and with nothing from elsewhere. */
export function docsPage(document: JsonObject): string {
  const { title, version, description } = objectIn(document['info']);
  const operations = operationsIn(document);
  const chapters = chaptersOf(document, operations);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${textIn(title)}</title>
<style>${{ html: style }}</style>
</head>
<body>
<nav aria-label="Contents">
<p><a href="#top">${textIn(title)}</a></p>
${chapters.map(contentsOf)}
${document['webhooks'] !== undefined && html`<p><a href="#deliveries-sent">What a webhook is sent</a></p>`}
<p><a href="#failures">Failures</a></p>
</nav>
<main id="top">
<h1>${textIn(title)} <small>${textIn(version)}</small></h1>
${paragraphs(textIn(description) ?? '')}
<p>The same for programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). The calls below are for a shell with <code>JETBRIDGE</code>, the address of the service, and <code>TRAVEL_API_KEY</code>; a click selects one.</p>
${chapters.map((chapter) => chapterSection(document, chapter))}
${deliveriesSection(document)}
${failures(document, operations)}
</main>
</body>
</html>
`;
  return page.html;
}

interface Chapter {
  name: string;
  id: string;
  description: string | undefined;
  operations: ReadOperation[];
}

function chaptersOf(document: JsonObject, operations: ReadOperation[]): Chapter[] {
  return objectsIn(document['tags']).map((tag) => {
    const name = textIn(tag['name']) ?? '';
    return {
      name,
      id: name.toLowerCase().replaceAll(' ', '-'),
      description: textIn(tag['description']),
      operations: operations.filter((operation) => operation.tag === name),
    };
  });
}

function contentsOf({ name, id, operations }: Chapter): Markup {
  return html`<p><a href="#${id}">${name}</a></p>
<ul>${operations.map(
    (operation) =>
      html`<li><a href="#${operation.id}"><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> ${operation.summary}</a></li>`,
  )}</ul>
`;
}

function chapterSection(document: JsonObject, { name, id, description, operations }: Chapter): Markup {
  const type = typeNamed(document, operations);
  return html`<section id="${id}">
<h2><a href="#${id}">${name}</a></h2>
${description !== undefined && html`<p>${worded(description)}.</p>`}
${type !== undefined && html`<details open><summary>Fields</summary>${fieldsTable(document, type)}</details>`}
${operations.map(operationSection)}
</section>
`;
}

/** The schema of the resource that a chapter is about: the one that its item is retrieved as. */
function typeNamed(document: JsonObject, operations: ReadOperation[]): string | undefined {
  const names = Object.keys(objectIn(objectIn(document['components'])['schemas']));
  const retrieved = operations.map(({ id }) => id.replace(/^retrieve/, ''));
  return names.find((name) => retrieved.includes(name));
}

/** The answers that all operations have in common, each once. */
function failures(document: JsonObject, operations: ReadOperation[]): Markup {
  const answers = operations.flatMap((operation) => operation.answers);
  const failed = answers.filter(({ status }) => status >= '400');
  const once = [...new Map(failed.map((one) => [one.status, one])).values()];
  once.sort((one, other) => Number(one.status) - Number(other.status));
  return html`<section id="failures">
<h2><a href="#failures">Failures</a></h2>
<p>A failure tells a <code>code</code> and a <code>message</code>; <code>invalid</code> names each field or parameter that is not valid.</p>
${fieldsTable(document, 'ErrorBody')}
${once.map((one) => html`<div id="status-${one.status}">${answerDetails(one)}</div>`)}
</section>
`;
}

function paragraphs(text: string): Markup[] {
  return text.split('\n').map((line) => html`<p>${worded(line)}</p>`);
}

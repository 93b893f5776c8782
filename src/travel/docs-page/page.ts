import { type DocumentedApi, type DocumentedOperation, VERSION } from '../../contract/openapi.ts';
import type { Json, JsonObject } from '../json.ts';
import {
  type Answer,
  answersOf,
  asObject,
  asString,
  fieldsTable,
  firstExample,
  html,
  inlineCode,
  joinWithSpaces,
  type Markup,
  schemaNotes,
  typeText,
} from './render.ts';

/** Renders an API as an HTML page without scripts or external resources. */
export function renderDocsPage(api: DocumentedApi): string {
  const { title, description, webhooks } = api;
  const chapters = sectionsOf(api);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<nav aria-label="Contents">
<p><a href="#top">${title}</a></p>
${chapters.map(tableOfContents)}
${webhooks && html`<p><a href="#deliveries-sent">What a webhook is sent</a></p>`}
<p><a href="#failures">Failures</a></p>
</nav>
<main id="top">
<h1>${title} <small>${VERSION}</small></h1>
${paragraphs(description)}
<p>The same for programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). The calls below are for a shell with <code>JETBRIDGE</code>, the address of the service, and <code>TRAVEL_API_KEY</code>; a click selects one.</p>
${chapters.map((chapter) => renderSection(api, chapter))}
${deliveriesSection(webhooks)}
${failuresSection(api)}
</main>
</body>
</html>
`;
  return page.html;
}

interface Section {
  name: string;
  id: string;
  description?: string;
  operations: DocumentedOperation[];
}

function sectionsOf({ tags, operations }: DocumentedApi): Section[] {
  return tags.map((tag) => ({
    ...tag,
    id: tag.name.toLowerCase().replaceAll(' ', '-'),
    operations: operations.filter((operation) => operation.tag === tag.name),
  }));
}

function tableOfContents({ name, id, operations }: Section): Markup {
  return html`<p><a href="#${id}">${name}</a></p>
<ul>${operations.map(
    (operation) => html`<li><a href="#${operation.id}">${methodOf(operation)} ${operation.summary}</a></li>`,
  )}</ul>
`;
}

function renderSection(api: DocumentedApi, { name, id, description, operations }: Section): Markup {
  const type = findSchemaName(api, operations);
  return html`<section id="${id}">
<h2><a href="#${id}">${name}</a></h2>
${description !== undefined && html`<p>${inlineCode(description)}.</p>`}
${type !== undefined && html`<details open><summary>Fields</summary>${fieldsTable(api, type)}</details>`}
${operations.map((operation) => operationSection(api, operation))}
</section>
`;
}

/** Returns the name of the schema that a section documents: the schema that its retrieve operation returns. */
function findSchemaName(
  { components }: DocumentedApi,
  operations: DocumentedOperation[],
): string | undefined {
  const names = Object.keys(asObject(components['schemas']));
  const retrieved = operations.map(({ id }) => id.replace(/^retrieve/, ''));
  return names.find((name) => retrieved.includes(name));
}

/** Renders the failure responses of all operations, each once. */
function failuresSection(api: DocumentedApi): Markup {
  const answers = api.operations.flatMap((operation) => answersOf(api, operation));
  const failed = answers.filter(({ status }) => status >= '400');
  const once = [...new Map(failed.map((one) => [one.status, one])).values()];
  once.sort((one, other) => Number(one.status) - Number(other.status));
  return html`<section id="failures">
<h2><a href="#failures">Failures</a></h2>
<p>A failure tells a <code>code</code> and a <code>message</code>; <code>invalid</code> names each field or parameter that is not valid.</p>
${fieldsTable(api, 'ErrorBody')}
${once.map((one) => html`<div id="status-${one.status}">${answerDetails(one)}</div>`)}
</section>
`;
}

function paragraphs(text: string): Markup[] {
  return text.split('\n').map((line) => html`<p>${inlineCode(line)}</p>`);
}

/** Renders one operation: its call, parameters, example and responses. */
function operationSection(api: DocumentedApi, operation: DocumentedOperation): Markup {
  const { id, path, summary, description, parameters = [] } = operation;
  const [success, ...failures] = answersOf(api, operation);
  return html`<section class="operation" id="${id}">
<h3><a href="#${id}">${summary}</a></h3>
<p class="call">${methodOf(operation)} <code>${path}</code></p>
${description !== undefined && html`<p>${inlineCode(description)}</p>`}
${parameters.length > 0 && parametersTable(parameters)}
<pre class="curl"><code>${curlLine(operation)}</code></pre>
${success && answerDetails(success)}
<p class="failures">Failures: ${failures.map((failure) => failureLink(failure))}</p>
</section>
`;
}

function methodOf({ method }: DocumentedOperation): Markup {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/** Returns a curl command to paste into a shell. It uses the variables that docs/first-mapping.md sets. */
function curlLine({ method, path, parameters = [], body }: DocumentedOperation): string {
  const request = firstExample(body);
  const place = path.replace(/\{(\w+)\}/g, (_whole, name: string) => shellVariable(parameters, name));
  const words = [
    `curl -sS ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$JETBRIDGE${place}"`,
    '-H "Authorization: Bearer $TRAVEL_API_KEY"',
    ...(request === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellQuote(request)}`]),
  ];
  return words.join(' \\\n  ');
}

/** A response with its example, collapsed. */
function answerDetails({ status, description, example }: Answer): Markup {
  return html`<details><summary><span class="status">${status}</span> ${inlineCode(description)}</summary>
${example !== undefined && html`<pre><code>${JSON.stringify(example, null, 2)}</code></pre>`}</details>`;
}

function failureLink({ status, description }: Answer): Markup {
  return html`<a href="#status-${status}" title="${description}">${status}</a> `;
}

function parametersTable(parameters: JsonObject[]): Markup {
  return html`<table>
<thead><tr><th>Parameter</th><th>In</th><th>Type</th><th>Notes</th></tr></thead>
<tbody>${parameters.map(parameterRow)}</tbody>
</table>`;
}

function parameterRow(parameter: JsonObject): Markup {
  const { name, description } = parameter;
  const schema = asObject(parameter['schema']);
  return html`<tr><td><code>${asString(name)}</code></td><td>${asString(parameter['in'])}</td><td>${typeText(schema)}</td><td>${inlineCode(asString(description) ?? '')} ${joinWithSpaces(schemaNotes(schema))}</td></tr>`;
}

/** `id` becomes `$USER_ID`, so that the reader sees what to fill in, and the shell reports an unset variable. */
function shellVariable(parameters: JsonObject[], name: string): string {
  const { description } = parameters.find((parameter) => parameter['name'] === name) ?? {};
  const what = (asString(description) ?? name).replace(/^The id of the |\.$/g, '');
  return `$${what.replaceAll(' ', '_').toUpperCase()}_ID`;
}

function shellQuote(body: Json): string {
  return `'${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`;
}

/** Describes the requests that webhooks receive, by kind of event; empty if there are no webhooks. */
function deliveriesSection(webhooks: DocumentedOperation[] = []): Markup {
  const [first] = webhooks;
  if (!first) return html``;
  return html`<section id="deliveries-sent">
<h2><a href="#deliveries-sent">What a webhook is sent</a></h2>
<p>A POST of the event, as it can be retrieved. An answer of 200 to 299 says that it has arrived; anything else, or none, is delivered again.</p>
<table>
<thead><tr><th>Header</th><th>Notes</th></tr></thead>
<tbody>${(first.parameters ?? []).map(headerRow)}</tbody>
</table>
${webhooks.map(kindDetails)}
</section>
`;
}

function headerRow({ name, description }: JsonObject): Markup {
  return html`<tr><td><code>${asString(name)}</code></td><td>${asString(description)}.</td></tr>`;
}

function kindDetails({ path: kind, body }: DocumentedOperation): Markup {
  return html`<details><summary><code>${kind}</code></summary>
<pre><code>${JSON.stringify(firstExample(body), null, 2)}</code></pre></details>`;
}

/** The style sheet of the page, with a dark scheme and a layout for narrow screens. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2330; --dim: #5b6472; --line: #dfe3ea; --ground: #fff; --raised: #f5f7fa;
  --link: #0b5cad; --get: #0b6e4f; --post: #0b5cad; --change: #8a5a00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --dim: #9aa4b2; --line: #2c3440; --ground: #12161c; --raised: #1a2029;
    --link: #7fb7f5; --get: #5fcfa3; --post: #7fb7f5; --change: #e3b341; --delete: #ff8f87; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
code, pre, .method, .status { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em; }
nav { padding: 1rem; border-bottom: 1px solid var(--line); background: var(--raised); font-size: .9375rem; }
nav p { margin: 0; }
nav > p { display: inline-block; margin-right: .75rem; }
nav p:first-child { font-weight: 600; }
nav ul { display: none; }
main { padding: 0 1rem 4rem; max-width: 62rem; min-width: 0; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 1.5rem 0 1rem; }
h1 small { color: var(--dim); font-weight: 400; font-size: 1rem; }
h2 { font-size: 1.375rem; margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.0625rem; margin: 0; }
h2 a, h3 a { color: inherit; }
.operation { margin: 2.5rem 0; }
.operation p { margin: .25rem 0 .75rem; }
.call code { overflow-wrap: anywhere; }
.method { font-weight: 600; }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--change); } .delete { color: var(--delete); }
.status { font-weight: 600; }
.failures { color: var(--dim); font-size: .875rem; }
.failures a { margin-right: .5rem; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0;
  overflow-x: auto; line-height: 1.45; }
.curl { user-select: all; }
summary { cursor: pointer; color: var(--dim); margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; margin: .75rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3125rem .75rem .3125rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--dim); font-weight: 500; white-space: nowrap; }
td:not(:last-child) { white-space: nowrap; }
td:last-child { min-width: 14rem; width: 100%; }
.in-1 { padding-left: 1.25rem; } .in-2 { padding-left: 2.5rem; } .in-3 { padding-left: 3.75rem; } .in-4 { padding-left: 5rem; }
.in-5 { padding-left: 6.25rem; }
:target > h2, :target > h3 { text-decoration: underline; text-underline-offset: .25em; }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 20rem 1fr; }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  nav > p { display: block; margin: .75rem 0 .25rem; font-weight: 600; }
  nav ul { display: block; list-style: none; margin: 0; padding: 0; }
  nav li { margin: .125rem 0; line-height: 1.35; padding-left: 3.75rem; text-indent: -3.75rem; }
  nav .method { display: inline-block; width: 3.75rem; text-indent: 0; font-size: .75rem; }
  main { padding: 0 3rem 6rem; }
}
`;

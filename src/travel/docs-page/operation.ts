import type { Json, JsonObject } from '../json.ts';
import { objectIn, type ReadOperation, textIn } from './contract.ts';
import { notesOf, spaced, typeOf } from './fields.ts';
import { html, type Markup, worded } from './markup.ts';

/** One operation: how it is called, with what, and what comes back. */
export function operationSection(operation: ReadOperation): Markup {
  const { id, method, path, summary, description, parameters, answers } = operation;
  const [success, ...failures] = answers;
  return html`<section class="operation" id="${id}">
<h3><a href="#${id}">${summary}</a></h3>
<p class="call"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${description !== undefined && html`<p>${worded(description)}</p>`}
${parameters.length > 0 && parametersTable(parameters)}
<pre class="curl"><code>${curlLine(operation)}</code></pre>
${answerDetails(success)}
<p class="failures">Failures: ${failures.map((failure) => failureWord(failure))}</p>
</section>
`;
}

/** A call that can be pasted into a shell; the variables are those of the README. */
export function curlLine({ method, path, parameters, request }: ReadOperation): string {
  const place = path.replace(/\{(\w+)\}/g, (_whole, name: string) => variableOf(parameters, name));
  const words = [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}"$JETBRIDGE${place}"`,
    '-H "Authorization: Bearer $TRAVEL_API_KEY"',
    ...(request === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(request)}`]),
  ];
  return words.join(' \\\n  ');
}

/** An answer with its example, to be unfolded; nothing where there is none. */
export function answerDetails(answer: ReadOperation['answers'][number] | undefined): Markup {
  if (!answer) return html``;
  const { status, description, example } = answer;
  return html`<details><summary><span class="status">${status}</span> ${worded(description)}</summary>
${example !== undefined && html`<pre><code>${JSON.stringify(example, null, 2)}</code></pre>`}</details>`;
}

function failureWord({ status, description }: ReadOperation['answers'][number]): Markup {
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
  const schema = objectIn(parameter['schema']);
  return html`<tr><td><code>${textIn(name)}</code></td><td>${textIn(parameter['in'])}</td><td>${typeOf(schema)}</td><td>${worded(textIn(description) ?? '')} ${spaced(notesOf(schema))}</td></tr>`;
}

/** `id` becomes `$USER_ID`: what is to be filled in is seen, and the shell says so when it is not. */
function variableOf(parameters: JsonObject[], name: string): string {
  const { description } = parameters.find((parameter) => parameter['name'] === name) ?? {};
  const what = (textIn(description) ?? name).replace(/^The id of the |\.$/g, '');
  return `$${what.replaceAll(' ', '_').toUpperCase()}_ID`;
}

function quoted(body: Json): string {
  return `'${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`;
}

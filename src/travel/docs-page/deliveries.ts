import type { Json, JsonObject } from '../json.ts';
import { exampleIn, membersOf, objectIn, objectsIn, textIn } from './contract.ts';
import { html, type Markup } from './markup.ts';

/** What webhooks are sent, kind by kind; nothing where there are no webhooks. */
export function deliveriesSection({ webhooks }: JsonObject): Markup {
  const kinds = membersOf(webhooks).map(([kind, methods]): [string, JsonObject] => [
    kind,
    objectIn(objectIn(methods)['post']),
  ]);
  const [[, first] = []] = kinds;
  if (!first) return html``;
  return html`<section id="deliveries-sent">
<h2><a href="#deliveries-sent">What a webhook is sent</a></h2>
<p>A POST of the event, as it can be retrieved. An answer of 200 to 299 says that it has arrived; anything else, or none, is delivered again.</p>
<table>
<thead><tr><th>Header</th><th>Notes</th></tr></thead>
<tbody>${objectsIn(first['parameters']).map(headerRow)}</tbody>
</table>
${kinds.map(([kind, delivery]) => kindDetails(kind, exampleIn(objectIn(delivery['requestBody']))))}
</section>
`;
}

function headerRow({ name, description }: JsonObject): Markup {
  return html`<tr><td><code>${textIn(name)}</code></td><td>${textIn(description)}.</td></tr>`;
}

function kindDetails(kind: string, example: Json | undefined): Markup {
  return html`<details><summary><code>${kind}</code></summary>
<pre><code>${JSON.stringify(example, null, 2)}</code></pre></details>`;
}

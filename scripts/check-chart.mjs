// Renders the Helm chart with Go's own template engine and checks the result against the Kubernetes API. Helm itself is
// not needed: the chart uses only what Go's templates know, and the three functions of Helm that are replaced below.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as render } from '@evertdespiegeleer/go-template';
import * as kubernetes from '@kubernetes/client-node/dist/gen/models/all.js';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';

const models = new Map(Object.entries(kubernetes));
const chart = fileURLToPath(new URL('../deploy/helm/jetbridge', import.meta.url));
const templates = join(chart, 'templates');
const read = (file) => readFileSync(file, 'utf8');
const files = readdirSync(templates).filter((file) => file !== '_helpers.tpl');
const defaults = parse(read(join(chart, 'values.yaml')));
const { appVersion } = parse(read(join(chart, 'Chart.yaml')));
const faults = [...valueFaults()];
const validate = new Ajv({ allowUnionTypes: true }).compile(
  JSON.parse(read(join(chart, 'values.schema.json'))),
);
let count = 0;
for (const file of readdirSync(join(chart, 'ci'))) {
  const values = merge(defaults, parse(read(join(chart, 'ci', file))));
  if (!validate(values))
    faults.push(...validate.errors.map(({ instancePath, message }) => `${file}: ${instancePath} ${message}`));
  const resources = [];
  for (const template of files) {
    const where = `${template} with ${file}`;
    try {
      const text = await renderTemplate(template, values);
      if (template.endsWith('.txt')) continue;
      for (const document of parseAllDocuments(text)) {
        for (const { message } of document.errors) faults.push(`${where}: ${message}`);
        const resource = document.toJS();
        if (resource === null) continue;
        count += 1;
        resources.push(resource);
        faults.push(...resourceFaults(resource).map((fault) => `${where}: ${fault}`));
      }
    } catch (error) {
      faults.push(`${where}: ${error.message}`);
    }
  }
  faults.push(...[...hardeningFaults(resources, values)].map((fault) => `${file}: ${fault}`));
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(`Helm chart: ${count} resources rendered, ${faults.length} faults\n`);
// The template engine keeps the process alive.
process.exit(faults.length > 0 ? 1 : 0);

/** Every value that a template reads must have a default, and every default must be read. */
function* valueFaults() {
  const texts = readdirSync(templates).map((file) => read(join(templates, file)));
  const used = new Set(
    texts.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path)),
  );
  for (const path of used) {
    const [first] = path.split('.');
    if (first !== 'secrets' && path.split('.').reduce((at, name) => at?.[name], defaults) === undefined)
      yield `.Values.${path} has no default in values.yaml`;
  }
  for (const [name, value] of Object.entries(defaults)) {
    const isGroup = value && typeof value === 'object' && !Array.isArray(value) && ![...used].includes(name);
    for (const path of isGroup ? Object.keys(value).map((key) => `${name}.${key}`) : [name])
      if (!used.has(path)) yield `values.yaml: no template reads ${path}`;
  }
}

/** Checks that the replicas can reach and be reached by what they need alone, fill no disk, and are of the image that was checked. */
function* hardeningFaults(resources, { image, networkPolicy }) {
  const ofKind = (kind) => resources.find((resource) => resource.kind === kind)?.spec;
  const [deployment, policy] = [ofKind('Deployment'), ofKind('NetworkPolicy')];
  if (!policy || !deployment) {
    yield 'there is no Deployment, or no NetworkPolicy';
    return;
  }
  if (JSON.stringify(policy.podSelector) !== JSON.stringify(deployment.selector))
    yield 'the NetworkPolicy selects other pods than the Deployment';
  if (policy.policyTypes.join() !== 'Ingress,Egress') yield 'the NetworkPolicy limits one direction only';
  for (const rule of [...policy.ingress, ...policy.egress])
    if (!rule.ports?.length) yield 'a rule of the NetworkPolicy allows every port';
  const ports = policy.egress.flatMap((rule) => rule.ports.map(({ port }) => port));
  for (const port of [53, 443, networkPolicy.databasePort])
    if (!ports.includes(port)) yield `the NetworkPolicy does not allow port ${port}`;
  const { containers, volumes } = deployment.template.spec;
  for (const { name, emptyDir } of volumes)
    if (emptyDir && !emptyDir.sizeLimit) yield `the volume ${name} has no sizeLimit`;
  const version = image.digest ? `@${image.digest}` : `:${image.tag || appVersion}`;
  for (const one of containers)
    if (one.image !== `${image.repository}${version}`)
      yield `the image is ${one.image}, not that of the values`;
}

async function renderTemplate(name, values) {
  const text = `${read(join(templates, '_helpers.tpl'))}${read(join(templates, name))}`;
  const { version: Version, appVersion: AppVersion, name: Name } = parse(read(join(chart, 'Chart.yaml')));
  const rendered = await render(withoutHelm(text), {
    Values: values,
    Chart: { Name, Version, AppVersion },
    Release: { Name: 'bridge', Namespace: 'travel', Service: 'Helm' },
  });
  return resolveMarks(rendered);
}

/**
 * Replaces the functions of Helm. What they would return is computed after the rendering: `printf` marks their arguments, in
 * Go's own syntax. A missing value is an error here anyway, so `required` is left out.
 */
function withoutHelm(text) {
  const argument = '(\\([^()]*(?:\\([^()]*\\))?[^()]*\\)|[$.][\\w.$]*)';
  const calls = [
    [new RegExp(`required "[^"]*" ${argument}`, 'g'), 'print $1'],
    [new RegExp(`toJson ${argument}`, 'g'), 'printf "\\ue000%#v\\ue001" $1'],
    [new RegExp(`sha256sum ${argument}`, 'g'), 'printf "\\ue002%s\\ue003" $1'],
  ];
  let before = '';
  let after = text;
  while (before !== after) {
    before = after;
    after = calls.reduce((all, [pattern, call]) => all.replace(pattern, call), after);
  }
  return after;
}

function resolveMarks(text) {
  return text
    .replace(/\ue000([^\ue000\ue001]*)\ue001/g, (_, value) => JSON.stringify(fromGo(value)))
    .replace(/\ue002([^\ue002\ue003]*)\ue003/g, (_, value) =>
      createHash('sha256').update(value).digest('hex'),
    );
}

/** Parses a value as Go prints it with %#v. */
function fromGo(text) {
  const tokens = text.match(
    /"(?:[^"\\]|\\.)*"|map\[string\]interface \{\}\{|\[\]interface \{\}\{|interface \{\}\(nil\)|<nil>|[{}:,]|[^\s{}:,"]+/g,
  );
  const next = () => {
    const token = tokens.shift();
    if (token.startsWith('map[')) return Object.fromEntries(items(entry));
    if (token.startsWith('[]')) return items(next);
    if (token.startsWith('interface') || token === '<nil>') return null;
    // A string may contain the marks of an inner call, which are escaped in it.
    if (token.startsWith('"')) return resolveMarks(JSON.parse(token));
    return JSON.parse(token);
  };
  const entry = () => {
    const key = next();
    tokens.shift();
    return [key, next()];
  };
  const items = (item) => {
    const all = [];
    while (tokens[0] !== '}') {
      if (tokens[0] === ',') tokens.shift();
      all.push(item());
    }
    tokens.shift();
    return all;
  };
  return next();
}

/** Checks the names and types of all fields. The client's models know no required fields. */
function resourceFaults({ apiVersion, kind, ...resource }) {
  // The Prometheus operator defines this kind.
  if (kind === 'ServiceMonitor') return [];
  const [version] = apiVersion.split('/').reverse();
  const model = `${version[0].toUpperCase()}${version.slice(1)}${kind}`;
  return models.has(model)
    ? [...fieldFaults(resource, model, kind)]
    : [`there is no ${kind} in ${apiVersion}`];
}

function* fieldFaults(value, type, path) {
  const list = /^Array<(.+)>$/.exec(type)?.[1];
  const entry = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
  if (list) {
    if (!Array.isArray(value)) yield `${path} is no list`;
    else for (const [index, item] of value.entries()) yield* fieldFaults(item, list, `${path}[${index}]`);
  } else if (entry) {
    if (!isObject) yield `${path} is no object`;
    else for (const [key, item] of Object.entries(value)) yield* fieldFaults(item, entry, `${path}.${key}`);
  } else if (models.get(type)?.getAttributeTypeMap) {
    const fields = models.get(type).getAttributeTypeMap();
    if (!isObject) yield `${path} is no object`;
    else
      for (const [key, item] of Object.entries(value)) {
        const field = fields.find(({ baseName }) => baseName === key);
        if (!field) yield `${path} has no field ${key}`;
        else yield* fieldFaults(item, field.type, `${path}.${key}`);
      }
  } else if (['string', 'number', 'boolean'].includes(type) && typeof value !== type)
    yield `${path} is no ${type}`;
}

/** Merges like Helm: objects by name, everything else as a whole. */
function merge(target, patch) {
  if (!patch || typeof patch !== 'object' || Array.isArray(patch) || !target || typeof target !== 'object')
    return patch;
  const names = new Set([...Object.keys(target), ...Object.keys(patch)]);
  return Object.fromEntries(
    [...names].map((name) => [name, name in patch ? merge(target[name], patch[name]) : target[name]]),
  );
}

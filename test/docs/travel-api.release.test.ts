import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../fixtures/free-port.ts';
import { readDocument } from '../fixtures/markdown.ts';
import { openApi } from '../travel/contract.ts';
import { playFullYear } from '../travel/specification/company.ts';
import { webhookFixture } from '../travel/webhooks/fixture.ts';
import { documentsBelow, home } from './documents.ts';

const hooks = webhookFixture();
const chapters = documentsBelow('docs/travel-api');
const programs = chapters.flatMap((file) =>
  [...readDocument(file).matchAll(/^```(ts|python|sh)\n(.+?)^```$/gms)].map(
    ([, language = '', text = '']) => ({
      ...{ chapter: basename(file, '.md'), language, text },
    }),
  ),
);
let workplace: string;
let close = () => {};
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  workplace = mkdtempSync(join(tmpdir(), 'chapters-'));
  const { app, key } = hooks.fixture;
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = { ...process.env, NODE_OPTIONS: '', JETBRIDGE: url, TRAVEL_API_KEY: key };
  await hooks.fixture.make('/users', { email: 'grace@example.com' });
  await hooks.fixture.make('/cost-centers', { name: 'Sales' });
  close = () => {
    server.closeAllConnections();
    server.close();
    rmSync(workplace, { recursive: true });
  };
});
afterEach(() => close());

const forEach = (name: string) => programs.filter(({ chapter }) => chapter === name);

test('each chapter is in the description of the API, and has code', () => {
  const names = chapters.map((file) => basename(file, '.md'));
  const { description } = openApi['info'] as { description: string };
  const linked = [...description.matchAll(/\(\.\.\/docs\/travel-api\/(\w+)\)/g)].map(([, name]) => name);
  expect(linked.toSorted()).toEqual(names);
  for (const name of names) expect([name, forEach(name).length > 0]).toEqual([name, true]);
});

test.each<[string, RegExp]>([
  ['keys', /admin/],
  ['paging', /grace@example\.com/],
  ['errors', /^422 validationFailed "email" must be a valid email address\.$/],
  ['retries', /^201$/],
  ['idempotency', /^(200|\{"data":\{"id":"[0-9a-f]{24}","type":"costCenter".*)$/],
])('the code of the chapter on %s does what it says', async (name, output) => {
  for (const program of forEach(name)) {
    const said = await run(program);
    expect([program.language, output.test(said.trim()), said]).toEqual([program.language, true, said]);
  }
  if (name === 'idempotency')
    for (const program of forEach(name).filter(({ language }) => language === 'sh')) {
      const total = async () => (await hooks.fixture.send('get', '/cost-centers')).body.meta.total;
      const before = await total();
      await run(program);
      expect(await total()).toBe(before);
    }
});

test('the code of the chapter on webhooks knows genuine requests from forged ones', async () => {
  const { fixture } = hooks;
  fixture.setWallClock(Date.now() - fixture.runtime.now());
  const [create, ...verifiers] = forEach('webhooks');
  expect(JSON.parse(await run(create)).data.secret).toMatch(/^whsec_/);
  const receiver = await hooks.openReceiver();
  const { id, secret } = await hooks.createWebhook({ url: receiver.url, description: 'Café' });
  await fixture.send('post', `/webhooks/${id}/secret`);
  await fixture.send('post', `/webhooks/${id}/test?kind=invoice.created`);
  const { headers = {}, body = '' } = receiver.received[0] ?? {};
  expect(body).toContain('"kind":"invoice.created"');
  const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) };
  const other = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const cases = [
    { headers, body, secret, isGenuine: true },
    { headers, body: `${body} `, secret, isGenuine: false },
    { headers, body, secret: other, isGenuine: false },
    { headers: old, body, secret, isGenuine: false },
  ];
  for (const { language, text } of verifiers)
    for (const { isGenuine, ...request } of cases) {
      const said = await run({ language, text: `${text}${calls[language] ?? ''}` }, toVariables(request));
      expect([language, said.trim().toLowerCase()]).toEqual([
        language,
        language === 'sh' ? (isGenuine ? 'genuine' : 'forged') : String(isGenuine),
      ]);
    }
  expect(verifiers.map(({ language }) => language)).toEqual(['ts', 'python', 'sh']);
});

test('the whole integration takes cost centers from a file, tells of new invoices, and finds that the invoices of a year agree', async () => {
  const { fixture } = hooks;
  await playFullYear(fixture);
  fixture.setWallClock(Date.now() - fixture.runtime.now());
  const [program] = forEach('integration');
  writeFileSync(join(workplace, 'centers.csv'), 'name\nResearch\nNorth & South\n');
  expect(await run(program, {}, 'sync', 'centers.csv')).toBe('2 cost centers, 1 of them new\n');
  expect(await run(program, {}, 'sync', 'centers.csv')).toBe('2 cost centers, 0 of them new\n');
  const { data: centers } = (await fixture.send('get', '/cost-centers?archived=false')).body;
  expect(centers.map(({ name }: { name: string }) => name).toSorted()).toEqual(['North & South', 'Research']);

  const { data: invoices } = (await fixture.send('get', '/invoices?limit=100')).body;
  const months = new Set(invoices.map(({ createdAt }: { createdAt: string }) => createdAt.slice(0, 7)));
  expect(invoices.length).toBeGreaterThan(1);
  let lines: string[] = [];
  for (const month of months)
    lines = [...lines, ...(await run(program, {}, 'reconcile', String(month))).trim().split('\n')];
  expect(lines).toHaveLength(invoices.length);
  for (const line of lines) expect(line).toMatch(/ (open|paid|uncollectible|void) agrees$/);

  const port = await freePort();
  const created = await hooks.createWebhook({ url: `http://127.0.0.1:${port}`, events: ['invoice.created'] });
  const variables = { ...env, WEBHOOK_SECRET: created.secret };
  const listener = spawn(process.execPath, ['program.js', 'listen', String(port)], {
    cwd: workplace,
    env: variables,
  });
  let said = '';
  listener.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(listener.stdout, 'data');
  const test = `/webhooks/${created.id}/test?kind=invoice.created`;
  expect((await fixture.send('post', test)).body.data.status).toBe(204);
  const forged = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' });
  listener.kill();
  expect([forged.status, said]).toEqual([401, 'listening\ninvoice INV-D8E912: 220 EUR\n']);
});

/** What calls the function of a chapter. */
const calls: Record<string, string> = {
  ts: '\nconst { HEADERS = "", BODY = "", SECRET = "" } = process.env;\nconsole.log(isGenuine(JSON.parse(HEADERS), BODY, SECRET));\n',
  python:
    '\nimport json, os\nprint(is_genuine(json.loads(os.environ["HEADERS"]), os.environ["BODY"], os.environ["SECRET"]))\n',
};

function toVariables({ headers, body, secret }: { headers: object; body: string; secret: string }) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = Object(headers);
  return {
    ...{ HEADERS: JSON.stringify(headers), BODY: body, SECRET: secret },
    ...{ WEBHOOK_ID: id, WEBHOOK_TIMESTAMP: time, WEBHOOK_SIGNATURE: signature },
  };
}

/** Runs a program of a chapter; one in TypeScript is compiled with every check first. Returns what it prints. */
async function run(
  program: { language: string; text: string } | undefined,
  variables: NodeJS.ProcessEnv = {},
  ...inputs: string[]
): Promise<string> {
  const { language = '', text = '' } = program ?? {};
  const file = join(workplace, `program.${language}`);
  writeFileSync(file, language === 'ts' ? `${text}\nexport {};\n` : text);
  const start = async (command: string, ...parameters: string[]) =>
    (
      await promisify(execFile)(command, parameters, { cwd: workplace, env: { ...env, ...variables } }).catch(
        (error) => {
          throw new Error(`${error.message}\n${error.stdout}`);
        },
      )
    ).stdout;
  if (language === 'python') return start('python3', file);
  if (language === 'sh') return start('bash', '-eu', file);
  writeFileSync(join(workplace, 'package.json'), '{"type":"module"}');
  const types = join(home, 'node_modules/@types');
  const options = [
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--typeRoots',
    types,
  ];
  await start(join(home, 'node_modules/.bin/tsc'), ...options, file);
  return start(process.execPath, file.replace(/ts$/, 'js'), ...inputs);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readSettings } from '../../src/config/settings.ts';

const home = join(__dirname, '..', '..');
const text = (name: string) => readFileSync(join(home, name), 'utf8');
const linesOf = (name: string) =>
  text(name)
    .split('\n')
    .map((line) => line.trim());

describe('compose.yaml', () => {
  const lines = linesOf('compose.yaml');

  it('runs the container read-only, without capabilities, and without privilege escalation', () => {
    for (const line of ['read_only: true', 'cap_drop: [ALL]', 'security_opt: ["no-new-privileges:true"]'])
      expect(lines).toContain(line);
    expect(text('compose.yaml')).not.toMatch(/cap_add|privileged:/);
  });

  it('makes only the data folder and a temporary folder writable', () => {
    const { services } = parse(text('compose.yaml'));
    expect(services.jetbridge.volumes).toEqual(['data:/data', './config:/config:ro']);
    expect(lines).toContain('tmpfs: [/tmp]');
    expect(text('Dockerfile')).toMatch(/^ENV .*JETBRIDGE_DATA=\/data$/m);
  });

  it('reads the settings of the mounted folder, which has a settings file without a fault', () => {
    const { environment } = parse(text('compose.yaml')).services.jetbridge;
    expect(environment.JETBRIDGE_CONFIG).toBe('/config/jetbridge.json');
    const file = join(home, environment.JETBRIDGE_CONFIG);
    expect(readSettings({ JETBRIDGE_CONFIG: file }, home).connections.map(({ id }) => id)).toEqual([
      'default',
    ]);
  });

  it('starts again after a crash and after a restart of the machine', () => {
    expect(parse(text('compose.yaml')).services.jetbridge.restart).toBe('unless-stopped');
    const { jetbridge, postgres } = parse(text('deploy/compose.replicas.yaml')).services;
    expect([jetbridge.restart, postgres.restart]).toEqual(['unless-stopped', 'unless-stopped']);
  });

  it('passes on the variables for a change of the key and for a travel API by plain HTTP', () => {
    for (const name of ['JETBRIDGE_KEY', 'JETBRIDGE_KEY_PREVIOUS', 'TRAVEL_API_INSECURE'])
      expect(lines.some((line) => line.startsWith(`${name}: \${${name}:-`))).toBe(true);
  });
});

describe('Helm chart', () => {
  it('trusts no proxy unless it is told which', () => {
    expect(parse(text('deploy/helm/jetbridge/values.yaml')).trustedProxies).toBe('');
  });
});

describe('Dockerfile', () => {
  it('uses one argument for the base image of all stages, with the same default as compose.yaml', () => {
    const lines = linesOf('Dockerfile');
    const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(text('Dockerfile')) ?? [];
    expect(image).toMatch(/^node:\d+-/);
    const stages = lines.filter((line) => line.startsWith('FROM '));
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).toMatch(/^FROM \$\{NODE_IMAGE\}( AS \w+)?$/);
    // FROM sees only arguments that are declared before the first stage.
    expect(lines.indexOf(`ARG NODE_IMAGE=${image}`)).toBeLessThan(lines.indexOf(stages[0] ?? ''));
    expect(text('compose.yaml')).toContain(`NODE_IMAGE: \${NODE_IMAGE:-${image}}`);
  });

  it('runs as a user who is not root', () => {
    expect(linesOf('Dockerfile')).toContain('USER node');
  });

  it('runs the program of the packed npm package', () => {
    const { bin } = JSON.parse(text('package.json'));
    expect(text('Dockerfile')).toContain('npm pack');
    expect(text('Dockerfile')).toContain(`ln -s /app/${bin.jetbridge} /usr/local/bin/jetbridge`);
    expect(text('Dockerfile')).toMatch(/^CMD \["jetbridge", "serve"\]\n$/m);
    // The build can copy a file only if .dockerignore does not exclude it.
    const ignored = linesOf('.dockerignore').filter((line) => line !== '');
    for (const path of ['src', 'scripts', 'config', 'demo', 'docs', 'CHANGELOG.md', 'LICENSE'])
      expect(ignored).not.toContain(path);
  });
});

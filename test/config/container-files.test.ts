import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const text = (name: string) => readFileSync(join(__dirname, '..', '..', name), 'utf8');
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
    expect(lines).toContain('volumes: ["data:/data"]');
    expect(lines).toContain('tmpfs: [/tmp]');
    expect(text('Dockerfile')).toMatch(/^ENV .*JETBRIDGE_DATA=\/data$/m);
  });

  it('passes on the variables for a change of the key and for a travel API by plain HTTP', () => {
    for (const name of ['JETBRIDGE_KEY', 'JETBRIDGE_KEY_PREVIOUS', 'TRAVEL_API_INSECURE'])
      expect(lines.some((line) => line.startsWith(`${name}: \${${name}:-`))).toBe(true);
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
});

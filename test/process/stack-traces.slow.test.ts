import { join } from 'node:path';
import { mappingThread } from '../../src/admin/mapping-thread/thread.ts';
import type { StoredReads } from '../../src/operations/mappings/mapping-tasks.ts';
import { home, runJetbridge } from '../fixtures/jetbridge.ts';

it('the stack trace of an unexpected error names the sources and their lines, and the files of packages', async () => {
  const fault = "data:text/javascript,process.stdout.write=()=>{throw(Error('planted'))}";
  const ran = await runJetbridge(['--version'], { NODE_OPTIONS: `--import=${fault}` });
  expect(ran.err).toContain('Error: planted');
  expect(ran.err).toMatch(/at \S+\.print \(\/.*\/src\/cli\/terminal\/terminal\.ts:\d+:\d+\)/);
  expect(ran.err).toMatch(/\/node_modules\/commander\/lib\/command\.js:\d+:\d+\)/);
  expect(ran.err).not.toContain('/dist/');
});

it('the stack trace of an error in the thread of the mappings names the sources', async () => {
  const program = join(home, 'dist/admin/mapping-thread/worker.js');
  const thread = mappingThread({ program, wait: () => new Promise(() => {}) });
  const context = { caller: 'a test', reads: {} as StoredReads, signal: new AbortController().signal };
  const inForce = Object.create(null); // A task without what it needs.
  const task = { text: '{}', connection: inForce, inForce, identity: inForce, groups: undefined };
  const failed = thread.run('previewPerson', task, context).catch((error) => error.stack);
  expect(await failed).toMatch(/\/src\/operations\/mappings\/mapping-tasks\.ts:\d+:\d+\)/);
  await thread.close();
});

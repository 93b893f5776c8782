import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { kill } from '../fixtures/process.ts';
import { startServer } from '../fixtures/server-process.ts';

/** Returns a port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a changed ADMIN_PASSWORD is in force before the port opens', async () => {
  const data = createDataFolder('jetbridge-admin-password-');
  const environment = { JETBRIDGE_DATA: data, PORT: String(await freePort()) };
  const signIn = (password: string) =>
    fetch(`http://127.0.0.1:${environment.PORT}/admin/api/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'admin', password }),
    });
  const first = await startServer({ ...environment, ADMIN_PASSWORD: 'correct-horse-one' });
  expect((await signIn('correct-horse-one')).status).toBe(200);
  await kill(first);
  const starting = startServer({ ...environment, ADMIN_PASSWORD: 'correct-horse-two' });
  // Asks until the port opens.
  const earliest = await eventually(() => signIn('correct-horse-one'));
  expect(earliest.status).toBe(401);
  const second = await starting;
  expect((await signIn('correct-horse-two')).status).toBe(200);
  await kill(second);
  rmSync(data, { recursive: true });
});

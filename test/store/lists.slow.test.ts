import { rmSync } from 'node:fs';
import { type Database, openEmbedded } from '../../src/store/database.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { describeLists } from './conformance/lists.ts';

let closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function open(): Promise<Database> {
  const directory = createDataFolder('jetbridge-lists-');
  const database = await openEmbedded(directory, true);
  closing = [() => rmSync(directory, { recursive: true }), () => database.close()];
  return database;
}

describe('the embedded database', () => describeLists(open));

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './jetbridge.ts';

/** A settings file of one's own; its connections have the mapping that comes along. */
export function settingsFile(
  settings: object,
  connections: Record<string, object> = { default: {} },
): { path: string; remove(): void } {
  const place = folder();
  const path = join(place.path, 'jetbridge.json');
  const mapping = join(__dirname, '..', '..', 'config', 'mappings', 'default.json');
  const mapped = Object.entries(connections).map(([id, connection]) => [id, { mapping, ...connection }]);
  writeFileSync(path, JSON.stringify({ ...settings, connections: Object.fromEntries(mapped) }));
  return { path, remove: place.remove };
}

import { withRecorder } from '../../src/travel/changes.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import type { Resource } from '../../src/travel/resource.ts';
import type { Fixture } from '../fixtures/travel.ts';

/** Changes a stored resource without validation, as an older version may have left it. */
export async function changePastRules(
  { runtime }: Fixture,
  { resource, id, changes }: { resource: Resource; id: string; changes: JsonObject },
): Promise<void> {
  const onChange = () => undefined;
  await withRecorder({ ...runtime, onChange }, [resource.type], async (recorder) => {
    const [stored] = await recorder.transaction.read([{ type: resource.type, id }]);
    if (!stored) throw new Error(`there is no ${resource.type} ${id}`);
    await recorder.replace(resource, stored, { ...stored.doc, ...changes });
  });
}

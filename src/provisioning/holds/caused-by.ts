import type { Holds } from '../../store/queues/holds.ts';
import type { RulesStore } from '../../store/queues/rules-in-force.ts';
import { noLookups } from '../../translator/translation.ts';
import type { HoldCause } from '../identity.ts';
import { describeCauses } from '../rules/rules-cause.ts';

interface CauseDeps {
  holds: Pick<Holds, 'findHeldRules'>;
  rules: Pick<RulesStore, 'listMappings'>;
}

/** Says by name whose change is held. Lost entries of lookups are named once the effect of the change is being computed. */
export async function causedBy(
  { connection, cause }: { connection: string; cause: HoldCause },
  { holds, rules }: CauseDeps,
): Promise<string> {
  if (cause !== 'rules') return `the identity provider of connection ${connection}`;
  const { generation = 0, effect } = (await holds.findHeldRules(connection)) ?? {};
  if (effect && effect.causes.length > 0) return effect.causes.join('; ');
  const versions = await rules.listMappings(connection, 1);
  return describeCauses({ followed: undefined, generation, lookups: noLookups, versions }).join('; ');
}

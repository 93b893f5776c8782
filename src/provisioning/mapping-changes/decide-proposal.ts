import type { Connection } from '../../model/connection.ts';
import type { ProposedRules } from '../../store/queues/proposed-rules.ts';
import type { RulesInForce } from '../../store/queues/rules-in-force.ts';
import { EDITION } from '../../translator/rules/rules.ts';
import { mappingOf } from '../rules/mapping-versions.ts';
import {
  acceptedRules,
  acceptRules,
  areInForceAtOnce,
  MAX_PEOPLE,
  type ProposalDeps,
} from '../rules/proposed-rules.ts';
import { compileSnapshot, isUsable, toRulesSnapshot } from '../rules/rules-snapshot.ts';
import { type EffectDeps, previewChange } from './preview-mapping.ts';

/** The time for which counting may continue after it was asked to stop, in milliseconds. */
const GRACE_MS = 1_000;

export type DecisionDeps = ProposalDeps & EffectDeps;

/** True if rules with this effect wait for an admin. */
export function needsAdmin({ affected }: { affected: number }): boolean {
  return affected > MAX_PEOPLE;
}

/**
 * Counts the people for whom proposed rules would change values, and puts the rules in force if they are few; otherwise they wait for an admin.
 * Until then everybody follows the rules in force. `stopped`: the signal was aborted before everybody was looked at.
 */
export async function decideProposal(
  deps: DecisionDeps,
  connection: Connection,
  signal?: AbortSignal,
): Promise<'inForce' | 'waits' | 'none' | 'stopped'> {
  const { rules } = deps;
  for (;;) {
    const { proposed } = await rules.findProposals(connection.id);
    const inForce = await rules.find(connection.id);
    // Replicas of another edition of the code would count otherwise.
    if (!proposed || !inForce || proposed.edition !== EDITION || !isUsable(inForce)) return 'none';
    if (!(await areInForceAtOnce(deps, connection.id))) {
      if (proposed.people !== undefined) return 'waits';
      const people = await countAffected(deps, { connection, inForce, proposed }, signal);
      if (people === undefined) return 'stopped';
      if (people > MAX_PEOPLE) {
        if (await rules.letWait(connection.id, proposed, people)) return 'waits';
        continue;
      }
    }
    if (await acceptRules(deps, connection.id, proposed)) return 'inForce';
  }
}

interface Counted {
  connection: Connection;
  inForce: RulesInForce;
  proposed: ProposedRules;
}

/** Counting ends as soon as it is known that an admin must decide. */
async function countAffected(
  deps: EffectDeps,
  { connection, inForce, proposed }: Counted,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const [from, next] = [compileSnapshot(inForce), acceptedRules(inForce, proposed)];
  const mapping = next && mappingOf(next);
  // Without lookups nobody was ever translated.
  if (!from || !mapping || !next.lookups) return 0;
  const to = { ...toRulesSnapshot({ mapping }, next.lookups), putBackSince: next.putBackSince };
  const begun = deps.runtime.now();
  const isStopped = () => signal?.aborted === true && deps.runtime.now() - begun > GRACE_MS;
  const isOver = ({ affected }: { affected: number }) => affected > MAX_PEOPLE || isStopped();
  const effect = await previewChange(deps, { connection, from, to }, { examples: 0, isOver });
  return effect.isCut && effect.affected <= MAX_PEOPLE ? undefined : effect.affected;
}

import { Text } from '@mantine/core';
import type { HoldEffects, HoldGroup, ListedHeldPerson } from '../../../../operations/holds/holds.ts';
import { consequenceText, type HoldAnswer, outcomeText } from '../../../../provisioning/holds/hold-texts.ts';
import { Confirm } from '../../components/dialogs.tsx';
import { countText } from '../../components/texts.ts';
import { call } from '../../requests/api.ts';
import type { Outcome } from './progress.tsx';

/** A decision that the admin is asked to confirm: about the whole group, or about some of its people. */
export interface PlannedDecision {
  answer: HoldAnswer;
  group: HoldGroup;
  people?: ListedHeldPerson[];
}

interface ConfirmDecisionProps {
  planned: PlannedDecision;
  onClose: () => void;
  onDecided: (outcome: Outcome) => void;
}

/** States the consequence of a decision in numbers, and carries it out when the admin confirms it. */
export function ConfirmDecision({ planned, onClose, onDecided }: ConfirmDecisionProps) {
  const { answer, group, people } = planned;
  const who = countText(people?.length ?? group.people, 'person', 'people');
  const action = `${answer === 'approved' ? 'Approve' : 'Discard'} for ${who}`;
  return (
    <Confirm
      title={`${action}?`}
      action={action}
      change={() => call('decideHolds', toRequest(planned))}
      isDestructive={answer === 'approved'}
      onClose={onClose}
      onDone={(result) =>
        onDecided({
          ...{ text: outcomeText(answer, result), connection: group.connection },
          decision: result.decision,
        })
      }
    >
      <Text size="md">{consequenceText(answer, factsOf(planned))}</Text>
      <Text c="dimmed">
        {answer === 'approved'
          ? `The change comes from ${group.causedBy}.`
          : `After a discard, ${group.ifDiscarded}.`}
      </Text>
    </Confirm>
  );
}

function toRequest({ answer, group, people }: PlannedDecision) {
  const { connection, cause, people: count } = group;
  const about = people ? { people: people.map(({ id, version }) => ({ id, version })) } : { count };
  return { connection, cause, answer, ...about };
}

function factsOf({ group, people }: PlannedDecision) {
  if (!people) return { effects: group.effects };
  return { effects: effectsOf(people), others: group.people - people.length };
}

function effectsOf(people: ListedHeldPerson[]): HoldEffects {
  const effects = { archived: 0, deleted: 0, changed: 0 };
  for (const { effect } of people) effects[effect] += 1;
  return effects;
}

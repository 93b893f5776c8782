import { Text } from '@mantine/core';
import type { HeldPerson, HoldEffects, HoldGroup } from '../../../contract/holds.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { countText } from '../../components/texts.ts';
import { type Answer, consequenceText, outcomeText, peopleText } from './texts.ts';

/** A decision that the admin is asked to confirm: about the whole group, or about some of its people. */
export interface PlannedDecision {
  answer: Answer;
  group: HoldGroup;
  people?: HeldPerson[];
}

/** States the consequence of a decision in numbers, and carries it out when the admin confirms it. */
export function ConfirmDecision({
  planned,
  onClose,
  onDecided,
}: {
  planned: PlannedDecision;
  onClose: () => void;
  onDecided: (text: string) => void;
}) {
  const { answer, group, people } = planned;
  const who = people ? countText(people.length, 'person', 'people') : peopleText(group);
  const action = `${answer === 'approved' ? 'Approve' : 'Discard'} for ${who}`;
  return (
    <Confirm
      title={`${action}?`}
      action={action}
      change={() => call('decideHolds', toRequest(planned))}
      refreshes={['listHolds', 'listHeldPeople']}
      isDestructive={answer === 'approved'}
      onClose={onClose}
      onDone={(result) => onDecided(outcomeText(answer, result))}
    >
      <Text>{consequenceText(answer, factsOf(planned))}</Text>
      <Text size="sm" c="dimmed">
        {answer === 'approved'
          ? `The change comes from ${group.causedBy}.`
          : `After a discard, ${group.ifDiscarded}.`}
      </Text>
    </Confirm>
  );
}

function toRequest({ answer, group, people }: PlannedDecision) {
  const { connection, cause, people: count, generation } = group;
  const about = people
    ? { people: people.map(({ id, version }) => ({ id, version })) }
    : { count, ...(generation === undefined ? {} : { generation }) };
  return { connection, cause, answer, ...about };
}

function factsOf({ group, people }: PlannedDecision) {
  if (!people) return { effects: group.effects, isMore: group.isMore };
  return { effects: effectsOf(people), others: group.isMore ? 0 : group.people - people.length };
}

function effectsOf(people: HeldPerson[]): HoldEffects {
  const effects = { archived: 0, deleted: 0, changed: 0 };
  for (const { effect } of people) effects[effect] += 1;
  return effects;
}

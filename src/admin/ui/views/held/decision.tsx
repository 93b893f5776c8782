import { Text } from '@mantine/core';
import type { HeldPerson, HoldEffects, HoldGroup } from '../../../contract/holds.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { countText } from '../../components/texts.ts';
import { ChangeEffect } from './effect.tsx';
import type { Outcome } from './progress.tsx';
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
  fourEyes,
  onClose,
  onDecided,
}: {
  planned: PlannedDecision;
  /** True if an approval needs two admins. */
  fourEyes: boolean;
  onClose: () => void;
  onDecided: (outcome: Outcome) => void;
}) {
  const { answer, group, people } = planned;
  const who = people ? countText(people.length, 'person', 'people') : peopleText(group);
  const action = `${answer === 'approved' ? 'Approve' : 'Discard'} for ${who}`;
  return (
    <Confirm
      title={`${action}?`}
      action={action}
      change={() => call('decideHolds', toRequest(planned))}
      refreshes={['listHolds', 'listHeldPeople', 'readDecision']}
      isDestructive={answer === 'approved'}
      onClose={onClose}
      onDone={(result) =>
        onDecided({
          ...{ text: outcomeText(answer, result), connection: group.connection },
          decision: result.decision,
        })
      }
    >
      <Text>{consequenceText(answer, factsOf(planned))}</Text>
      {group.effect && <ChangeEffect effect={group.effect} connection={group.connection} />}
      {fourEyes && answer === 'approved' && (
        <Text>
          This needs the approval of two admins, and is carried out with the second one.{' '}
          {group.approvals.map(({ by, people: count }) => (
            <span key={by}>
              {by} has approved it for {countText(count, 'person', 'people')}.{' '}
            </span>
          ))}
        </Text>
      )}
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

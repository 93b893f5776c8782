import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { HeldPerson, HoldEffects, HoldGroup } from '../../api-client.ts';
import { api, call, queryClient } from '../../session.ts';
import { holdsKey } from './query.ts';
import { type Answer, consequenceText, countText, outcomeText, peopleText } from './texts.ts';

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
  const decision = useMutation({
    mutationFn: () => call(api.holds.decideHolds(toRequest(planned))),
    onSuccess: (result) => onDecided(outcomeText(answer, result)),
    // Also after a refusal: the list may be out of date.
    onSettled: () => queryClient.invalidateQueries({ queryKey: holdsKey }),
  });
  const who = people ? countText(people.length, 'person', 'people') : peopleText(group);
  const verb = answer === 'approved' ? 'Approve' : 'Discard';
  return (
    <Modal opened onClose={onClose} title={`${verb} for ${who}`}>
      <Stack>
        <Text>{consequenceText(answer, factsOf(planned))}</Text>
        <Text size="sm" c="dimmed">
          {answer === 'approved'
            ? `The change comes from ${group.causedBy}.`
            : `After a discard, ${group.ifDiscarded}.`}
        </Text>
        {decision.error && (
          <Alert color="red" role="alert" title="Nothing was decided">
            {decision.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            color={answer === 'approved' ? 'red' : undefined}
            loading={decision.isPending}
            disabled={decision.isError}
            onClick={() => decision.mutate()}
            data-autofocus
          >
            {verb} for {who}
          </Button>
        </Group>
      </Stack>
    </Modal>
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

import { Anchor, Collapse, List, Text } from '@mantine/core';
import { useState } from 'react';
import type { HoldEffects, HoldGroup, ListedHeldPerson, RulesEffect } from '../../../../operations/holds.ts';
import {
  consequenceText,
  groupText,
  type HoldAnswer,
  outcomeText,
  valuesText,
} from '../../../../provisioning/holds/hold-texts.ts';
import { fieldLabel, valueText } from '../../../../provisioning/rules/value-texts.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/dialogs.tsx';
import { Rows } from '../../components/rows.tsx';
import { personHref, ViewLink } from '../../components/text.tsx';
import { countText } from '../../components/texts.ts';
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
  const who = people ? countText(people.length, 'person', 'people') : groupText(group);
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
      {group.effect && <ChangeEffect effect={group.effect} connection={group.connection} />}
      <Text c="dimmed">
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

function effectsOf(people: ListedHeldPerson[]): HoldEffects {
  const effects = { archived: 0, deleted: 0, changed: 0 };
  for (const { effect } of people) effects[effect] += 1;
  return effects;
}

/** The effect of a held change of rules: its fields with the most frequent values, and examples on demand. */
export function ChangeEffect({ effect, connection }: { effect: RulesEffect; connection: string }) {
  const [isOpen, setOpen] = useState(false);
  const { fields, names, looked, isComplete, examples } = effect;
  return (
    <div aria-live="polite">
      <List size="sm" mt={4}>
        {fields.map((field) => (
          <List.Item key={field.field}>
            <b>{fieldLabel(field.field, names)}</b> of {countText(field.people, 'person', 'people')}:{' '}
            {valuesText(field, names)}
          </List.Item>
        ))}
      </List>
      {!isComplete && (
        <Text c="dimmed">
          {countText(looked, 'person was', 'people were')} looked at so far. The count goes on.
        </Text>
      )}
      {examples.length > 0 && (
        <Anchor component="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide examples' : 'Show examples'}
        </Anchor>
      )}
      <Collapse expanded={isOpen}>
        <Examples effect={effect} connection={connection} />
      </Collapse>
    </div>
  );
}

function Examples({ effect: { examples, names }, connection }: { effect: RulesEffect; connection: string }) {
  return (
    <Rows
      label="Examples"
      rows={examples}
      empty="Nobody would change."
      columns={[
        {
          label: 'Person',
          cell: ({ id, userName }) => <ViewLink href={personHref(connection, id)}>{userName}</ViewLink>,
        },
        {
          label: 'Changes',
          cell: ({ changes }) =>
            changes.map(({ field, before, after }) => (
              <Text key={field}>
                {fieldLabel(field, names)}: {valueText(before, names)} → {valueText(after, names)}
              </Text>
            )),
        },
      ]}
    />
  );
}

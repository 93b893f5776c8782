import { Button, type ButtonProps, Checkbox, Group, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { HoldGroup, ListedHeldPerson } from '../../../../operations/holds/holds.ts';
import type { HoldAnswer } from '../../../../provisioning/holds/hold-texts.ts';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Dim, PersonName, Time } from '../../components/text.tsx';
import { numberText, sinceText } from '../../components/texts.ts';
import { usePages } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import type { PlannedDecision } from './decision.tsx';
import { causeNames, changes } from './texts.ts';

interface HeldGroupProps {
  group: HoldGroup;
  onDecide: (planned: PlannedDecision) => void;
}

/** The people of a connection who are held for one cause: all, some or one of them are decided about. */
export function HeldGroup({ group, onDecide }: HeldGroupProps) {
  const { connection, cause, why, since } = group;
  const pages = usePages('listHeldPeople', { connection, cause, limit: 50 });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isAdmin = useIsAdmin();
  const listed = pages.data?.pages.flatMap(({ people }) => people) ?? [];
  // People who are no longer held leave the list, and so the selection.
  const selected = listed.filter(({ id }) => chosen.has(id));
  const decide = (answer: HoldAnswer, people?: ListedHeldPerson[]) =>
    onDecide({ answer, group, ...(people && { people }) });
  const toggle = (id: string) =>
    setChosen(
      (before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]),
    );
  const count = selected.length > 0 ? numberText(selected.length) : `all ${numberText(group.people)}`;
  return (
    <section aria-label={`${causeNames[cause]}, ${connection}`}>
      <Group justify="space-between" align="flex-start" mb="xs">
        <div style={{ flex: '1 1 320px' }}>
          <Title order={2} size="h5">
            {causeNames[cause]} <Dim>· {connection}</Dim>
          </Title>
          <Text c="dimmed">
            Since <Time at={since} format={sinceText} />: {why}.
          </Text>
        </div>
        {isAdmin && (
          <DecideButtons
            count={group.people === 1 ? '' : ` ${count}`}
            onDecide={(answer) => decide(answer, selected.length > 0 ? selected : undefined)}
          />
        )}
      </Group>
      <PagedRows
        query={pages}
        rowsOf={({ people }) => people}
        older="Show more people"
        label={`Held: ${causeNames[cause]}`}
        columns={[
          {
            label: 'Person',
            width: '38%',
            cell: (person) => (
              <Group gap="xs" wrap="nowrap">
                {isAdmin && group.people > 1 && (
                  <Checkbox
                    size="xs"
                    aria-label={`Select ${person.userName}`}
                    checked={chosen.has(person.id)}
                    onChange={() => toggle(person.id)}
                  />
                )}
                <PersonName connection={connection} {...person} />
              </Group>
            ),
          },
          ...columns,
          ...(isAdmin
            ? [
                {
                  label: 'Decide',
                  isAction: true as const,
                  width: '20%',
                  cell: (person: ListedHeldPerson) => (
                    <DecideButtons
                      of={person.name || person.userName}
                      size="compact-xs"
                      onDecide={(answer) => decide(answer, [person])}
                    />
                  ),
                },
              ]
            : []),
        ]}
        empty="Nobody is held here any more."
      />
    </section>
  );
}

const columns: Column<ListedHeldPerson>[] = [
  {
    label: 'Change',
    width: '30%',
    cell: ({ effect }) => (
      <>
        <Dim>{changes[effect][0]} →</Dim> {changes[effect][1]}
      </>
    ),
  },
  { label: 'Since', width: '12%', cell: ({ since }) => <Time at={since} format={sinceText} /> },
];

/** The two buttons that ask for a confirmation. `count` stands in their labels, and `of` in their names for screen readers. */
function DecideButtons({
  count = '',
  of,
  onDecide,
  size = 'xs',
}: {
  count?: string;
  of?: string;
  onDecide: (answer: HoldAnswer) => void;
  size?: NonNullable<ButtonProps['size']>;
}) {
  const button = (answer: HoldAnswer, label: string) => (
    <Button
      size={size}
      variant={answer === 'approved' && !of ? 'filled' : 'default'}
      aria-haspopup="dialog"
      {...(of && { 'aria-label': `${label} ${of}` })}
      onClick={() => onDecide(answer)}
    >
      {label}
      {count}
    </Button>
  );
  return (
    <Group gap="xs" wrap="nowrap">
      {button('approved', 'Approve')}
      {button('discarded', 'Discard')}
    </Group>
  );
}

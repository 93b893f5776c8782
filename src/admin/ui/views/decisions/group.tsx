import { Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import type { HoldGroup, ListedHeldPerson } from '../../../../operations/holds/holds.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { personHref, Time, ViewLink } from '../../components/text.tsx';
import { countText, sinceText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { usePages } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import type { PlannedDecision } from './decision.tsx';
import { DecideButtons } from './decisions.tsx';
import { causeNames } from './texts.ts';

interface HeldGroupProps {
  address: { connection: string; cause: string };
  groups: HoldGroup[];
  onDecide: (planned: PlannedDecision) => void;
}

/** The people of a group, some of whom the admin can choose. */
export function HeldGroup({ address, groups, onDecide }: HeldGroupProps) {
  const { connection, cause } = address;
  const group = groups.find((one) => one.connection === connection && one.cause === cause);
  return (
    <>
      <ViewLink href="/">← Decisions</ViewLink>
      {group ? (
        <People group={group} onDecide={onDecide} />
      ) : (
        <ViewHead title="Decisions">
          Nobody is held here any more: the decision has been made, or the identity provider has changed it.
        </ViewHead>
      )}
    </>
  );
}

function People({ group, onDecide }: { group: HoldGroup; onDecide: (planned: PlannedDecision) => void }) {
  const { connection, cause, why, since } = group;
  const people = usePages('listHeldPeople', { connection, cause, limit: 200 });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const all = people.data?.pages.flatMap((page) => page.people) ?? [];
  // People who are no longer held leave the list, and so the selection.
  const selected = all.filter(({ id }) => chosen.has(id));
  const toggle = (ids: string[], isChosen: boolean) =>
    setChosen(
      (before) => new Set(isChosen ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))),
    );
  return (
    <>
      <ViewHead
        title={`${causeNames[cause]}, ${connection}`}
        actions={<DownloadButton operation="downloadHeldPeople" input={{ connection, cause }} />}
      >
        Held since <Time at={since} format={sinceText} />: {why}.
      </ViewHead>
      <Group justify="space-between" mb="xs" mih={32}>
        <SelectAll all={all} selected={selected} onChange={toggle} />
        {selected.length > 0 && (
          <DecideButtons
            label={countText(selected.length, 'person', 'people')}
            onDecide={(answer) => onDecide({ answer, group, people: selected })}
          />
        )}
      </Group>
      <PagedRows
        query={people}
        rowsOf={(page) => page.people}
        older="Show more people"
        label="Held people"
        columns={columnsOf(connection, chosen, toggle)}
        empty="Nobody is held here any more."
      />
    </>
  );
}

interface SelectAllProps {
  all: ListedHeldPerson[];
  selected: ListedHeldPerson[];
  onChange: (ids: string[], isChosen: boolean) => void;
}

function SelectAll({ all, selected, onChange }: SelectAllProps) {
  if (!useIsAdmin()) return null;
  const isAll = all.length > 0 && selected.length === all.length;
  return (
    <Checkbox
      label={
        selected.length > 0
          ? `${countText(selected.length, 'person', 'people')} selected`
          : 'Select all shown'
      }
      checked={isAll}
      indeterminate={selected.length > 0 && !isAll}
      onChange={() =>
        onChange(
          all.map(({ id }) => id),
          !isAll,
        )
      }
    />
  );
}

const wishes = {
  change: 'to change the traveler',
  deactivate: 'deactivated the person',
  delete: 'deleted the person',
} satisfies Record<ListedHeldPerson['wants'], string>;

function columnsOf(
  connection: string,
  chosen: ReadonlySet<string>,
  onChange: (ids: string[], isChosen: boolean) => void,
): Column<ListedHeldPerson>[] {
  return [
    {
      label: 'Person',
      cell: ({ id, userName }) => (
        <Group gap="xs" wrap="nowrap">
          <Checkbox
            aria-label={`Select ${userName}`}
            checked={chosen.has(id)}
            onChange={(event) => onChange([id], event.currentTarget.checked)}
          />
          <ViewLink href={personHref(connection, id)}>{userName}</ViewLink>
        </Group>
      ),
    },
    { label: 'The identity provider', cell: ({ wants }) => wishes[wants] },
    { label: 'If approved', cell: ({ effect }) => `the traveler will be ${effect}` },
    { label: 'Held since', cell: ({ since }) => <Time at={since} format={sinceText} /> },
  ];
}

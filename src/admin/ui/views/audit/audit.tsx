import { Autocomplete, Group, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import type { ListedAuditEntry } from '../../../../operations/settings/audit.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { FilterPanel, FilterSelect, MomentInput, useAddressFilter } from '../../components/filters.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable, Dim, Time, ViewLink } from '../../components/text.tsx';
import { toWords } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import type { Input } from '../../requests/api.ts';
import { usePages, useRead } from '../../requests/queries.ts';
import { detailsOf, linksOf } from './texts.ts';

const filterNames = ['actor', 'action', 'since', 'until'] as const;

/** The filters, as they are in the address. */
type AuditFilter = Pick<Input<'listAuditEntries'>, (typeof filterNames)[number]>;

/** The view of the audit log: each change with its actor and time. The filters are in the address. */
export function AuditView() {
  const [filter, change] = useAddressFilter<AuditFilter>(filterNames);
  const entries = usePages('listAuditEntries', { ...filter, limit: 100 }, { cursor: 'before' });
  const count = Object.keys(filter).length;
  return (
    <>
      <ViewHead title="Audit" actions={<DownloadButton operation="downloadAuditEntries" input={filter} />}>
        Every change that was made here, by a token or by a command, the newest first.
      </ViewHead>
      <FilterPanel count={count}>
        <Filters filter={filter} onChange={change} />
      </FilterPanel>
      <PagedRows
        query={entries}
        rowsOf={(page) => page.entries}
        older="Show older entries"
        label="Changes"
        keyOf={({ position }) => String(position)}
        columns={columns}
        empty={
          count > 0
            ? 'No change matches the filters.'
            : 'Nothing has been changed yet. Sign-ins, decisions, new mappings and tokens will be listed here.'
        }
      />
    </>
  );
}

function Filters({
  filter: { actor = '', action, since, until },
  onChange,
}: {
  filter: AuditFilter;
  onChange: ReturnType<typeof useAddressFilter<AuditFilter>>[1];
}) {
  const [typed, setTyped] = useState(actor);
  const changeActor = useDebouncedCallback((value: string) => onChange({ actor: value.trim() }), 300);
  const { data } = useRead('listAuditChoices', {});
  return (
    <>
      <Autocomplete
        aria-label="Who"
        placeholder="Anybody"
        size="xs"
        clearable
        data={data?.actors ?? []}
        value={typed}
        onChange={(value) => {
          setTyped(value);
          changeActor(value);
        }}
      />
      <FilterSelect
        label="What"
        placeholder="Any action"
        data={(data?.actions ?? []).map((name) => ({ value: name, label: toWords(name) }))}
        value={action}
        onChange={(chosen) => onChange({ action: chosen })}
        searchable
      />
      <MomentInput label="From" value={since} onChange={(value) => onChange({ since: value })} />
      <MomentInput label="Until" value={until} onChange={(value) => onChange({ until: value })} />
    </>
  );
}

const columns: Column<ListedAuditEntry>[] = [
  { label: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    label: 'Who',
    cell: ({ actor, actorKind, status = 500 }) =>
      // The account of a sign-in that succeeded is known.
      actorKind === 'nobody' && status < 400 ? actor : `${actor}${kindTexts[actorKind]}`,
  },
  { label: 'From', cell: ({ address }) => address },
  { label: 'What', cell: ({ action }) => <span style={{ whiteSpace: 'nowrap' }}>{toWords(action)}</span> },
  { label: 'Details', cell: detailsCell },
  { label: 'Outcome', cell: ({ status }) => <Outcome status={status} /> },
];

const kindTexts = {
  account: '',
  token: ' (token)',
  // The name says it.
  command: '',
  nobody: ' (not signed in)',
} satisfies Record<ListedAuditEntry['actorKind'], string>;

function Outcome({ status }: { status: number | undefined }) {
  const [color, text] =
    status === undefined
      ? (['', '? unknown'] as const)
      : status < 400
        ? (['dimmed', '✓ done'] as const)
        : (['var(--mantine-color-error)', `✗ refused (${status})`] as const);
  return (
    <Text span {...(color && { c: color })} style={{ whiteSpace: 'nowrap' }}>
      {text}
    </Text>
  );
}

/** The details of an entry: facts by their names, and links to the changed people or mapping. */
function detailsCell(entry: ListedAuditEntry) {
  const facts = detailsOf(entry);
  const links = linksOf(entry);
  if (facts.length + links.length === 0) return null;
  return (
    <Group component="ul" p={0} m={0} style={{ listStyle: 'none', gap: '2px 12px' }}>
      {facts.map(({ name, text }) => (
        <Text key={name} component="li" style={{ overflowWrap: 'anywhere' }}>
          <Dim>{toWords(name)}: </Dim>
          <Breakable text={text} />
        </Text>
      ))}
      {links.map(({ href, label }) => (
        <li key={href}>
          <ViewLink href={`~/admin${href}`}>{label}</ViewLink>
        </li>
      ))}
    </Group>
  );
}

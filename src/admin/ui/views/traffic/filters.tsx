import { Group, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { FilterPanel, FilterSelect } from '../../components/filter-panel.tsx';
import { MomentInput } from '../../components/moment-input.tsx';
import { PersonFilter } from '../../components/person-filter.tsx';
import type { FilterChanges, TrafficFilter } from './query.ts';
import { useExchangeLog } from './query.ts';

type Change = (changes: FilterChanges) => void;

const directions = [
  { value: 'scim', label: 'From IdPs' },
  { value: 'oauth', label: 'Token requests' },
  { value: 'travel', label: 'To travel services' },
];
const statuses = [
  { value: 'failed', label: 'Failed' },
  ...['2xx', '3xx', '4xx', '5xx'].map((value) => ({ value, label: value })),
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The filters of a line share its width. */
function width(least: number) {
  return { flex: `1 1 ${least}px`, minWidth: least, maxWidth: 260 };
}

/** The filters of the list; each is a part of the address. */
export function TrafficFilters({ filter, onChange }: { filter: TrafficFilter; onChange: Change }) {
  const connections = useExchangeLog().data?.connections.map(({ id }) => id) ?? [];
  const choose = (name: keyof TrafficFilter) => (value: string | null) =>
    onChange({ [name]: value ?? undefined });
  return (
    <FilterPanel count={Object.keys(filter).length}>
      <FilterSelect
        style={width(150)}
        label="Direction"
        placeholder="Both directions"
        data={directions}
        value={filter.direction}
        onChange={choose('direction')}
      />
      {connections.length > 1 && (
        <FilterSelect
          style={width(150)}
          label="Connection"
          placeholder="All connections"
          data={connections}
          value={filter.connection}
          onChange={choose('connection')}
        />
      )}
      <FilterSelect
        style={width(100)}
        label="Method"
        placeholder="Method"
        data={methods}
        value={filter.method}
        onChange={choose('method')}
      />
      <FilterSelect
        style={width(100)}
        label="Status"
        placeholder="Status"
        data={statuses}
        value={filter.status}
        onChange={choose('status')}
      />
      <PathFilter filter={filter} onChange={onChange} />
      <PersonFilter person={filter.person} style={width(120)} onChange={(person) => onChange({ person })} />
      <Group gap="xs" style={{ flex: '1 1 380px', maxWidth: 530 }}>
        <MomentInput
          label="From"
          style={width(185)}
          value={filter.since}
          onChange={(since) => onChange({ since })}
        />
        <MomentInput
          label="Until"
          style={width(185)}
          value={filter.until}
          onChange={(until) => onChange({ until })}
        />
      </Group>
    </FilterPanel>
  );
}

interface FilterProps {
  filter: TrafficFilter;
  onChange: Change;
}

function PathFilter({ filter, onChange }: FilterProps) {
  const [text, setText] = useState(filter.path ?? '');
  const change = useDebouncedCallback((value: string) => onChange({ path: value.trim() }), 300);
  return (
    <TextInput
      size="xs"
      style={width(120)}
      aria-label="Path begins with"
      placeholder="Path begins with"
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        change(event.currentTarget.value);
      }}
    />
  );
}

import { CloseButton, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { FilterPanel } from '../../components/filter-panel.tsx';
import { PersonFilter } from '../../components/person-filter.tsx';
import type { TrafficFilter } from './query.ts';
import { useExchangeLog } from './query.ts';

type Change = (changes: Partial<TrafficFilter>) => void;

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
  return { flex: `1 1 ${least}px`, maxWidth: 260 };
}

/** The filters of the list; each is a part of the address. */
export function TrafficFilters({ filter, onChange }: { filter: TrafficFilter; onChange: Change }) {
  const connections = useExchangeLog().data?.connections.map(({ id }) => id) ?? [];
  const choose = (name: keyof TrafficFilter) => (value: string | null) =>
    onChange({ [name]: value ?? undefined });
  const select = { size: 'xs', clearable: true, style: width(100) } as const;
  return (
    <FilterPanel count={Object.keys(filter).length}>
      <Select
        {...select}
        aria-label="Direction"
        placeholder="Both directions"
        data={directions}
        value={filter.direction ?? null}
        onChange={choose('direction')}
      />
      {connections.length > 1 && (
        <Select
          {...select}
          aria-label="Connection"
          placeholder="All connections"
          data={connections}
          value={filter.connection ?? null}
          onChange={choose('connection')}
        />
      )}
      <Select
        {...select}
        aria-label="Method"
        placeholder="Method"
        data={methods}
        value={filter.method ?? null}
        onChange={choose('method')}
      />
      <Select
        {...select}
        aria-label="Status"
        placeholder="Status"
        data={statuses}
        value={filter.status ?? null}
        onChange={choose('status')}
      />
      <PathFilter filter={filter} onChange={onChange} />
      <PersonFilter person={filter.person} style={width(120)} onChange={(person) => onChange({ person })} />
      <Moment label="From" name="since" filter={filter} onChange={onChange} />
      <Moment label="Until" name="until" filter={filter} onChange={onChange} />
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

function Moment({ label, name, filter, onChange }: FilterProps & { label: string; name: 'since' | 'until' }) {
  const value = filter[name];
  return (
    <TextInput
      size="xs"
      style={width(185)}
      type="datetime-local"
      aria-label={label}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={44}
      value={value === undefined ? '' : toLocal(value)}
      onChange={({ currentTarget }) => onChange({ [name]: toUtc(currentTarget.value) })}
      rightSection={
        value && (
          <CloseButton size="xs" aria-label={`Clear ${label}`} onClick={() => onChange({ [name]: '' })} />
        )
      }
    />
  );
}

/** Converts a time of the API to the value of an input: local, in minutes. */
export function toLocal(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the value of an input to a time of the API; an empty one to undefined. */
export function toUtc(local: string): string | undefined {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

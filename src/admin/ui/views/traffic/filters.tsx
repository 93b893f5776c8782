import { Group, Switch } from '@mantine/core';
import {
  FilterPanel,
  FilterSelect,
  MomentInput,
  PersonFilter,
  TextFilter,
} from '../../components/filters.tsx';
import { toChoices } from '../../components/texts.ts';
import { type TrafficFilter, useExchangeLog, type useTrafficFilter } from './query.ts';

type Change = ReturnType<typeof useTrafficFilter>[1];

const directions = toChoices({
  scim: 'From IdPs',
  oauth: 'Token requests',
  travel: 'To travel services',
});
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
  const lists = [
    { name: 'direction', label: 'Direction', placeholder: 'Both directions', data: directions, least: 150 },
    {
      name: 'connection',
      label: 'Connection',
      placeholder: 'All connections',
      data: connections,
      least: 150,
    },
    { name: 'method', label: 'Method', placeholder: 'Method', data: methods, least: 100 },
    { name: 'status', label: 'Status', placeholder: 'Status', data: statuses, least: 100 },
  ] as const;
  return (
    <FilterPanel count={Object.keys(filter).length}>
      {lists
        .filter(({ name }) => name !== 'connection' || connections.length > 1)
        .map(({ name, least, ...list }) => (
          <FilterSelect
            key={name}
            style={width(least)}
            value={filter[name]}
            onChange={(value) => onChange({ [name]: value })}
            {...list}
          />
        ))}
      <TextFilter
        style={width(120)}
        label="Path begins with"
        value={filter.path}
        onChange={(path) => onChange({ path })}
      />
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
      <Switch
        size="xs"
        label="Calls at an interval"
        title="Calls that the bridge makes by itself: event feed, lookups, imports and probes. Those that fail are always shown."
        checked={filter.polls === 'true'}
        onChange={({ currentTarget: { checked } }) => onChange({ polls: checked ? 'true' : null })}
      />
    </FilterPanel>
  );
}

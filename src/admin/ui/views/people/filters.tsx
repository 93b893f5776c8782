import { Button, Switch as SwitchField } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { FilterPanel, FilterSelect, TextFilter, useAddressFilter } from '../../components/filters.tsx';
import { useIsNarrow } from '../../components/narrow.ts';
import type { Input } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { type Choice, filterChoices, findingFilterText, stateFilters } from './texts.ts';

const filterNames = ['connection', 'state', 'finding', 'field', 'value', 'search', 'archived'] as const;
const names = [...filterNames, 'sort'] as const;

/** The filters of people, which are in the address. */
export type Filters = Pick<Input<'listPeople'>, (typeof filterNames)[number]>;

type Sort = NonNullable<Input<'listPeople'>['sort']>;
type Change = ReturnType<typeof useAddressFilter<Filters & { sort?: Sort }>>[1];

/** The orders besides that by userName. */
export const sortTexts: Record<Sort, string> = {
  name: 'Name',
  state: 'State',
  changed: 'Last change',
  unchanged: 'First change',
};

/** The filters and the order of the address without values that the API does not have, and a function that changes some of them. */
export function usePeopleFilters(): { filters: Filters; sort: Sort | undefined; change: Change } {
  const [given, change] = useAddressFilter<Filters & { sort?: Sort }>(names);
  const { state, archived, sort, ...others } = given;
  const filters = {
    ...others,
    ...(state && state in stateFilters && { state }),
    ...(archived === 'true' && { archived }),
  };
  return { filters, sort: sort && sort in sortTexts ? sort : undefined, change };
}

/** The choices of the filters with the number of people of each. */
export function useFilterChoices(filters: Pick<Filters, 'connection' | 'finding'>) {
  const { data } = useRead('countPeople', {});
  return filterChoices(data?.connections ?? [], filters);
}

interface FilterBarProps {
  filters: Filters;
  sort: Sort | undefined;
  change: Change;
}

/** The filters above the list of people. */
export function FilterBar({ filters, sort, change }: FilterBarProps) {
  const choices = useFilterChoices(filters);
  const isNarrow = useIsNarrow();
  const { connection, state, finding, field, value, search, archived } = filters;
  return (
    <FilterPanel count={Object.keys(filters).length}>
      <TextFilter
        label="Name, address, number or id"
        title="Any part of a name, address, employee number, id or value of a finding"
        w={220}
        value={search}
        onChange={(text) => change({ search: text })}
      />
      {isNarrow && (
        <FilterSelect
          label="Sort"
          placeholder="By userName"
          w={170}
          data={Object.entries(sortTexts).map(([one, text]) => ({
            value: one,
            label: `By ${text.toLowerCase()}`,
          }))}
          value={sort}
          onChange={(chosen) => change({ sort: chosen })}
        />
      )}
      <FilterSelect
        label="State"
        placeholder="Any state"
        w={170}
        data={choices.states}
        value={state}
        onChange={(chosen) => change({ state: chosen })}
      />
      <FindingFilter
        choices={choices.findings}
        value={finding}
        onChange={(chosen) => change({ finding: chosen, field: null, value: null })}
      />
      {(field ?? value) !== undefined && (
        <FindingValueButton filters={filters} onRemove={() => change({ field: null, value: null })} />
      )}
      <ConnectionFilter
        choices={choices.connections}
        value={connection}
        onChange={(chosen) => change({ connection: chosen })}
      />
      <SwitchField
        size="xs"
        label="Only inactive and deleted"
        checked={archived === 'true'}
        onChange={({ currentTarget: { checked } }) => change({ archived: checked ? 'true' : null })}
      />
    </FilterPanel>
  );
}

interface ChoiceFilterProps {
  choices: Choice[];
  value: string | undefined;
  onChange: (value: string | null) => void;
  /** The width in pixels. */
  w?: number;
}

/** Chooses the code of a finding. */
export function FindingFilter({ choices, w = 200, ...select }: ChoiceFilterProps) {
  return (
    <FilterSelect
      label="Finding"
      placeholder="Any finding"
      nothingFoundMessage="Nobody has such a finding."
      w={w}
      searchable
      data={choices}
      {...select}
    />
  );
}

/** Chooses a connection; nothing if there is only one. */
export function ConnectionFilter({ choices, ...select }: ChoiceFilterProps) {
  if (choices.length <= 1) return null;
  return <FilterSelect label="Connection" placeholder="All connections" w={190} data={choices} {...select} />;
}

/** The field and value of the finding that a link has chosen, with a way back. */
function FindingValueButton({ filters, onRemove }: { filters: Filters; onRemove: () => void }) {
  const text = findingFilterText(filters);
  return (
    <Button
      variant="light"
      maw={300}
      rightSection={<IconX size={12} />}
      aria-label={`${text}, remove the filter`}
      onClick={onRemove}
    >
      {text}
    </Button>
  );
}

import { Text } from '@mantine/core';
import type { FindingValue } from '../../../../operations/people/people.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { FieldName } from '../../components/field-name.tsx';
import { FilterPanel, useAddressFilter } from '../../components/filters.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Breakable, Dim, PersonName, ViewLink } from '../../components/text.tsx';
import { countText, findingLabel } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import type { Input } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { ConnectionFilter, FindingFilter, useFilterChoices } from './filters.tsx';
import { findingValueHref } from './texts.ts';

const filterNames = ['connection', 'finding'] as const;

type Filters = Pick<Input<'listFindingValues'>, (typeof filterNames)[number]>;

/** The findings by value: how many people have each, such as 50 people with an unknown cost center CC-999. */
export function FindingValuesView() {
  const [filters, change] = useAddressFilter<Filters>(filterNames);
  const choices = useFilterChoices(filters);
  const values = useRead('listFindingValues', filters);
  return (
    <>
      <ViewHead
        title="Findings by value"
        actions={<DownloadButton operation="downloadFindingValues" input={filters} />}
      >
        The values that were left out of travelers, and how many people have each.
      </ViewHead>
      <FilterPanel count={Object.keys(filters).length}>
        <FindingFilter
          choices={choices.findings}
          w={300}
          value={filters.finding}
          onChange={(finding) => change({ finding })}
        />
        <ConnectionFilter
          choices={choices.connections}
          value={filters.connection}
          onChange={(connection) => change({ connection })}
        />
      </FilterPanel>
      <Loaded query={values}>
        {(data) => (
          <>
            {data.isCut && (
              <Text c="dimmed" mb="xs">
                Only the first 10,000 people with findings are counted here, and the 1,000 most frequent
                values are listed. The CSV has all.
              </Text>
            )}
            <Rows
              label="Findings by value"
              rows={data.values}
              columns={columnsOf(choices.connections.length > 1, data.names)}
              keyOf={({ connection, code, field, value, isRest }) =>
                JSON.stringify([connection, code, field, value, isRest])
              }
              empty="Nobody has such a finding."
            />
          </>
        )}
      </Loaded>
    </>
  );
}

function columnsOf(hasConnections: boolean, names: Record<string, string>): Column<FindingValue>[] {
  return [
    { label: 'Value', width: '26%', cell: (row) => <Value row={row} /> },
    {
      label: 'People',
      width: '11%',
      cell: (row) => {
        const people = countText(row.people, 'person', 'people');
        // No filter selects the people with other values.
        return row.isRest ? people : <ViewLink href={findingValueHref(row)}>{people}</ViewLink>;
      },
    },
    { label: 'Finding', width: '18%', cell: ({ code }) => findingLabel(code) },
    { label: 'Field', width: '17%', cell: ({ field }) => <FieldName field={field} names={names} /> },
    {
      label: 'For example',
      width: hasConnections ? '18%' : '28%',
      cell: ({ connection, example }) => <PersonName connection={connection} {...example} />,
    },
    ...(hasConnections
      ? [{ label: 'Connection', width: '10%', cell: ({ connection }: FindingValue) => connection }]
      : []),
  ];
}

function Value({ row: { field, value, isRest } }: { row: FindingValue }) {
  if (isRest) return <Dim>other values</Dim>;
  if (value === '' || field === 'archived') return <Dim>without a value</Dim>;
  return (
    <span style={{ whiteSpace: 'pre-wrap' }}>
      <Breakable text={value} />
    </span>
  );
}

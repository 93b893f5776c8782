import { Card, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useIsNarrow } from './narrow.ts';

/** A column of a table. */
export interface Column<T> {
  label: string;
  cell: (row: T) => ReactNode;
  /** The share of the table's width, e.g. `20%`. Without one in any column the contents decide. */
  width?: string;
}

/** Rows as a table, and on a narrow screen as cards. `empty` is shown without rows: it says what would be here. */
export function Rows<T>({
  label,
  rows,
  columns,
  keyOf,
  empty,
}: {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string;
  empty: ReactNode;
}) {
  const isNarrow = useIsNarrow();
  if (rows.length === 0) return <Text c="dimmed">{empty}</Text>;
  if (isNarrow) return <Cards label={label} rows={rows} columns={columns} keyOf={keyOf} />;
  return (
    <Table aria-label={label} layout={columns.some(({ width }) => width) ? 'fixed' : 'auto'}>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th key={column.label} w={column.width}>
              {column.label}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)}>
            {columns.map((column) => (
              <Table.Td key={column.label}>{column.cell(row)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The first column is the heading of a card. */
function Cards<T>({
  label,
  rows,
  columns,
  keyOf,
}: {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string;
}) {
  const [head, ...others] = columns;
  return (
    <Stack component="ul" aria-label={label} gap="xs" p={0} m={0}>
      {rows.map((row) => (
        <Card key={keyOf(row)} component="li" withBorder padding="sm">
          <Text component="div" fw={600}>
            {head?.cell(row)}
          </Text>
          {others.map((column) => (
            <Text key={column.label} component="div" size="sm">
              <Text span c="dimmed" size="sm">
                {column.label}:{' '}
              </Text>
              {column.cell(row)}
            </Text>
          ))}
        </Card>
      ))}
    </Stack>
  );
}

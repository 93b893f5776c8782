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

interface RowsProps<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string;
  /** Shown without rows: says what would be here. */
  empty: ReactNode;
  /** True for the row to which a link has led: it is marked, and scrolled into view when it appears. */
  isChosen?: (row: T) => boolean;
}

/** One function for all rows, because React calls a new one at every rendering. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'center' });
}

const chosenMarks = {
  ref: scrollIntoView,
  'aria-current': 'true',
  bg: 'var(--mantine-primary-color-light)',
} as const;

/** Rows as a table, and on a narrow screen as cards. */
export function Rows<T>(props: RowsProps<T>) {
  const isNarrow = useIsNarrow();
  const { label, rows, columns, keyOf, empty, isChosen } = props;
  if (rows.length === 0) return <Text c="dimmed">{empty}</Text>;
  if (isNarrow)
    return (
      <Stack component="ul" aria-label={label} gap="xs" p={0} m={0}>
        {rows.map((row) => (
          <Card key={keyOf(row)} component="li" withBorder padding="sm" {...(isChosen?.(row) && chosenMarks)}>
            <CardContent row={row} columns={columns} />
          </Card>
        ))}
      </Stack>
    );
  return (
    <Table aria-label={label} layout={columns.some(({ width }) => width) ? 'fixed' : 'auto'}>
      <TableHead columns={columns} />
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)} {...(isChosen?.(row) && chosenMarks)}>
            {columns.map((column) => (
              <Table.Td key={column.label}>{column.cell(row)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The labels of the columns. */
export function TableHead({ columns }: { columns: { label: string; width?: string }[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map(({ label, width }) => (
          <Table.Th key={label} w={width}>
            {label}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

/** A row as the content of a card. The first column is its heading. `isCut`: each value takes one line. */
export function CardContent<T>({
  row,
  columns: [head, ...others],
  isCut = false,
}: {
  row: T;
  columns: Column<T>[];
  isCut?: boolean;
}) {
  return (
    <>
      <Text component="div" fw={600}>
        {head?.cell(row)}
      </Text>
      {others.map((column) => (
        <Text key={column.label} component="div" size="sm" truncate={isCut}>
          <Text span c="dimmed" size="sm">
            {column.label}:{' '}
          </Text>
          {column.cell(row)}
        </Text>
      ))}
    </>
  );
}

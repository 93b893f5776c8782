import { Card, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useIsNarrow } from './narrow.ts';

/** A column of a table. */
export interface Column<T> {
  label: string;
  cell: (row: T) => ReactNode;
  /** The share of the table's width, e.g. `20%`. Without one in any column the contents decide. */
  width?: string;
  /** The order of the rows by this column; without one they cannot be sorted by it. */
  order?: ColumnOrder;
}

/** An order of rows: its name in the address, undefined for that without a name. */
interface ColumnOrder {
  sort: string | undefined;
  direction: 'ascending' | 'descending';
}

/** The present order of rows, and the function that changes it. */
export interface Sorting {
  sort: string | undefined;
  onChange: (sort: string | undefined) => void;
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
  if (rows.length === 0)
    return (
      <Text c="dimmed" size="sm">
        {empty}
      </Text>
    );
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

/** The labels of the columns; with `sorting`, buttons that sort by them. */
export function TableHead({
  columns,
  sorting,
}: {
  columns: Pick<Column<never>, 'label' | 'width' | 'order'>[];
  sorting?: Sorting | undefined;
}) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map(({ label, width, order }) => {
          const isSorted = sorting && order && sorting.sort === order.sort;
          return (
            <Table.Th key={label} w={width} {...(isSorted && { 'aria-sort': order.direction })}>
              {sorting && order ? (
                <UnstyledButton fw="inherit" fz="inherit" onClick={() => sorting.onChange(order.sort)}>
                  {label} {isSorted && <SortMark {...order} />}
                </UnstyledButton>
              ) : (
                label
              )}
            </Table.Th>
          );
        })}
      </Table.Tr>
    </Table.Thead>
  );
}

function SortMark({ direction }: ColumnOrder) {
  const Icon = direction === 'ascending' ? IconChevronUp : IconChevronDown;
  return <Icon size={14} aria-hidden style={{ verticalAlign: 'middle' }} />;
}

/** A row as the content of a card. The first column is its heading. */
export function CardContent<T>({ row, columns: [head, ...others] }: { row: T; columns: Column<T>[] }) {
  return (
    <>
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
    </>
  );
}

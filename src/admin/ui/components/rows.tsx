import { Button, Card, Group, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded } from './loading.tsx';
import { useIsNarrow } from './narrow.ts';
import { Dim } from './text.tsx';

/** A column of a table. */
export interface Column<T> {
  label: string;
  /** The content; nothing is shown as a dash, and left out of a card. */
  cell: (row: T) => ReactNode;
  /** True for a column of buttons, which need no label in a card. */
  isAction?: true;
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

/** The parts of a table that do not depend on where its rows come from. */
export interface TableProps<T> {
  label: string;
  columns: Column<T>[];
  /** Returns the key of a row; without it the key is its `id`. */
  keyOf?: ((row: T) => string) | undefined;
  /** Shown without rows: says what would be here. */
  empty?: ReactNode;
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
export function Rows<T>(props: TableProps<T> & { rows: T[] }) {
  const isNarrow = useIsNarrow();
  const { label, rows, columns, keyOf = idOf, empty, isChosen } = props;
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
              <Table.Td key={column.label}>{cellOf(column, row)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The content of a cell of a table. */
export function cellOf<T>({ cell, isAction }: Column<T>, row: T): ReactNode {
  const content = cell(row);
  return isNothing(content) && !isAction ? <Dim>–</Dim> : content;
}

function isNothing(content: ReactNode): boolean {
  return content === undefined || content === null || content === false || content === '';
}

export function idOf(row: unknown): string {
  return String(Object(row).id);
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
      <Text size="md" component="div" fw={600}>
        {head?.cell(row)}
      </Text>
      {others.map(({ label, cell, isAction }) => {
        const content = cell(row);
        return isNothing(content) ? null : (
          <Text key={label} component="div">
            {!isAction && <Dim>{label}: </Dim>}
            {content}
          </Text>
        );
      })}
    </>
  );
}

/** The rows that a query reads. */
export function LoadedRows<Data, T>({
  query,
  rowsOf,
  ...table
}: TableProps<T> & { query: UseQueryResult<Data>; rowsOf: (data: Data) => T[] }) {
  return <Loaded query={query}>{(data) => <Rows {...table} rows={rowsOf(data)} />}</Loaded>;
}

interface PagedRowsProps<Page, T> extends TableProps<T> {
  query: UseInfiniteQueryResult<InfiniteData<Page>>;
  rowsOf: (page: Page) => T[];
  older?: string;
}

/** The rows of all pages that were read, and a button that reads the next page; `older` is its label. */
export function PagedRows<Page, T>({ query, rowsOf, older, ...table }: PagedRowsProps<Page, T>) {
  return (
    <>
      <LoadedRows {...table} query={query} rowsOf={({ pages }) => pages.flatMap(rowsOf)} />
      <OlderButton query={query}>{older}</OlderButton>
    </>
  );
}

/** A button that reads the next page of a list, while there is one. */
export function OlderButton({
  query,
  children = 'Show older ones',
}: {
  query: UseInfiniteQueryResult<InfiniteData<unknown>>;
  children?: string | undefined;
}) {
  if (!query.hasNextPage) return null;
  return (
    <Group justify="center" mt="md">
      <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {children}
      </Button>
    </Group>
  );
}

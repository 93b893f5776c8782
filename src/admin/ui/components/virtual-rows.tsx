import { Card, Group, Table, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { TextFilter } from './filters.tsx';
import { Loaded } from './loading.tsx';
import { useIsNarrow } from './narrow.ts';
import { CardContent, type Column, cellOf, idOf, type Sorting, TableHead, type TableProps } from './rows.tsx';
import { numberText } from './texts.ts';

interface VirtualRowsProps<T> extends TableProps<T> {
  rows: T[];
  /** Called when the last rows come into view. */
  onEnd: () => void;
  /** Without it the rows cannot be sorted. */
  sorting?: Sorting;
  /** The content of a card in place of all columns. */
  cardOf?: (row: T) => ReactNode;
}

const ROW_HEIGHT = 36;
const CARD_HEIGHT = 132;
/** The height of a card with two lines. */
const SHORT_CARD = 60;
/** The rows before the end at which the next ones are read. */
const AHEAD = 40;
/** The height of the header of the page, under which that of the table stays. */
const HEADER_HEIGHT = 48;

/** Any number of rows as a table, and on a narrow screen as cards. Only those in view are in the document. */
export function VirtualRows<T>(props: VirtualRowsProps<T>) {
  const isNarrow = useIsNarrow();
  if (props.rows.length === 0 && props.empty !== undefined)
    return (
      <Text size="md" c="dimmed">
        {props.empty}
      </Text>
    );
  return isNarrow ? <VirtualCards {...props} /> : <VirtualTable {...props} />;
}

/** Returns the rows in view, the heights before and after them, and a reference to the element that contains them. */
function useRowsInView<T>({ rows, keyOf = idOf, onEnd }: VirtualRowsProps<T>, height: number) {
  const container = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const box = container.current?.getBoundingClientRect();
    // The content above the rows can grow, such as an alert or the filters of a narrow screen.
    if (box) setTop(Math.round(box.top + window.scrollY));
  });
  const virtualizer = useWindowVirtualizer({
    ...{ count: rows.length, overscan: 12, scrollMargin: top },
    estimateSize: () => height,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const isAtEnd = (last?.index ?? -1) >= rows.length - AHEAD;
  useEffect(() => {
    if (isAtEnd) onEnd();
  });
  return {
    ...{ container, items, measure: virtualizer.measureElement },
    before: first ? first.start - top : 0,
    after: last ? virtualizer.getTotalSize() - (last.end - top) : 0,
  };
}

function VirtualTable<T>(props: VirtualRowsProps<T>) {
  const { label, rows, columns, sorting } = props;
  const { container, items, before, after } = useRowsInView(props, ROW_HEIGHT);
  return (
    <div ref={container}>
      <Table aria-label={label} layout="fixed" stickyHeader stickyHeaderOffset={HEADER_HEIGHT}>
        <TableHead columns={columns} sorting={sorting} />
        <Table.Tbody>
          <Gap height={before} span={columns.length} />
          {items.map(({ key, index }) => {
            const row = rows[index];
            return row === undefined ? null : <TableRow key={key} row={row} columns={columns} />;
          })}
          <Gap height={after} span={columns.length} />
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Stands for the rows that are not in view. */
function Gap({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={span} style={{ height, padding: 0 }} />
    </tr>
  );
}

function TableRow<T>({ row, columns }: { row: T; columns: Column<T>[] }) {
  return (
    <Table.Tr h={ROW_HEIGHT} pos="relative">
      {columns.map((column) => (
        <Table.Td key={column.label} py={0}>
          <Text component="div" lh={1.2} lineClamp={2}>
            {cellOf(column, row)}
          </Text>
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

function VirtualCards<T>(props: VirtualRowsProps<T>) {
  const { label, rows, columns, cardOf } = props;
  const { container, items, before, after, measure } = useRowsInView(
    props,
    cardOf ? SHORT_CARD : CARD_HEIGHT,
  );
  const itemOf = ({ key, index }: VirtualItem) => {
    const row = rows[index];
    if (row === undefined) return null;
    return (
      <li
        key={key}
        data-index={index}
        ref={measure}
        style={{ listStyle: 'none', paddingBottom: cardOf ? 4 : 8 }}
      >
        <Card withBorder padding={cardOf ? 6 : 'sm'} px="sm">
          {cardOf ? cardOf(row) : <CardContent row={row} columns={columns} />}
        </Card>
      </li>
    );
  };
  return (
    <div ref={container}>
      <ul aria-label={label} style={{ margin: 0, padding: 0, paddingTop: before, paddingBottom: after }}>
        {items.map(itemOf)}
      </ul>
    </div>
  );
}

/** The rows of a list that is read on while the user scrolls. `endOf` is the text under the last row, by the number of rows. */
export function ScrolledRows<Page, Row>({
  query,
  rowsOf,
  title,
  endOf,
  ...table
}: Omit<VirtualRowsProps<Row>, 'rows' | 'onEnd'> & {
  query: UseInfiniteQueryResult<InfiniteData<Page>>;
  rowsOf: (page: Page) => Row[];
  /** The title of a failure. */
  title?: string | undefined;
  endOf: (count: number) => string;
}) {
  const rows = query.data?.pages.flatMap(rowsOf) ?? [];
  const readMore = () => {
    if (query.hasNextPage && !query.isFetchingNextPage && !query.isError) void query.fetchNextPage();
  };
  return (
    <Loaded query={query} title={title}>
      {() => (
        <>
          {rows.length > 0 && <VirtualRows {...table} rows={rows} onEnd={readMore} />}
          <Text c="dimmed" py="md" role="status">
            {query.hasNextPage ? 'Looking further…' : endOf(rows.length)}
          </Text>
        </>
      )}
    </Loaded>
  );
}

/** A list with a search by name, which is in the address. `empty` is shown without rows and without a search, `children` beside the search. */
export function SearchedRows<Page, Row>({
  search,
  onSearch,
  searchLabel = 'Name contains',
  empty,
  note,
  children,
  ...list
}: Omit<Parameters<typeof ScrolledRows<Page, Row>>[0], 'endOf'> & {
  search: string | undefined;
  onSearch: (text: string) => void;
  searchLabel?: string;
  empty: string;
  /** Behind the number of rows. */
  note?: string;
  children?: ReactNode;
}) {
  const nothing = search ? 'Nothing is found.' : empty;
  const countOf = (count: number) =>
    count > 0 ? `${numberText(count)} ${search ? 'found' : 'in all'}.` : nothing;
  return (
    <>
      <Group mb="md" role="search" aria-label={`Search ${list.label.toLowerCase()}`}>
        <TextFilter label={searchLabel} value={search} onChange={onSearch} />
        {children}
      </Group>
      <ScrolledRows {...list} endOf={(count) => [countOf(count), note].filter(Boolean).join(' ')} />
    </>
  );
}

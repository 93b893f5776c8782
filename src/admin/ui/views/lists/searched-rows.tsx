import { Group, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { TextFilter } from '../../components/filter-panel.tsx';
import { Loaded } from '../../components/loading.tsx';
import type { Column } from '../../components/rows.tsx';
import { numberText } from '../../components/texts.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';

/** A list with a search by name, which reads on while the user scrolls. `children` are beside the search. */
export function SearchedRows<Page, Row>({
  query,
  rowsOf,
  label,
  columns,
  keyOf,
  search,
  onSearch,
  empty,
  children,
}: {
  query: UseInfiniteQueryResult<InfiniteData<Page>>;
  rowsOf: (page: Page) => Row[];
  label: string;
  columns: Column<Row>[];
  keyOf: (row: Row) => string;
  search: string | undefined;
  onSearch: (text: string) => void;
  /** Shown without rows and without a search. */
  empty: string;
  children?: ReactNode;
}) {
  const rows = query.data?.pages.flatMap(rowsOf) ?? [];
  const readMore = () => {
    if (query.hasNextPage && !query.isFetchingNextPage && !query.isError) void query.fetchNextPage();
  };
  const count = `${numberText(rows.length)} ${search ? 'found' : 'in all'}.`;
  const end = rows.length > 0 ? count : search ? 'Nothing has this in its name.' : empty;
  return (
    <>
      <Group mb="md" role="search" aria-label={`Search ${label.toLowerCase()}`}>
        <TextFilter label="Name contains" value={search} onChange={onSearch} />
        {children}
      </Group>
      <Loaded query={query}>
        {() => (
          <>
            <VirtualRows {...{ label, rows, columns, keyOf }} onEnd={readMore} />
            <Text c="dimmed" size="sm" py="md" role="status">
              {query.hasNextPage ? 'Looking further…' : end}
            </Text>
          </>
        )}
      </Loaded>
    </>
  );
}

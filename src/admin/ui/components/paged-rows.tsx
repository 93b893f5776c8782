import { Button, Group } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { Loaded } from './loading.tsx';
import { Rows } from './rows.tsx';

type RowsProps<T> = Omit<ComponentProps<typeof Rows<T>>, 'rows'>;

/** The rows of all pages that were read, and a button that reads the next page; `older` is its label. */
export function PagedRows<Page, T>({
  query,
  rowsOf,
  older,
  ...table
}: RowsProps<T> & {
  query: UseInfiniteQueryResult<InfiniteData<Page>>;
  rowsOf: (page: Page) => T[];
  older?: string;
}) {
  return (
    <>
      <Loaded query={query}>{({ pages }) => <Rows {...table} rows={pages.flatMap(rowsOf)} />}</Loaded>
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
      <Button
        size="xs"
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {children}
      </Button>
    </Group>
  );
}

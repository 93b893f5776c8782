import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { Loaded } from './loading.tsx';
import { OlderButton } from './older-button.tsx';
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

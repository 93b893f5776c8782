import { Button, Group } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';

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

import { Alert, type AlertProps, Button, List, Skeleton, Stack } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { faultsOf } from '../requests/api.ts';

/** Nothing for 300 ms, then placeholders: what loads fast must not flicker. */
export function LoadingView() {
  const [isSlow, setSlow] = useState(false);
  useTimeout(() => setSlow(true), 300, { autoInvoke: true });
  if (!isSlow) return null;
  return (
    <Stack aria-label="Loading" role="status">
      {[1, 2, 3, 4, 5].map((row) => (
        <Skeleton key={row} height={24} />
      ))}
    </Stack>
  );
}

/** The message of a failure with its faults, and `children` behind it; nothing without a failure. */
export function Failure({ error, children, ...alert }: AlertProps & { error: Error | null }) {
  return (
    error && (
      <Alert color="red" role="alert" {...alert}>
        {error.message}
        <List size="sm">
          {faultsOf(error).map(({ field, message }) => (
            <List.Item key={`${field} ${message}`}>
              {field}: {message}
            </List.Item>
          ))}
        </List>
        {children}
      </Alert>
    )
  );
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  title?: string | undefined;
  children: (data: T) => ReactNode;
}

/** Shows what a query has read, placeholders while it reads, or its failure with a button to try again. */
export function Loaded<T>({ query, title = 'This could not be read', children }: LoadedProps<T>) {
  const { data, error, refetch } = query;
  return (
    <>
      <Failure error={error} title={title} mb="md">
        <Button ml="md" size="compact-xs" onClick={() => void refetch()}>
          Try again
        </Button>
      </Failure>
      {data === undefined ? !error && <LoadingView /> : children(data)}
    </>
  );
}

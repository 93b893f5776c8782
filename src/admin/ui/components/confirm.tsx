import { Alert, Button, Group, Stack } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

/**
 * Asks for a confirmation before a change. `children` states the consequence, and `action` names the object, e.g. "Revoke
 * Grace". A failure is shown, and the question stays. `result` is what the same dialog shows after the change, e.g. a new secret.
 */
export function Confirm<T>({
  title,
  action,
  mutation,
  isDestructive = false,
  onClose,
  result,
  children,
}: {
  title: string;
  action: string;
  mutation: UseMutationResult<T, Error, void>;
  isDestructive?: boolean;
  onClose: () => void;
  result?: (data: T) => ReactNode;
  children: ReactNode;
}) {
  if (result && mutation.data !== undefined)
    return (
      <Dialog onClose={onClose} title={title}>
        {result(mutation.data)}
      </Dialog>
    );
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack>
        {children}
        {mutation.error && (
          <Alert color="red" role="alert" title="Nothing was changed">
            {mutation.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button
            {...(isDestructive ? { color: 'red.9' } : {})}
            loading={mutation.isPending}
            onClick={() => mutation.mutate()}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

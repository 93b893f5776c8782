import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OperationName } from '../api.ts';
import { useChange } from '../queries.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './loading.tsx';

/**
 * Asks for a confirmation before a change. `children` states the consequence, and `action` names the object, e.g. "Revoke
 * Grace". A failure is shown, and the question stays. After the change the dialog closes, or shows its result, e.g. a new secret.
 */
export function Confirm<T>({
  title,
  action,
  change,
  refreshes,
  isDestructive = false,
  onClose,
  onDone,
  result,
  children,
}: {
  title: string;
  action: string;
  change: () => Promise<T>;
  /** The operations whose results are read again. */
  refreshes: OperationName[] | 'all';
  isDestructive?: boolean;
  onClose: () => void;
  onDone?: (result: T) => void;
  result?: { title: string; content: (data: T) => ReactNode };
  children: ReactNode;
}) {
  const finish = (data: T) => {
    onDone?.(data);
    if (!result) onClose();
  };
  const { data, error, isPending, mutate } = useChange(change, { refreshes, onDone: finish });
  if (result && data !== undefined)
    return (
      <Dialog onClose={onClose} title={result.title}>
        {result.content(data)}
      </Dialog>
    );
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack>
        {children}
        <Failure error={error} title="Nothing was changed" />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button {...(isDestructive && { color: 'red.9' })} loading={isPending} onClick={() => mutate()}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

import { Button, type ButtonProps, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OperationName } from '../api.ts';
import { useChange } from '../queries.ts';
import { Dialog, DialogButton } from './dialog.tsx';
import { Failure } from './loading.tsx';
import type { Column } from './rows.tsx';

interface ConfirmProps<T> {
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
}

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
}: ConfirmProps<T>) {
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

/** A button that asks for a confirmation before a change. `name` is its name for screen readers. */
export function ConfirmButton<T>({
  label,
  name,
  button,
  ...confirm
}: Omit<ConfirmProps<T>, 'onClose'> & { label: string; name?: string; button?: ButtonProps }) {
  return (
    <DialogButton label={label} {...(name && { name })} {...button}>
      {(close) => <Confirm {...confirm} onClose={close} />}
    </DialogButton>
  );
}

/** A column with a button that revokes the credential of the row. */
export function revokeColumn({
  label,
  buttonName = (name) => `Revoke ${name}`,
  title,
  consequence,
  revoke,
  refreshes,
}: {
  label: string;
  buttonName?: (name: string) => string;
  title: (name: string) => string;
  consequence: string;
  revoke: (id: string) => Promise<unknown>;
  refreshes: OperationName[];
}): Column<{ id: string; name: string }> {
  return {
    label,
    cell: ({ id, name }) => (
      <ConfirmButton
        label="Revoke…"
        name={buttonName(name)}
        button={{ size: 'compact-xs' }}
        title={title(name)}
        action={`Revoke ${name}`}
        change={() => revoke(id)}
        refreshes={refreshes}
        isDestructive
      >
        <Text>{consequence}</Text>
      </ConfirmButton>
    ),
  };
}

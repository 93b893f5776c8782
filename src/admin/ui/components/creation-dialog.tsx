import { Button, Stack, TextInput } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import type { OperationName } from '../api.ts';
import { useChange } from '../queries.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './loading.tsx';
import { Secret } from './secret.tsx';

/** A form that creates something with a secret, which is shown once. `children` are its fields; they stay after a failure. */
export function CreationDialog({
  title,
  action,
  create,
  refreshes,
  secretText,
  onClose,
  children,
}: {
  title: string;
  action: string;
  /** Returns the secret. */
  create: () => Promise<string>;
  refreshes: OperationName[];
  /** Says what the secret is for. */
  secretText: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const { data: secret, error, isPending, mutate } = useChange(create, { refreshes });
  return (
    <Dialog onClose={onClose} title={title}>
      {secret === undefined ? (
        <form onSubmit={submits(mutate)}>
          <Stack>
            <Failure error={error} />
            {children}
            <Button type="submit" loading={isPending}>
              {action}
            </Button>
          </Stack>
        </form>
      ) : (
        <Secret value={secret} onDone={onClose}>
          {secretText}
        </Secret>
      )}
    </Dialog>
  );
}

/** Makes the handler of a form whose submission stays on the page. */
export function submits(submit: () => void): (event: FormEvent) => void {
  return (event) => {
    event.preventDefault();
    submit();
  };
}

/** The name of what is created: the first field of the form. */
export function NameField({
  description,
  value,
  onChange,
}: {
  description: string;
  value: string;
  onChange: (name: string) => void;
}) {
  return (
    <TextInput
      label="Name"
      description={description}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      required
      data-autofocus
    />
  );
}

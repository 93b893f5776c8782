import { Alert, Button, Stack, TextInput } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Secret } from './secret.tsx';

/** A form that creates something with a secret, which is shown once. `children` are its fields; they stay after a failure. */
export function CreationDialog<T>({
  title,
  action,
  creation,
  secretOf,
  secretText,
  onClose,
  children,
}: {
  title: string;
  action: string;
  creation: UseMutationResult<T, Error, void>;
  secretOf: (created: T) => string;
  /** Says what the secret is for. */
  secretText: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const { data, error, isPending, mutate } = creation;
  return (
    <Dialog onClose={onClose} title={title}>
      {data === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            mutate();
          }}
        >
          <Stack>
            {error && (
              <Alert color="red" role="alert">
                {error.message}
              </Alert>
            )}
            {children}
            <Button type="submit" loading={isPending}>
              {action}
            </Button>
          </Stack>
        </form>
      ) : (
        <Secret value={secretOf(data)} onDone={onClose}>
          {secretText}
        </Secret>
      )}
    </Dialog>
  );
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

import { Button, type ModalProps, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import type { OperationName } from '../api.ts';
import { useChange } from '../queries.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './loading.tsx';
import { Secret } from './secret.tsx';

/** A dialog with a form. `children` are its fields; they stay after a failure, which gives the focus to the first faulty one. */
export function FormDialog({
  title,
  action,
  onSubmit,
  isPending = false,
  error = null,
  noValidate = false,
  onClose,
  children,
  ...dialog
}: Omit<ModalProps, 'opened' | 'onSubmit'> & {
  title: string;
  /** The label of the button. */
  action: string;
  onSubmit: () => void;
  isPending?: boolean;
  /** A failure that no field shows. */
  error?: Error | null;
  /** True if the service alone checks the fields, because it tells more than a browser. */
  noValidate?: boolean;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!isPending) focusField(form.current);
  }, [isPending]);
  return (
    <Dialog onClose={onClose} title={title} {...dialog}>
      <form ref={form} noValidate={noValidate} onSubmit={submits(onSubmit)}>
        <Stack>
          <Failure error={error} />
          {children}
          <Button type="submit" loading={isPending}>
            {action}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Gives the focus to the first faulty field; without one to the first field, if the button has lost the focus while it was disabled. */
function focusField(form: HTMLFormElement | null): void {
  const faulty = form?.querySelector<HTMLElement>(
    ':is(input, textarea):is([aria-invalid=true], [data-invalid])',
  );
  if (faulty) faulty.focus();
  else if (!form?.contains(document.activeElement))
    form?.querySelector<HTMLElement>('input, textarea')?.focus();
}

/** A form that creates something with a secret, which is shown once. */
export function CreationDialog({
  create,
  refreshes,
  secretText,
  ...form
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
  if (secret === undefined) return <FormDialog {...form} {...{ error, isPending }} onSubmit={mutate} />;
  return (
    <Dialog onClose={form.onClose} title={form.title}>
      <Secret value={secret} onDone={form.onClose}>
        {secretText}
      </Secret>
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

import {
  Button,
  type ButtonProps,
  Code,
  CopyButton,
  Group,
  Modal,
  type ModalProps,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { faultOf, type OperationName } from '../requests/api.ts';
import { useChange } from '../requests/queries.ts';
import { Failure } from './loading.tsx';
import type { Column } from './rows.tsx';

/** A dialog that is open as long as it is rendered. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useFocusReturn();
  return <Modal opened {...props} />;
}

interface DialogButtonProps extends Omit<ButtonProps, 'name' | 'children'> {
  label: string;
  /** The name for screen readers, where the label alone does not say which thing is meant. */
  name?: string;
  children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. `children` renders the dialog, and gets the function that closes it. */
export function DialogButton({ label, name, children, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        aria-haspopup="dialog"
        {...button}
        {...(name && { 'aria-label': name })}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

/**
 * Gives the focus back to the element that had it, when the component is removed. Mantine does so only for a dialog that
 * was rendered closed before.
 */
export function useFocusReturn(): void {
  const [opener] = useState(() => openerOf(document.activeElement));
  useEffect(() => () => opener?.focus(), [opener]);
}

/** An item of a menu is no longer there when the dialog closes; the button of the menu is. */
function openerOf(element: Element | null): HTMLElement | null {
  const button = element?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  if (button) return document.getElementById(button);
  return element instanceof HTMLElement ? element : null;
}

interface ConfirmProps<T> {
  title: string;
  action: string;
  change: () => Promise<T>;
  refreshes?: OperationName[] | undefined;
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
        <Answers {...{ action, isDestructive, onClose, error, isPending }} onConfirm={() => mutate()} />
      </Stack>
    </Dialog>
  );
}

interface AnswersProps {
  action: string;
  isDestructive?: boolean;
  error: Error | null;
  isPending: boolean;
  isDisabled?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** The answers to the question before a change, and why a change that was confirmed has failed. */
export function Answers({
  action,
  isDestructive = false,
  error,
  isPending,
  isDisabled = false,
  onConfirm,
  onClose,
}: AnswersProps) {
  return (
    <>
      <Failure error={error} title="Nothing was changed" />
      <Group justify="flex-end">
        <Button size="sm" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button
          variant="filled"
          size="sm"
          {...(isDestructive && { color: 'red.9' })}
          loading={isPending}
          disabled={isDisabled}
          onClick={onConfirm}
        >
          {action}
        </Button>
      </Group>
    </>
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

/** A column with a button that revokes the credential of the row. `kind` is e.g. `token`. */
export function revokeColumn(
  kind: string,
  { consequence, revoke }: { consequence: string; revoke: (id: string) => Promise<unknown> },
): Column<{ id: string; name: string }> {
  return {
    label: 'Revoke',
    isAction: true,
    cell: ({ id, name }) => (
      <ConfirmButton
        label="Revoke…"
        name={`Revoke ${name}`}
        button={{ size: 'compact-xs' }}
        title={`Revoke the ${kind} “${name}”?`}
        action={`Revoke ${name}`}
        change={() => revoke(id)}
        isDestructive
      >
        <Text size="md">{consequence}</Text>
      </ConfirmButton>
    ),
  };
}

/** A dialog with a form. `children` are its fields; they stay after a failure, which gives the focus to the first faulty one. */
export function FormDialog({
  title,
  action,
  change: { mutate, isPending = false, error = null },
  fields = [],
  noValidate = false,
  onClose,
  children,
  ...dialog
}: Omit<ModalProps, 'opened'> & {
  /** The label of the button. */
  action: string;
  change: { mutate: () => void; isPending?: boolean; error?: Error | null };
  /** The names of the fields that show their faults; any other failure is shown above the fields. */
  fields?: readonly string[];
  /** True if the service alone checks the fields, because it tells more than a browser. */
  noValidate?: boolean;
}) {
  const form = useRef<HTMLFormElement>(null);
  const attach = (element: HTMLFormElement | null) => {
    form.current = element;
    // The dialog gives the focus to it when it opens.
    element?.querySelector('input, textarea')?.setAttribute('data-autofocus', '');
  };
  useEffect(() => {
    if (!isPending) focusField(form.current);
  }, [isPending]);
  return (
    <Dialog onClose={onClose} title={title} {...dialog}>
      <form ref={attach} noValidate={noValidate} onSubmit={submits(mutate)}>
        <Stack>
          {!fields.some((field) => faultOf(error, field)) && <Failure error={error} />}
          {children}
          <Button variant="filled" size="sm" type="submit" loading={isPending}>
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

interface CreationDialogProps {
  title: string;
  action: string;
  /** Describes the name. */
  nameText: string;
  /** Returns the secret. */
  create: (name: string) => Promise<string>;
  /** Says what the secret is for. */
  secretText: (name: string) => string;
  onClose: () => void;
  children: ReactNode;
}

/** A form that creates something with a name and a secret, which is shown once. `children` are its other fields. */
export function CreationDialog({ nameText, create, secretText, children, ...form }: CreationDialogProps) {
  const [name, setName] = useState('');
  const creation = useChange(() => create(name));
  if (creation.data === undefined)
    return (
      <FormDialog {...form} change={creation}>
        <TextInput
          label="Name"
          description={nameText}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        {children}
      </FormDialog>
    );
  return (
    <Dialog onClose={form.onClose} title={form.title}>
      <Secret value={creation.data} onDone={form.onClose}>
        {secretText(name)}
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

interface SecretProps {
  value: string;
  children: ReactNode;
  onDone: () => void;
}

/** A secret that is shown only once, with a button that copies it and has the focus. `children` says what it is for. */
export function Secret({ value, children, onDone }: SecretProps) {
  // `data-autofocus` is for a dialog that opens with the secret; one in which it appears later has the effect.
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <Stack>
      <Text size="md">{children}</Text>
      <Group>
        <Code fz="md" style={{ overflowWrap: 'anywhere' }}>
          {value}
        </Code>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button ref={button} data-autofocus onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Button variant="filled" size="sm" onClick={onDone}>
        Done
      </Button>
    </Stack>
  );
}

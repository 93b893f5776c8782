import { Button, type ButtonProps, Modal, type ModalProps } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

/** A dialog that is open as long as it is rendered. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useFocusReturn();
  return <Modal opened {...props} />;
}

/** A button that opens a dialog. `children` renders the dialog, and gets the function that closes it. */
export function DialogButton({
  label,
  name,
  children,
  ...button
}: Omit<ButtonProps, 'name' | 'children'> & {
  label: string;
  /** The name for screen readers, where the label alone does not say which thing is meant. */
  name?: string;
  children: (close: () => void) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        {...{ size: 'xs', variant: 'default', 'aria-haspopup': 'dialog', ...button }}
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

import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';

/** A dialog that is open as long as it is rendered. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useFocusReturn();
  return <Modal opened {...props} />;
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

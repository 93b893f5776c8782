import { type HotkeyItem, useHotkeys } from '@mantine/hooks';

/** Keys that work everywhere on the page, but not while the user types, nor in an open dialog or menu. */
export function usePageKeys(keys: [key: string, action: () => void][]): void {
  useHotkeys(keys.map(([key, action]): HotkeyItem => [key, () => isOverlayOpen() || action()]));
}

function isOverlayOpen(): boolean {
  return document.querySelector('[role=dialog], [role=menu]') !== null;
}

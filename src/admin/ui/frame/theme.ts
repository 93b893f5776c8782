import { type CSSVariablesResolver, createTheme } from '@mantine/core';

/** The list of choices scrolls itself: the scrolled area that Mantine puts into it cannot be reached by keyboard. */
const choices = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: 220, overflowY: 'auto' as const } },
};

/** The look of the page, and what Mantine's components lack for accessibility. */
export const theme = createTheme({
  primaryColor: 'indigo',
  // Mantine's own dark shades are close to each other: text, muted text, borders, and the surfaces above the page are told apart here.
  colors: {
    dark: [
      ...(['#e8eaed', '#c1c6cf', '#a9afba', '#8b929e', '#3f454f'] as const),
      ...(['#343943', '#262a31', '#16181d', '#101216', '#0b0d10'] as const),
    ],
  },
  // Darker than Mantine's own shades: white text on them is easy to read.
  primaryShade: { light: 7, dark: 8 },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  components: {
    // The page is dense: a text is small, and a button is small and plain, unless it says otherwise.
    Text: { defaultProps: { size: 'sm' } },
    Button: { defaultProps: { size: 'xs', variant: 'default', fw: 500 } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', highlightOnHover: true } },
    // The colours of the titles have too little contrast in light mode.
    Alert: {
      defaultProps: { closeButtonLabel: 'Close' },
      styles: { title: { color: 'var(--mantine-color-text)' } },
    },
    Autocomplete: choices,
    MultiSelect: choices,
    // A choice is replaced by another one, and taken back only where there is a button for it.
    Select: { ...choices, defaultProps: { ...choices.defaultProps, allowDeselect: false } },
    // The placeholder has the focus when the menu opens, and is no item of a menu. Without it the menu itself has the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: {
      defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 600, overflowWrap: 'anywhere' } },
    },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // A header element outside of other sections is the banner of the page, which the frame has already.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
  },
});

/** The muted text and the errors of Mantine, and its links in a row under the pointer, have too little contrast (WCAG 2.2, 1.4.3). */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
  },
});

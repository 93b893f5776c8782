import '@mantine/core/styles.css';
import './page.css';
import { type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { Frame } from './frame.tsx';
import { queryClient, useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';

const theme = createTheme({
  primaryColor: 'indigo',
  // Darker than Mantine's own shades: white text on them is easy to read.
  primaryShade: { light: 7, dark: 8 },
  autoContrast: true,
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  components: {
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', highlightOnHover: true } },
    // The colours of the titles have too little contrast in light mode.
    Alert: {
      defaultProps: { closeButtonLabel: 'Close' },
      styles: { title: { color: 'var(--mantine-color-text)' } },
    },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
});

function Page() {
  const session = useSession();
  if (session === undefined) return null;
  return session ? <Frame session={session} /> : <SignIn />;
}

/** The muted text of Mantine, and its links in a row under the pointer, have too little contrast (WCAG 2.2, 1.4.3). */
const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-0)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
  },
});

const root = document.getElementById('root');
/** Set by the server; the components' style elements need it (Content-Security-Policy). */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
// Dialogs add a style element that stops the page behind them from scrolling; its package reads the nonce from this name.
Object.assign(window, { __webpack_nonce__: nonce });
if (root)
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => nonce ?? ''}
    >
      <QueryClientProvider client={queryClient}>
        <Router base="/admin">
          <Page />
        </Router>
      </QueryClientProvider>
    </MantineProvider>,
  );

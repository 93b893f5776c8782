import '@mantine/core/styles.css';
import './frame/page.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { Frame } from './frame/frame.tsx';
import { SignIn } from './frame/sign-in.tsx';
import { cssVariables, theme } from './frame/theme.ts';
import { queryClient } from './requests/queries.ts';
import { useSession } from './requests/session.ts';

function Page() {
  const session = useSession();
  if (session === undefined) return null;
  return session ? <Frame session={session} /> : <SignIn />;
}

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

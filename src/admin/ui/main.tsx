import '@mantine/core/styles.css';
import './page.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { Frame } from './frame.tsx';
import { queryClient, useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';

const theme = createTheme({
  primaryColor: 'indigo',
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  components: {
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', highlightOnHover: true } },
  },
});

function Page() {
  const session = useSession();
  if (session === undefined) return null;
  return session ? <Frame session={session} /> : <SignIn />;
}

const root = document.getElementById('root');
/** Set by the server; the components' style elements need it (Content-Security-Policy). */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
if (root)
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce ?? ''}>
      <QueryClientProvider client={queryClient}>
        <Router base="/admin">
          <Page />
        </Router>
      </QueryClientProvider>
    </MantineProvider>,
  );

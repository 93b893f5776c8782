import { Group, Text, Title } from '@mantine/core';
import type { OAuthClient, ScimToken } from '../../../contract/connect.ts';
import { call } from '../../api.ts';
import { revokeColumn } from '../../components/dialogs.tsx';
import { type Column, LoadedRows } from '../../components/rows.tsx';
import { StateBadge, Time } from '../../components/text.tsx';
import { useRead } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';

/** The tokens and OAuth clients that are not revoked. `withEnvironmentToken` are the connections that have another, unlisted token. */
export function Credentials({ withEnvironmentToken }: { withEnvironmentToken: string[] }) {
  const tokens = useRead('listTokens', {});
  const clients = useRead('listOAuthClients', {});
  const canChange = useIsAdmin();
  return (
    <>
      <Title order={2} size="h5" mt="lg" mb="xs">
        Bearer tokens
      </Title>
      <LoadedRows
        query={tokens}
        rowsOf={(data) => data.tokens.filter(({ state }) => state !== 'revoked')}
        label="Bearer tokens"
        columns={canChange ? [...tokenColumns, tokenRevocation] : tokenColumns}
        empty="There is no token. Choose an identity provider above to create one."
      />
      {withEnvironmentToken.length > 0 && (
        <Text c="dimmed" mt="xs">
          Not listed: the token that an environment variable gives to {withEnvironmentToken.join(', ')}.
        </Text>
      )}
      <Title order={2} size="h5" mt="lg" mb="xs">
        OAuth clients
      </Title>
      <LoadedRows
        query={clients}
        rowsOf={(data) => data.clients.filter(({ revokedAt }) => revokedAt === undefined)}
        label="OAuth clients"
        columns={canChange ? [...clientColumns, clientRevocation] : clientColumns}
        empty="There is no OAuth client. Entra ID can use one in place of a token."
      />
    </>
  );
}

const tokenRevocation = revokeColumn({
  label: 'Revoke',
  title: (name) => `Revoke the token “${name}”?`,
  consequence: 'Whoever uses it is refused from the next request on. This cannot be undone.',
  revoke: (id) => call('revokeToken', { id }),
});

const clientRevocation = revokeColumn({
  label: 'Revoke',
  title: (name) => `Revoke the OAuth client “${name}”?`,
  consequence:
    'Whoever uses it is refused from the next request on, also with the tokens that it got. This cannot be undone.',
  revoke: (id) => call('revokeOAuthClient', { id }),
});

const tokenColumns: Column<ScimToken>[] = [
  { label: 'Name', cell: ({ name }) => name },
  { label: 'Connection', cell: ({ connection }) => connection },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" /> },
  { label: 'Expires', cell: (token) => <Expiry token={token} /> },
];

function Expiry({ token: { expiresAt, state } }: { token: ScimToken }) {
  if (expiresAt === undefined) return 'never';
  return (
    <Group gap="xs" component="span">
      {state === 'expired' && <StateBadge mark={{ symbol: '✗', label: 'expired', color: 'red' }} />}
      <Time at={expiresAt} />
    </Group>
  );
}

const clientColumns: Column<OAuthClient>[] = [
  { label: 'Name', cell: ({ name }) => name },
  {
    label: 'Opens',
    cell: ({ connection, travelAdmin }) => connection ?? `the travel service as ${travelAdmin ?? ''}`,
  },
  { label: 'Proof', cell: ({ authentication }) => authentication },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Last token', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" /> },
];

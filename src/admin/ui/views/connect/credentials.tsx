import { Group, Text, Title } from '@mantine/core';
import type { OAuthClient, ScimToken } from '../../../contract/connect.ts';
import { call } from '../../api.ts';
import { revokeColumn } from '../../components/confirm.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
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
      <Loaded query={tokens}>
        {(data) => (
          <Rows
            label="Bearer tokens"
            rows={data.tokens.filter(({ state }) => state !== 'revoked')}
            keyOf={({ id }) => id}
            columns={canChange ? [...tokenColumns, tokenRevocation] : tokenColumns}
            empty="There is no token. Choose an identity provider above to create one."
          />
        )}
      </Loaded>
      {withEnvironmentToken.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          Not listed: the token that an environment variable gives to {withEnvironmentToken.join(', ')}.
        </Text>
      )}
      <Title order={2} size="h5" mt="lg" mb="xs">
        OAuth clients
      </Title>
      <Loaded query={clients}>
        {(data) => (
          <Rows
            label="OAuth clients"
            rows={data.clients.filter(({ revokedAt }) => revokedAt === undefined)}
            keyOf={({ id }) => id}
            columns={canChange ? [...clientColumns, clientRevocation] : clientColumns}
            empty="There is no OAuth client. Entra ID can use one in place of a token."
          />
        )}
      </Loaded>
    </>
  );
}

const tokenRevocation = revokeColumn({
  label: 'Revoke',
  title: (name) => `Revoke the token “${name}”?`,
  consequence: 'Whoever uses it is refused from the next request on. This cannot be undone.',
  revoke: (id) => call('revokeToken', { id }),
  refreshes: ['listTokens'],
});

const clientRevocation = revokeColumn({
  label: 'Revoke',
  title: (name) => `Revoke the OAuth client “${name}”?`,
  consequence:
    'Whoever uses it is refused from the next request on, also with the tokens that it got. This cannot be undone.',
  revoke: (id) => call('revokeOAuthClient', { id }),
  refreshes: ['listOAuthClients'],
});

const tokenColumns: Column<ScimToken>[] = [
  { label: 'Name', cell: ({ name }) => name },
  { label: 'Connection', cell: ({ connection }) => connection },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    label: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'),
  },
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
  {
    label: 'Last token',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'),
  },
];

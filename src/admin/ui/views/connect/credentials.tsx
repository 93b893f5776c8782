import { Button, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OAuthClient, ScimToken } from '../../../contract/connect.ts';
import { call } from '../../api.ts';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { useSession } from '../../session.ts';
import { ConfirmRevocation, type Revocation } from './revocation.tsx';

/** The tokens and OAuth clients that are not revoked. `withEnvironmentToken` are the connections that have another, unlisted token. */
export function Credentials({ withEnvironmentToken }: { withEnvironmentToken: string[] }) {
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: () => call('listTokens') });
  const clients = useQuery({
    queryKey: ['oauth-clients'],
    queryFn: () => call('listOAuthClients'),
  });
  const canChange = useSession()?.role === 'admin';
  const [revoked, setRevoked] = useState<Revocation>();
  const revokeColumn = (kind: Revocation['kind']) =>
    canChange
      ? [
          {
            label: 'Revoke',
            cell: ({ id, name }: { id: string; name: string }) => (
              <Button
                size="compact-xs"
                variant="default"
                aria-haspopup="dialog"
                aria-label={`Revoke ${name}`}
                onClick={() => setRevoked({ kind, id, name })}
              >
                Revoke…
              </Button>
            ),
          },
        ]
      : [];
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
            columns={[...tokenColumns, ...revokeColumn('token')]}
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
            columns={[...clientColumns, ...revokeColumn('client')]}
            empty="There is no OAuth client. Entra ID can use one in place of a token."
          />
        )}
      </Loaded>
      {revoked && <ConfirmRevocation revocation={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

const tokenColumns = [
  { label: 'Name', cell: ({ name }: ScimToken) => name },
  { label: 'Connection', cell: ({ connection }: ScimToken) => connection },
  { label: 'Created', cell: ({ createdAt }: ScimToken) => <Time at={createdAt} /> },
  {
    label: 'Last used',
    cell: ({ lastUsedAt }: ScimToken) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'),
  },
  { label: 'Expires', cell: (token: ScimToken) => <Expiry token={token} /> },
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

const clientColumns = [
  { label: 'Name', cell: ({ name }: OAuthClient) => name },
  {
    label: 'Opens',
    cell: ({ connection, travelAdmin }: OAuthClient) =>
      connection ?? `the travel service as ${travelAdmin ?? ''}`,
  },
  { label: 'Proof', cell: ({ authentication }: OAuthClient) => authentication },
  { label: 'Created', cell: ({ createdAt }: OAuthClient) => <Time at={createdAt} /> },
  {
    label: 'Last token',
    cell: ({ lastUsedAt }: OAuthClient) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'),
  },
];

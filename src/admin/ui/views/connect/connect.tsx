import { Card, SimpleGrid, Text, Title } from '@mantine/core';
import { Link, Redirect, Route, Switch } from 'wouter';
import type { Connection } from '../../../contract/connect.ts';
import { Copyable } from '../../components/copyable.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../queries.ts';
import { Credentials } from './credentials.tsx';
import { type ProviderKey, providers } from './providers.ts';
import { Wizard } from './wizard.tsx';

const providerKeys: ProviderKey[] = ['okta', 'entra', 'other'];

/** The view of the connections and their credentials, with a wizard for each kind of identity provider. */
export function ConnectView() {
  const connections = useRead('listConnections', {});
  return (
    <Loaded query={connections}>
      {(data) => (
        <Switch>
          {providerKeys.map((key) => (
            <Route key={key} path={`/${key}`}>
              <Wizard providerKey={key} {...data} />
            </Route>
          ))}
          <Route path="/">
            <Start connections={data.connections} />
          </Route>
          <Redirect to="/" replace />
        </Switch>
      )}
    </Loaded>
  );
}

function Start({ connections }: { connections: Connection[] }) {
  return (
    <>
      <ViewHead title="Connect">Which identity provider sends its people here?</ViewHead>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        {providerKeys.map((key) => (
          <Card key={key} component={Link} href={`/${key}`} withBorder padding="sm">
            <Text fw={600}>{providers[key].label} →</Text>
            <Text size="sm" c="dimmed">
              {providers[key].hint}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
      <Title order={2} size="h5" mt="lg" mb="xs">
        Connections
      </Title>
      <Rows label="Connections" rows={connections} keyOf={({ id }) => id} columns={columns} empty="" />
      <Credentials
        withEnvironmentToken={connections
          .filter(({ hasEnvironmentToken }) => hasEnvironmentToken)
          .map(({ id }) => id)}
      />
    </>
  );
}

const columns: Column<Connection>[] = [
  { label: 'Name', cell: ({ id }) => id },
  {
    label: 'SCIM base URL',
    cell: ({ scimUrl }) => <Copyable name="the SCIM base URL" text={scimUrl} />,
  },
  {
    label: 'Travel API',
    cell: ({ travelApi }) => (travelApi === 'embedded' ? 'the embedded service' : travelApi),
  },
  {
    label: 'Policies',
    cell: ({ policies }) => (
      <details>
        <summary>{policies.length} policies</summary>
        {policies.map((policy) => (
          <Text key={policy} size="sm">
            {policy}
          </Text>
        ))}
      </details>
    ),
  },
];

import { Alert, Card, Group, SimpleGrid, Text, Title } from '@mantine/core';
import { Link, Redirect, Route, Switch } from 'wouter';
import type { Connection } from '../../../contract/connect.ts';
import type { Result } from '../../api.ts';
import { Copyable } from '../../components/copyable.tsx';
import { DialogButton } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { ViewLink } from '../../components/text.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';
import { AddConnection } from './add-connection.tsx';
import { ConnectionView } from './connection.tsx';
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
          <Route path="/connections/:id">
            {({ id }) => (
              <ConnectionView id={id} connection={data.connections.find((one) => one.id === id)} />
            )}
          </Route>
          <Route path="/">
            <Start {...data} />
          </Route>
          <Redirect to="/" replace />
        </Switch>
      )}
    </Loaded>
  );
}

function Start({ connections, unserved }: Result<'listConnections'>) {
  const canChange = useIsAdmin();
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
      <Group justify="space-between" mt="lg" mb="xs">
        <Title order={2} size="h5">
          Connections
        </Title>
        {canChange && (
          <DialogButton label="Add a connection">{(close) => <AddConnection onClose={close} />}</DialogButton>
        )}
      </Group>
      {unserved.map(({ id, problems }) => (
        <Alert key={id} color="red" mb="sm" title={`✗ The stored connection ${id} is not served`}>
          {problems.join(' ')}
        </Alert>
      ))}
      <Rows label="Connections" rows={connections} keyOf={({ id }) => id} columns={columns} empty="" />
      <Credentials
        withEnvironmentToken={connections
          .filter(({ hasEnvironmentToken }) => hasEnvironmentToken)
          .map(({ id }) => id)}
      />
    </>
  );
}

const sourceTexts: Record<Connection['source'], string> = {
  file: 'the settings file',
  database: 'this page',
  demoDay: 'the demo day',
};

const columns: Column<Connection>[] = [
  {
    label: 'Name',
    cell: ({ id }) => <ViewLink href={`/connections/${encodeURIComponent(id)}`}>{id}</ViewLink>,
  },
  { label: 'From', cell: ({ source }) => sourceTexts[source] },
  {
    label: 'SCIM base URL',
    cell: ({ scimUrl }) => <Copyable name="the SCIM base URL" text={scimUrl} />,
  },
  {
    label: 'Travel API',
    cell: ({ travelApi }) => (travelApi === 'embedded' ? 'the embedded service' : travelApi),
  },
];

import { Alert, Card, Group, Select, SimpleGrid, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import type { Connection } from '../../../../operations/connections/connections.ts';
import type { OAuthClient, ScimToken } from '../../../../operations/credentials/credentials.ts';
import { modeTexts } from '../../../../provisioning/shadow/mode-texts.ts';
import { Copyable } from '../../components/buttons.tsx';
import { DialogButton, FormDialog, revokeColumn } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, LoadedRows, Rows } from '../../components/rows.tsx';
import { StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { call, faultOf, type Result } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { type Mode, modes } from '../shadow/mode.tsx';
import { ConnectionView } from './connection.tsx';
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
      <ViewHead title="Connections">Which identity provider sends its people here?</ViewHead>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        {providerKeys.map((key) => (
          <Card key={key} component={Link} href={`/${key}`} withBorder padding="sm">
            <Text size="md" fw={600}>
              {providers[key].label} →
            </Text>
            <Text c="dimmed">{providers[key].hint}</Text>
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
      <Rows label="Connections" rows={connections} columns={columns} />
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
};

const columns: Column<Connection>[] = [
  {
    label: 'Name',
    cell: ({ id }) => <ViewLink href={`/connections/${encodeURIComponent(id)}`}>{id}</ViewLink>,
  },
  { label: 'From', cell: ({ source }) => sourceTexts[source] },
  { label: 'SCIM base URL', cell: ({ scimUrl }) => <Copyable name="the SCIM base URL" text={scimUrl} /> },
  {
    label: 'Travel API',
    cell: ({ travelApi }) => (travelApi === 'embedded' ? 'the embedded service' : travelApi),
  },
];

/** Adds a connection, with the default policies, which can be changed then. */
export function AddConnection({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const service = useRead('describeTravelService', {});
  const [name, setName] = useState('');
  const [kind, setKind] = useState<string>();
  const [api, setApi] = useState({ url: '', keyEnv: 'TRAVEL_API_KEY', profile: 'jetbridge' });
  const hasEmbedded = service.data?.embedded ?? true;
  const isEmbedded = (kind ?? (hasEmbedded ? 'embedded' : 'other')) === 'embedded';
  const travelApi = isEmbedded ? { url: 'embedded' } : api;
  const [mode, setMode] = useState<Mode>('live');
  const change = useChange(() => call('addConnection', { name, travelApi, mode }), {
    onDone: () => navigate(`/connections/${name}`),
  });
  const input = (member: 'url' | 'keyEnv', label: string, description: string) => (
    <TextInput
      {...{ label, description }}
      value={api[member]}
      onChange={(event) => setApi({ ...api, [member]: event.currentTarget.value })}
      error={faultOf(change.error, `travelApi.${member}`)}
      required
    />
  );
  return (
    <FormDialog
      title="Add a connection"
      action="Add the connection"
      change={change}
      fields={['name', 'travelApi']}
      noValidate
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Small letters, digits and hyphens, e.g. okta. It cannot be changed"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={faultOf(change.error, 'name')}
        required
      />
      <Select
        label="Travel service"
        data={[
          { value: 'embedded', label: 'The embedded service', disabled: !hasEmbedded },
          { value: 'other', label: 'Another travel API' },
        ]}
        value={isEmbedded ? 'embedded' : 'other'}
        onChange={(chosen) => setKind(chosen ?? undefined)}
      />
      {!isEmbedded && (
        <>
          {input('url', 'URL', 'Without /api, e.g. https://travel.example.com')}
          {input(
            'keyEnv',
            'Variable with the credential',
            'The environment variable of the service. Its URL must be that of a connection of the settings file, or in the variable of this name with _URL at its end',
          )}
          <Select
            label="Kind of travel API"
            data={['jetbridge', 'generic-rest']}
            value={api.profile}
            onChange={(profile) => setApi({ ...api, profile: profile ?? api.profile })}
          />
        </>
      )}
      <Select
        label="Mode"
        description={modeTexts[mode].does}
        data={modes}
        value={mode}
        onChange={(chosen) => setMode(chosen ?? mode)}
      />
    </FormDialog>
  );
}

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

const tokenRevocation = revokeColumn('token', {
  consequence: 'Whoever uses it is refused from the next request on. This cannot be undone.',
  revoke: (id) => call('revokeToken', { id }),
});

const clientRevocation = revokeColumn('OAuth client', {
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

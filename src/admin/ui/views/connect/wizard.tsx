import {
  Button,
  Grid,
  Group,
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Copyable } from '../../components/buttons.tsx';
import { submits } from '../../components/dialogs.tsx';
import { Failure } from '../../components/loading.tsx';
import { PathCode } from '../../components/text.tsx';
import { toChoices } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { call, type Result } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { TrustWorkload } from './federation.tsx';
import { LiveCheck } from './live-check.tsx';
import {
  type FieldValue,
  isReachableUrl,
  type Method,
  type ProviderKey,
  providers,
  type Screen,
} from './providers.ts';

/** Each screen of a provider's console with the values to paste, and a check whether its test call arrives. */
export function Wizard({
  providerKey,
  connections,
  tokenEndpoint,
}: Result<'listConnections'> & { providerKey: ProviderKey }) {
  const provider = providers[providerKey];
  const [id, setId] = useState(connections[0]?.id ?? '');
  const [method, setMethod] = useState<Method>(provider.methods[0] ?? 'token');
  const [created, setCreated] = useState<NewCredential>();
  const scimUrl = connections.find((connection) => connection.id === id)?.scimUrl ?? '';
  const forget = () => setCreated(undefined);
  return (
    <>
      <ViewHead
        title={`Connect ${providerKey === 'other' ? 'an identity provider' : provider.label}`}
        back={{ href: '/', label: 'Connections' }}
      >
        Go through the screens of its console, paste the values, and see the test call arrive.
      </ViewHead>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            {!isReachableUrl(scimUrl) && <NotReachable url={scimUrl} />}
            {connections.length > 1 && (
              <Select
                label="Connection"
                data={connections.map((connection) => connection.id)}
                value={id}
                onChange={(chosen) => {
                  setId(chosen ?? id);
                  forget();
                }}
              />
            )}
            {provider.methods.length > 1 && (
              <SegmentedControl
                aria-label="How it proves who it is"
                data={methods}
                value={method}
                onChange={(chosen) => {
                  setMethod(provider.methods.find((one) => one === chosen) ?? 'token');
                  forget();
                }}
              />
            )}
            {provider.screens({ connection: id, scimUrl, tokenEndpoint }, method).map((screen, index) => (
              <ScreenCard key={screen.title} screen={screen} number={index + 1} created={created}>
                {screen.showsWorkload ? (
                  <TrustWorkload key={id} connection={id} isEntra={providerKey === 'entra'} />
                ) : (
                  <CreateCredential
                    key={`${id} ${method}`}
                    connection={id}
                    method={method}
                    suggestedName={providerKey === 'other' ? 'identity provider' : providerKey}
                    onCreated={setCreated}
                  />
                )}
              </ScreenCard>
            ))}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <LiveCheck key={id} connection={id} caller={provider.caller} method={method} />
        </Grid.Col>
      </Grid>
    </>
  );
}

const methods = toChoices({ token: 'Bearer token', client: 'OAuth client', federation: 'Without a secret' });

function NotReachable({ url }: { url: string }) {
  return (
    <Paper className="note" withBorder>
      <Text fw={500}>⚠ This address works on this machine or network only</Text>
      <Text>
        Identity providers in the cloud need https and a public host name, not <PathCode text={url} />. Set
        PUBLIC_URL, with a certificate of a public authority.
      </Text>
    </Paper>
  );
}

interface ScreenCardProps {
  screen: Screen;
  number: number;
  created: NewCredential | undefined;
  children: ReactNode;
}

/** `children` is the form that makes the secrets, or takes the workload. It stands at the first field that needs one. */
function ScreenCard({ screen, number, created, children }: ScreenCardProps) {
  const { title, text, fields, showsWorkload } = screen;
  const canChange = useIsAdmin();
  const first = fields.find(({ value }) => typeof value !== 'string');
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} size="h5">
        {number}. {title}
      </Title>
      <Text mb="xs">{text}</Text>
      <Stack component="dl" gap="xs" m={0}>
        {fields.map((field) => (
          <div key={field.label}>
            <Text component="dt" size="xs" c="dimmed">
              {field.label}
            </Text>
            <Text component="dd" m={0}>
              <Field field={field} created={created} />
            </Text>
          </div>
        ))}
      </Stack>
      {first && created && (
        <Text mt="xs" fw={600}>
          ⚠ It is shown only now: paste it before you leave this page.
        </Text>
      )}
      {(showsWorkload || (first && !created)) && (
        <div style={{ marginTop: 12 }}>
          {canChange ? children : <Text>Ask an admin to create it: your role is viewer.</Text>}
        </div>
      )}
    </Paper>
  );
}

function Field({
  field: { label, value, isPasted },
  created,
}: {
  field: FieldValue;
  created: NewCredential | undefined;
}) {
  if (typeof value === 'string') return isPasted === false ? value : <Copyable name={label} text={value} />;
  const secrets: Record<string, string> = created ?? {};
  const secret = secrets[value.secret];
  return secret === undefined ? 'not created yet' : <Copyable name={label} text={secret} />;
}

/** A credential that was created in the wizard. Its secret is shown until the wizard is left, and cannot be read again. */
export type NewCredential = { token: string } | { clientId: string; clientSecret: string };

interface CreateCredentialProps {
  connection: string;
  method: Method;
  suggestedName: string;
  onCreated: (credential: NewCredential) => void;
}

/** Creates a token or an OAuth client with a secret. */
export function CreateCredential({ connection, method, suggestedName, onCreated }: CreateCredentialProps) {
  const [name, setName] = useState(suggestedName);
  const [days, setDays] = useState('0');
  const creation = useChange(() => create({ connection, name }, method, Number(days)), { onDone: onCreated });
  return (
    <form onSubmit={submits(creation.mutate)}>
      <Failure error={creation.error} mb="xs" />
      <Group align="flex-end" gap="xs">
        <TextInput
          size="xs"
          label="Name, for your own use"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        {method === 'token' && (
          <Select
            size="xs"
            label="Expires"
            data={expiries}
            value={days}
            onChange={(chosen) => setDays(chosen ?? '0')}
          />
        )}
        <Button variant="filled" type="submit" loading={creation.isPending}>
          {method === 'token' ? 'Create a token' : 'Create an OAuth client'}
        </Button>
      </Group>
    </form>
  );
}

const expiries = toChoices({ '0': 'never', '90': 'in 90 days', '365': 'in a year' });

async function create(
  request: { connection: string; name: string },
  method: Method,
  days: number,
): Promise<NewCredential> {
  if (method === 'token') {
    const { token } = await call('createToken', { ...request, ...(days > 0 ? { days } : {}) });
    return { token };
  }
  const { clientId, clientSecret = '' } = await call('createOAuthClient', request);
  return { clientId, clientSecret };
}

import { Button, Code, CopyButton, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import { keepPreviousData } from '@tanstack/react-query';
import type { ExchangeDetail } from '../../../../operations/traffic/traffic.ts';
import { Loaded } from '../../components/loading.tsx';
import { Rows } from '../../components/rows.tsx';
import { Breakable, Dim, LoggedBody, Section, Time } from '../../components/text.tsx';
import { durationText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../requests/queries.ts';
import { columns, Outcome, PersonLink, Who } from './columns.tsx';
import { curlText } from './curl.ts';
import { compareBodies } from './differences.ts';
import { useExchangeLog } from './query.ts';
import { SaveScenarioButton } from './save-scenario.tsx';
import { pathText } from './texts.ts';

/** A request and its response with all that the log keeps. */
export function ExchangePage({ position }: { position: string }) {
  const exchange = useRead('getExchange', { id: position }, { placeholderData: keepPreviousData });
  return <Loaded query={exchange}>{(data) => <Exchange exchange={data} />}</Loaded>;
}

function Exchange({ exchange }: { exchange: ExchangeDetail }) {
  const { method, path, request, response, related, direction } = exchange;
  const isScim = direction === 'scim';
  const none =
    method === 'GET' ? 'No body, or it was not kept: bodies of reads are kept only on request.' : 'No body.';
  return (
    <Stack gap="lg">
      <div>
        <ViewHead
          title={`${method} ${pathText(path).split('?')[0]}`}
          back={{ href: '/', label: 'Traffic' }}
          actions={<Actions exchange={exchange} />}
        />
        <Facts exchange={exchange} />
      </div>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <LoggedBody title="Request" body={request.body} none={none}>
          <Headers headers={request.headers} />
        </LoggedBody>
        <LoggedBody title="Response" body={response.body} none={none}>
          <Headers headers={response.headers} />
        </LoggedBody>
      </SimpleGrid>
      {isScim && method !== 'GET' && <Differences exchange={exchange} />}
      {related.length > 0 && (
        <section aria-label="Of the same request">
          <Title order={2} size="h5" mb="xs">
            {isScim ? 'Calls that this request caused' : 'The request that caused this call'}
          </Title>
          <Rows
            label="Exchanges of the same request"
            rows={related}
            keyOf={(one) => one.position}
            columns={columns}
          />
        </section>
      )}
    </Stack>
  );
}

function Facts({ exchange }: { exchange: ExchangeDetail }) {
  const { at, ms, path, requestId, error, status } = exchange;
  return (
    <Stack gap={4}>
      <Group gap="sm">
        <Outcome {...exchange} />
        <Text>{durationText(ms)}</Text>
        <Text>
          <Time at={at} />
        </Text>
        <Who {...exchange} />
        <PersonLink {...exchange} />
      </Group>
      {status !== undefined && error !== undefined && (
        <Text>
          Error: <Code>{error}</Code>
        </Text>
      )}
      {path.includes('?') && (
        <Text ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          <Breakable text={pathText(path.slice(path.indexOf('?')))} />
        </Text>
      )}
      {requestId !== undefined && (
        <Text size="xs" c="dimmed">
          Request id {requestId}
        </Text>
      )}
    </Stack>
  );
}

const MINUTES_MS = 5 * 60_000;

function Actions({ exchange }: { exchange: ExchangeDetail }) {
  const connections = useExchangeLog().data?.connections ?? [];
  const { direction, connection, person, at } = exchange;
  const travelUrl = connections.find(({ id }) => id === connection)?.travelUrl;
  const origin = (direction === 'travel' && travelUrl) || window.location.origin;
  const around = (ms: number) => new Date(new Date(at).getTime() + ms).toISOString();
  const start = {
    ...(connection !== undefined && { connection }),
    ...(person && { person: person.id }),
    since: around(-MINUTES_MS),
    until: around(MINUTES_MS),
  };
  return (
    <Group gap="xs">
      <CopyButton value={curlText(exchange, new URL(origin).origin)}>
        {({ copied, copy }) => (
          <Button leftSection={<IconCopy size={14} />} onClick={copy}>
            {copied ? 'Copied' : 'Copy as curl'}
          </Button>
        )}
      </CopyButton>
      {direction === 'scim' && connection !== undefined && <SaveScenarioButton start={start} />}
    </Group>
  );
}

function Headers({ headers }: { headers: ExchangeDetail['request']['headers'] }) {
  return (
    <Stack gap={0} mb="xs">
      {Object.entries(headers).map(([name, value]) => (
        <Text key={name} size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          <Text span inherit c="dimmed">
            {name}:
          </Text>{' '}
          <Breakable text={value} />
        </Text>
      ))}
    </Stack>
  );
}

/** The body of a write beside the resource that the bridge keeps. */
function Differences({ exchange: { request, response } }: { exchange: ExchangeDetail }) {
  const differences = compareBodies(request.body?.text, response.body?.text);
  if (!differences) return null;
  return (
    <Section title="What came and what was kept">
      {differences.length === 0 ? (
        <Dim>✓ All that came was kept as it came.</Dim>
      ) : (
        <Table.ScrollContainer minWidth={320}>
          <Table
            aria-label="Differences"
            data={{
              head: ['Attribute', 'Came', 'Kept'],
              body: differences.map(({ path, came, kept }) => [
                <Text key="path" span ff="monospace" size="xs">
                  {path}
                </Text>,
                came === undefined ? '–' : <Code key="came">{came}</Code>,
                kept === undefined ? '✗ not kept' : <Code key="kept">{kept}</Code>,
              ]),
            }}
          />
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

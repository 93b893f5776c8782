import { Alert, Anchor, Code, List, Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Loaded } from '../../components/loading.tsx';
import { TabList, ViewHead } from '../../components/view-head.tsx';
import type { Result } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { ApiKeys } from './api-keys.tsx';
import { Invoices } from './invoices.tsx';
import { Events, Requests } from './requests.tsx';
import { SampleData } from './sample-data.tsx';
import { Trips } from './trips.tsx';
import { Webhooks } from './webhooks.tsx';

type Service = Result<'describeTravelService'>;

/** The embedded travel service for those who write integrations with it. */
export function TravelView() {
  const service = useRead('describeTravelService', {});
  return (
    <>
      <ViewHead
        title="Travel service"
        actions={
          service.data?.embedded && (
            <Anchor href="/api/docs" target="_blank">
              API documents
            </Anchor>
          )
        }
      >
        What developers of integrations need, and what the embedded travel service holds.
      </ViewHead>
      <Loaded query={service}>
        {(data) => (data.embedded ? <Parts {...data} /> : <Elsewhere others={data.others} />)}
      </Loaded>
    </>
  );
}

/** The tabs in their order. Each has an address of its own. */
const parts = {
  keys: 'API keys',
  webhooks: 'Webhooks',
  requests: 'Requests',
  events: 'Events',
  trips: 'Trips',
  invoices: 'Invoices',
  'sample-data': 'Sample data',
};

function Parts({ admins, eventKinds }: Pick<Service, 'admins' | 'eventKinds'>) {
  const [address, navigate] = useLocation();
  const part = Object.keys(parts).find((one) => address.startsWith(`/${one}`)) ?? 'keys';
  const contents: Record<keyof typeof parts, ReactNode> = {
    keys: <ApiKeys admins={admins} />,
    webhooks: <Webhooks kinds={eventKinds} />,
    requests: <Requests />,
    events: <Events />,
    trips: <Trips />,
    invoices: <Invoices />,
    'sample-data': <SampleData />,
  };
  return (
    <Tabs value={part} onChange={(chosen) => navigate(`/${chosen}`)} keepMounted={false}>
      <TabList labels={parts} />
      {Object.entries(contents).map(([value, content]) => (
        <Tabs.Panel key={value} value={value}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function Elsewhere({ others }: Pick<Service, 'others'>) {
  return (
    <Alert color="gray" title="No connection uses the embedded travel service">
      Its keys, webhooks, trips and invoices are where the travel service is:
      <List mt="xs" size="sm">
        {others.map(({ connection, url }) => (
          <List.Item key={connection}>
            {connection}: <Code>{url}</Code>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

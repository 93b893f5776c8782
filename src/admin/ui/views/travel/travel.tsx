import { Alert, Anchor, Code, List, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { Loaded } from '../../components/loading.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { api, call } from '../../session.ts';
import { ApiKeys } from './api-keys.tsx';
import { Events } from './events.tsx';
import { Requests } from './requests.tsx';
import { Webhooks } from './webhooks.tsx';

/** The embedded travel service for those who write integrations with it. */
export function TravelView() {
  const service = useQuery({
    queryKey: ['travel'],
    queryFn: () => call(api.travelService.describeTravelService()),
  });
  return (
    <>
      <ViewHead
        title="Travel service"
        actions={
          service.data?.embedded && (
            <Anchor href="/api/docs" target="_blank" size="sm">
              API documents
            </Anchor>
          )
        }
      >
        What developers of integrations need: keys, webhooks, requests and events.
      </ViewHead>
      <Loaded query={service}>
        {(data) => (data.embedded ? <Parts admins={data.admins} /> : <Elsewhere others={data.others} />)}
      </Loaded>
    </>
  );
}

const parts = ['keys', 'webhooks', 'requests', 'events'] as const;

/** Each tab has an address of its own. */
function Parts({ admins }: { admins: string[] }) {
  const [address, navigate] = useLocation();
  const part = parts.find((one) => address.startsWith(`/${one}`)) ?? 'keys';
  return (
    <Tabs value={part} onChange={(chosen) => navigate(`/${chosen}`)} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="keys">API keys</Tabs.Tab>
        <Tabs.Tab value="webhooks">Webhooks</Tabs.Tab>
        <Tabs.Tab value="requests">Requests</Tabs.Tab>
        <Tabs.Tab value="events">Events</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="keys">
        <ApiKeys admins={admins} />
      </Tabs.Panel>
      <Tabs.Panel value="webhooks">
        <Webhooks />
      </Tabs.Panel>
      <Tabs.Panel value="requests">
        <Requests />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <Events />
      </Tabs.Panel>
    </Tabs>
  );
}

function Elsewhere({ others }: { others: { connection: string; url: string }[] }) {
  return (
    <Alert color="gray" title="No connection uses the embedded travel service">
      Its keys, webhooks and requests are managed where the travel service is:
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

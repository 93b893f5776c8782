import { Anchor, Box, Group, NavLink, Select } from '@mantine/core';
import { useMemo } from 'react';
import { Link, Redirect, useLocation } from 'wouter';
import { Loaded } from '../../components/loading.tsx';
import { useIsNarrow } from '../../components/narrow.ts';
import { PlaceTabs, ViewHead } from '../../components/view-head.tsx';
import type { Result } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { useTravel } from '../../requests/travel.ts';
import { ApiKeys } from './api-keys.tsx';
import { describeApi, type Kind, type OpenApi, topKinds } from './description.ts';
import { ResourceDetail } from './detail.tsx';
import { Lists } from './lists.tsx';
import { Requests } from './requests.tsx';
import { SampleData } from './sample-data.tsx';
import { ResourceTable } from './table.tsx';
import { DescriptionContext, useDescription } from './values.tsx';

/** What the travel service holds, and what developers of integrations need. */
export function TravelDataView() {
  const service = useRead('describeTravelService', {});
  return (
    <Loaded query={service}>
      {(data) => (data.embedded ? <Described {...data} /> : <Parts {...data} />)}
    </Loaded>
  );
}

type Service = Result<'describeTravelService'>;

function Described(service: Service) {
  const document = useTravel<OpenApi>('/openapi.json', { staleTime: Number.POSITIVE_INFINITY });
  const description = useMemo(() => document.data && describeApi(document.data), [document.data]);
  return (
    <Loaded query={document}>
      {() =>
        description && (
          <DescriptionContext value={description}>
            <Parts {...service} />
          </DescriptionContext>
        )
      }
    </Loaded>
  );
}

/** The places in their order. Each has an address of its own; all other addresses are those of resources. */
const ownParts = {
  users: 'Resources',
  webhooks: 'Webhooks',
  keys: 'API keys',
  requests: 'Requests',
  'sample-data': 'Sample data',
};

function Parts({ embedded, others, admins }: Service) {
  const [address] = useLocation();
  const [, first = ''] = address.split('/');
  const labels: Record<string, string> = {
    ...(embedded && ownParts),
    ...Object.fromEntries(others.map(({ connection }) => [`lists/${connection}`, `Lists of ${connection}`])),
  };
  const all = Object.keys(labels);
  const part = all.find((one) => `${address}/`.startsWith(`/${one}/`)) ?? (embedded ? 'users' : undefined);
  const isFirst = first === '' && all[0] !== undefined;
  if (part === undefined || isFirst) return <Redirect to={`/${all[0]}`} replace />;
  const other = others.find(({ connection }) => part === `lists/${connection}`);
  return (
    <>
      <PlaceTabs
        places={all.map((one) => ({ href: `/${one}`, label: labels[one] ?? '', isHere: one === part }))}
      />
      <ViewHead
        title="Travel data"
        actions={
          embedded && (
            <Anchor href="/api/docs" target="_blank">
              API documents
            </Anchor>
          )
        }
      />
      {part === 'keys' && <ApiKeys admins={admins} />}
      {part === 'requests' && <Requests />}
      {part === 'sample-data' && <SampleData />}
      {other && <Lists {...other} place={address.slice(part.length + 2)} />}
      {(part === 'users' || part === 'webhooks') && <Resources address={address} />}
    </>
  );
}

/** The resources of the type that the address names, one of them, or one that belongs to it. */
function Resources({ address }: { address: string }) {
  const description = useDescription();
  const [, list, id, part, partId] = address.split('/').map(decodeURIComponent);
  const path = part === undefined ? `/${list}` : `/${list}/${id}/${part}`;
  const template = part === undefined ? path : `/${list}/{id}/${part}`;
  const kind = [...description.kinds.values()].find((one) => one.path === template);
  if (!kind) return <Redirect to="/users" replace />;
  const itemId = part === undefined ? id : partId;
  const content =
    itemId === undefined ? (
      <ResourceTable key={path} kind={kind} path={path} />
    ) : (
      <ResourceDetail key={`${path}/${itemId}`} kind={kind} path={path} id={itemId} />
    );
  if (list === 'webhooks') return content;
  return (
    <WithKinds kinds={topKinds(description)} list={`/${list}`}>
      {content}
    </WithKinds>
  );
}

/** The types of resources beside one of them; on a narrow screen above it. */
function WithKinds({ kinds, list, children }: { kinds: Kind[]; list: string; children: React.ReactNode }) {
  const [, navigate] = useLocation();
  const isNarrow = useIsNarrow();
  const shown = kinds.filter(({ path }) => path !== '/webhooks');
  if (isNarrow)
    return (
      <>
        <Select
          aria-label="Resources"
          mb="sm"
          data={shown.map(({ path, label }) => ({ value: path, label }))}
          value={list}
          onChange={(path) => path && navigate(path)}
        />
        {children}
      </>
    );
  return (
    <Group align="flex-start" wrap="nowrap" gap="lg">
      <Box component="nav" aria-label="Resources" w={170} style={{ flexShrink: 0 }}>
        {shown.map(({ path, label }) => (
          <NavLink
            key={path}
            component={Link}
            href={path}
            label={label}
            active={path === list}
            c="var(--mantine-color-text)"
            aria-current={path === list ? 'page' : undefined}
            py={4}
          />
        ))}
      </Box>
      <Box miw={0} style={{ flex: 1 }}>
        {children}
      </Box>
    </Group>
  );
}

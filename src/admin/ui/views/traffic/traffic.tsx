import { Affix, Box, Button, Code, Group, Menu, Stack, Text, Title } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Route, Switch } from 'wouter';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import { Failure, Loaded } from '../../components/loading.tsx';
import { useIsNarrow } from '../../components/narrow.ts';
import { OlderButton } from '../../components/rows.tsx';
import { clockText, exactClockText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { call } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { columns, ExchangeCard } from './columns.tsx';
import { ExchangePage } from './exchange.tsx';
import { TrafficFilters } from './filters.tsx';
import { type TrafficFilter, useExchangeLog, useTraffic, useTrafficFilter } from './query.ts';
import { SaveScenarioButton } from './save-scenario.tsx';

/** The view Traffic: requests of IdPs, and the bridge's calls to travel services. */
export function TrafficView() {
  return (
    <Switch>
      <Route path="/:position">{({ position }) => <ExchangePage position={position} />}</Route>
      <Route component={TrafficList} />
    </Switch>
  );
}

function TrafficList() {
  const [filter, change] = useTrafficFilter();
  const [isPaused, setPaused] = useState(false);
  const isNarrow = useIsNarrow();
  return (
    <>
      <ViewHead
        title="Traffic"
        actions={
          <Group gap="xs" justify="flex-end">
            {!isNarrow && <ReadBodies />}
            {!isNarrow && <SaveScenarioButton start={filter} />}
            <PauseButton isPaused={isPaused} onChange={setPaused} />
          </Group>
        }
      >
        {!isNarrow && 'Requests of identity providers and calls to travel services, the newest first.'}
      </ViewHead>
      <TrafficFilters filter={filter} onChange={change} />
      <Exchanges key={JSON.stringify(filter)} filter={filter} isPaused={isPaused} />
    </>
  );
}

function PauseButton({ isPaused, onChange }: { isPaused: boolean; onChange: (isPaused: boolean) => void }) {
  return (
    <Button
      w={110}
      leftSection={isPaused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
      onClick={() => onChange(!isPaused)}
    >
      {isPaused ? 'Continue' : 'Pause'}
    </Button>
  );
}

function Exchanges({ filter, isPaused }: { filter: TrafficFilter; isPaused: boolean }) {
  const { pages, news, hasFullPage, readOlder } = useTraffic(filter, isPaused);
  const { shown, waiting, show } = useSteadyNews(news.data?.exchanges ?? []);
  return (
    <>
      <Failure error={news.error} mb="md" title="New exchanges could not be read">
        {' '}
        The list is tried again every two seconds.
      </Failure>
      <Liveness
        at={news.dataUpdatedAt || pages.dataUpdatedAt}
        isPaused={isPaused}
        isPast={filter.until !== undefined}
      />
      {waiting > 0 && <NewsButton count={waiting} onClick={show} />}
      <Loaded query={pages}>
        {(data) => (
          <VirtualRows
            label="Exchanges"
            rows={[...shown, ...data.pages.flatMap((page) => page.exchanges)]}
            keyOf={({ position }) => position}
            columns={columns}
            cardOf={(exchange) => <ExchangeCard {...exchange} />}
            onEnd={readOlder}
            empty={pages.hasNextPage ? 'Nothing found so far.' : <NothingYet filter={filter} />}
          />
        )}
      </Loaded>
      {!hasFullPage && <OlderButton query={pages}>Look further back</OlderButton>}
    </>
  );
}

/** Tells up to when the list is complete. It changes with each reading, so that the relative times of the list stay true. */
function Liveness({ at, isPaused, isPast }: { at: number; isPaused: boolean; isPast: boolean }) {
  if (at === 0) return null;
  const time = exactClockText(at);
  const isLive = !isPaused && !isPast;
  return (
    <Text size="xs" c="dimmed" mb={4}>
      {isLive ? `● Live, read at ${time}` : `${isPaused ? '‖ Paused' : 'Not live'}, read at ${time}`}
    </Text>
  );
}

/** Above this distance from the top, in pixels, the reader is not at the beginning of the list. */
const AT_TOP = 120;

/** New exchanges are shown at once at the top of the page. Further down they wait, so that nothing moves under the reader. */
function useSteadyNews(exchanges: Exchange[]): { shown: Exchange[]; waiting: number; show: () => void } {
  const [count, setCount] = useState(0);
  const total = exchanges.length;
  useEffect(() => {
    if (window.scrollY < AT_TOP) setCount(total);
  }, [total]);
  return {
    shown: exchanges.slice(total - Math.min(count, total)),
    waiting: total - Math.min(count, total),
    show: () => {
      setCount(total);
      window.scrollTo({ top: 0 });
    },
  };
}

function NewsButton({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <Affix position={{ top: 60, left: '50%' }}>
      <Button variant="filled" radius="xl" style={{ transform: 'translateX(-50%)' }} onClick={onClick}>
        ↑ {count} new
      </Button>
    </Affix>
  );
}

/** Says why nothing is listed, and how to send a first request. */
function NothingYet({ filter }: { filter: TrafficFilter }) {
  const log = useExchangeLog().data;
  if (Object.keys(filter).length > 0)
    return 'No exchange matches these filters. Older ones may have been deleted.';
  if (log?.keepDays === 0)
    return 'The settings disable the log of exchanges. Set requestLog.keepDays to 1 or more.';
  const command = [
    `curl '${window.location.origin}/scim/v2/Users' \\`,
    '  -H "Authorization: Bearer $SCIM_TOKEN" -H \'Content-Type: application/scim+json\' \\',
    `  -d '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"grace@corp.example"}'`,
  ].join('\n');
  return (
    <Stack component="span" gap="xs" display="flex">
      <Title order={2} size="h4" component="span" c="var(--mantine-color-text)">
        Nothing has been sent yet
      </Title>
      <span>
        Start provisioning in your identity provider, or send a first request from a terminal. SCIM_TOKEN is
        the token that the first start of the service printed; npx jetbridge tokens create makes another one.
      </span>
      <Box component="span" display="block">
        <Code block component="span" display="block">
          {command}
        </Code>
      </Box>
      <span>It appears here within two seconds, with the call to the travel service that it causes.</span>
    </Stack>
  );
}

const lengths = [
  { minutes: 15, label: '15 minutes' },
  { minutes: 60, label: '1 hour' },
  { minutes: 24 * 60, label: '1 day' },
];

/** Keeps the bodies of reads, which are left out of the log otherwise, for a time. */
export function ReadBodies() {
  const log = useExchangeLog();
  const canChange = useIsAdmin();
  // A little less, because the clock of the browser can be ahead of that of the service.
  const end = (minutes: number) => new Date(Date.now() + minutes * 60_000 - 30_000).toISOString();
  const keeping = useChange(
    ({ connection, minutes }: { connection: string; minutes: number }) =>
      call('keepReadBodies', { connection, until: end(minutes) }),
    { refreshes: ['describeExchangeLog'] },
  );
  const connections = log.data?.connections ?? [];
  const kept = connections.filter(({ readBodiesUntil }) => readBodiesUntil !== undefined);
  if (!canChange || connections.length === 0) return null;
  return (
    <>
      {keeping.error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {keeping.error.message}
        </Text>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant={kept.length > 0 ? 'light' : 'default'}>
            {kept.length > 0
              ? `Bodies of reads kept ${untilText(kept[0]?.readBodiesUntil)}`
              : 'Keep bodies of reads…'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown maw={280}>
          <Text size="xs" c="dimmed" p="xs">
            Bodies of writes and of errors are always kept. Those of other reads take much space; keep them
            for a time to see what an IdP reads.
          </Text>
          {connections.map(({ id }) => (
            <div key={id}>
              {connections.length > 1 && <Menu.Label>{id}</Menu.Label>}
              {lengths.map(({ minutes, label }) => (
                <Menu.Item key={minutes} onClick={() => keeping.mutate({ connection: id, minutes })}>
                  Keep for {label}
                </Menu.Item>
              ))}
            </div>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

function untilText(time: string | undefined): string {
  return time === undefined ? '' : `until ${clockText(new Date(time).getTime())}`;
}

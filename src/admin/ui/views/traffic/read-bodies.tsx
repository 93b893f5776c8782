import { Button, Menu, Text } from '@mantine/core';
import { call } from '../../api.ts';
import { clockText } from '../../components/time-texts.ts';
import { useChange } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';
import { useExchangeLog } from './query.ts';

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
          <Button size="xs" variant={kept.length > 0 ? 'light' : 'default'}>
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

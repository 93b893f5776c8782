import { SegmentedControl, Skeleton, Text, VisuallyHidden } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { ListedActivityCounts } from '../../../../operations/overview.ts';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { clockText, countText, numberText, sinceText, toChoices } from '../../components/texts.ts';
import { useRead } from '../../requests/queries.ts';
import { Panel } from './panel.tsx';
import { READ_EVERY_MS } from './state.ts';

const ActivityChart = lazy(() => import('./chart.tsx').then((file) => ({ default: file.ActivityChart })));

/** The height of a chart, in pixels; it is kept free while the chart loads. */
const HEIGHT = 150;

/** The interval at which the numbers are read again while the log is being counted, in milliseconds. */
const READ_SOON_MS = 1_000;

type Span = 'hour' | 'day';

/** Requests, calls and their errors of the last hour or day. */
export function ActivityPanel() {
  const [span, setSpan] = useState<Span>('hour');
  const activity = useRead(
    'readActivity',
    {},
    {
      refetchInterval: ({ state: { data } }) =>
        data && isPartial(data.day, data.completeSince) ? READ_SOON_MS : READ_EVERY_MS,
    },
  );
  return (
    <Panel
      title="Traffic"
      action={
        <SegmentedControl
          size="xs"
          aria-label="Time of the charts"
          value={span}
          onChange={(value) => setSpan(value === 'day' ? 'day' : 'hour')}
          data={toChoices({ hour: 'Last hour', day: 'Last day' })}
        />
      }
    >
      <Loaded query={activity}>
        {({ isLogged, completeSince, ...counts }) =>
          isLogged ? (
            <Charts spans={counts[span]} completeSince={completeSince} />
          ) : (
            <Text c="dimmed">
              The settings disable the log of exchanges (requestLog.keepDays), from which this is counted.
            </Text>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Charts({ spans, completeSince }: { spans: ListedActivityCounts[]; completeSince: string }) {
  return (
    <>
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={HEIGHT} animate={false} />}>
          <ActivityChart spans={spans} height={HEIGHT} />
        </Suspense>
      </div>
      <Text>{totalsText(spans)}</Text>
      {isPartial(spans, completeSince) && (
        <Text size="xs" c="dimmed" component="div">
          The log is still being counted: complete since <Time at={completeSince} format={sinceText} />.
        </Text>
      )}
      <VisuallyHidden>
        <Rows
          label="Requests and calls by time"
          rows={spans.filter(({ requests, calls }) => requests + calls > 0)}
          keyOf={({ from }) => from}
          columns={columns}
          empty="Nothing happened."
        />
      </VisuallyHidden>
    </>
  );
}

/** True if the log is not counted yet from the second span on. The first one begins before the day does. */
function isPartial([first, second]: { from: string }[], completeSince: string): boolean {
  return first !== undefined && completeSince > (second ?? first).from;
}

function totalsText(spans: ListedActivityCounts[]): string {
  const sumOf = (name: 'requests' | 'requestErrors' | 'calls' | 'callErrors') =>
    spans.reduce((sum, counts) => sum + counts[name], 0);
  const errors = (name: 'requestErrors' | 'callErrors') => `${numberText(sumOf(name))} of them with errors`;
  const requests = `${countText(sumOf('requests'), 'request')} of identity providers, ${errors('requestErrors')}`;
  return `${requests}; ${countText(sumOf('calls'), 'call')} of travel APIs, ${errors('callErrors')}.`;
}

/** The content of the chart as a table for screen readers: only the spans in which something happened. */
const columns: Column<ListedActivityCounts>[] = [
  { label: 'From', cell: ({ from }) => clockText(new Date(from).getTime()) },
  { label: 'Requests', cell: ({ requests }) => requests },
  { label: 'Failed requests', cell: ({ requestErrors }) => requestErrors },
  { label: 'Travel calls', cell: ({ calls }) => calls },
  { label: 'Failed calls', cell: ({ callErrors }) => callErrors },
];

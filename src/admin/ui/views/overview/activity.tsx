import { SegmentedControl, Skeleton, Text, VisuallyHidden } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { ListedActivityCounts } from '../../../../operations/overview.ts';
import { type Column, Rows } from '../../components/rows.tsx';
import { Dim, Time } from '../../components/text.tsx';
import { clockText, sinceText, toChoices } from '../../components/texts.ts';
import { useRead } from '../../requests/queries.ts';
import { Panel } from './panel.tsx';
import { READ_EVERY_MS } from './state.ts';

const ActivityChart = lazy(() => import('./chart.tsx').then((file) => ({ default: file.ActivityChart })));

/** The height of a chart, in pixels; it is kept free while the chart loads. */
const HEIGHT = 150;

/** The interval at which the numbers are read again while the log is being counted, in milliseconds. */
const READ_SOON_MS = 1_000;

type Span = 'hour' | 'day';

/** Requests, calls and their errors of the last hour or day; nothing without any. */
export function ActivityPanel() {
  const [chosen, setSpan] = useState<Span>();
  const { data } = useRead(
    'readActivity',
    {},
    {
      refetchInterval: ({ state }) =>
        state.data && isPartial(state.data.day, state.data.completeSince) ? READ_SOON_MS : READ_EVERY_MS,
    },
  );
  if (!data?.day.some(isBusy)) return null;
  const span = chosen ?? (data.hour.some(isBusy) ? 'hour' : 'day');
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
      {data[span].some(isBusy) ? (
        <Charts spans={data[span]} completeSince={data.completeSince} />
      ) : (
        <Dim>Nothing was sent in the last hour.</Dim>
      )}
    </Panel>
  );
}

function isBusy({ requests, calls }: ListedActivityCounts): boolean {
  return requests + calls > 0;
}

function Charts({ spans, completeSince }: { spans: ListedActivityCounts[]; completeSince: string }) {
  return (
    <>
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={HEIGHT} animate={false} />}>
          <ActivityChart spans={spans} height={HEIGHT} />
        </Suspense>
      </div>
      {isPartial(spans, completeSince) && (
        <Text size="xs" c="dimmed" component="div">
          The log is still being counted: complete since <Time at={completeSince} format={sinceText} />.
        </Text>
      )}
      <VisuallyHidden>
        <Rows
          label="Requests and calls by time"
          rows={spans.filter(isBusy)}
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

/** The content of the chart as a table for screen readers: only the spans in which something happened. */
const columns: Column<ListedActivityCounts>[] = [
  { label: 'From', cell: ({ from }) => clockText(new Date(from).getTime()) },
  { label: 'Requests', cell: ({ requests }) => requests },
  { label: 'Failed requests', cell: ({ requestErrors }) => requestErrors },
  { label: 'Travel calls', cell: ({ calls }) => calls },
  { label: 'Failed calls', cell: ({ callErrors }) => callErrors },
];

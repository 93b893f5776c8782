import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { ListedActivityCounts } from '../../../../operations/overview.ts';
import { clockText, numberText } from '../../components/texts.ts';

/** Requests, calls and errors over time. */
export function ActivityChart({ spans, height }: { spans: ListedActivityCounts[]; height: number }) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const data = useRef(toData(spans));
  const scheme = useComputedColorScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart does not change its colours, so that each scheme has one of its own
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const drawn = new uPlot(
      { ...chartOptions(getComputedStyle(target)), width: target.clientWidth, height },
      data.current,
      target,
    );
    chart.current = drawn;
    const observer = new ResizeObserver(() => drawn.setSize({ width: target.clientWidth, height }));
    observer.observe(target);
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
  }, [scheme, height]);
  useEffect(() => {
    data.current = toData(spans);
    chart.current?.setData(data.current);
  }, [spans]);
  return <div ref={element} style={{ minHeight: height + LEGEND_HEIGHT, overflow: 'hidden' }} />;
}

const LEGEND_HEIGHT = 28;

/** Columns for uPlot; times in seconds. */
function toData(spans: ListedActivityCounts[]): uPlot.AlignedData {
  return [
    spans.map(({ from }) => new Date(from).getTime() / 1000),
    spans.map(({ requests }) => requests),
    spans.map(({ calls }) => calls),
    spans.map(({ requestErrors, callErrors }) => requestErrors + callErrors),
  ];
}

function toClock(seconds: number): string {
  return clockText(seconds * 1000);
}

/** The legend has values only while the pointer is on the chart; chart.css hides the rest of their places. */
function whole(_chart: uPlot, value: number | null): string {
  return value === null ? '' : numberText(value);
}

function chartOptions(style: CSSStyleDeclaration): Omit<uPlot.Options, 'width' | 'height'> {
  const color = (name: string) => style.getPropertyValue(`--mantine-color-${name}`);
  const axis: uPlot.Axis = {
    stroke: color('dimmed'),
    grid: { stroke: color('default-border'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(4, max * 1.1)] } },
    axes: [
      {
        ...axis,
        size: 24,
        grid: { show: false },
        space: 64,
        values: (_chart, splits) => splits.map(toClock),
      },
      {
        ...axis,
        size: 44,
        space: 30,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6],
      },
    ],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    series: [
      {
        label: 'from',
        value: (_chart, seconds: number | null) => (seconds === null ? '' : toClock(seconds)),
      },
      {
        ...{ label: 'requests', stroke: color('indigo-5'), width: 2, value: whole },
        ...{ fill: `${color('indigo-5')}22`, points: { show: false } },
      },
      { label: 'travel calls', stroke: color('teal-6'), width: 1.5, value: whole, points: { show: false } },
      {
        ...{ label: 'errors', stroke: color('red-6'), width: 1.5, value: whole },
        ...{ dash: [4, 3], points: { show: false } },
      },
    ],
  };
}

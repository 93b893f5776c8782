import { Tabs } from '@mantine/core';
import { useEffect, useRef } from 'react';

/** Tabs in one row. On a narrow screen it is scrolled, at first to the active tab. */
export function TabList({ labels }: { labels: Record<string, string> }) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    row.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, []);
  return (
    <Tabs.List ref={row} mb="md" className="tab-list">
      {Object.entries(labels).map(([value, label]) => (
        <Tabs.Tab key={value} value={value}>
          {label}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}

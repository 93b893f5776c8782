import { Anchor, Group, Tabs, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import { useRouter } from 'wouter';
import { helpAddress } from '../help.ts';

interface ViewHeadProps {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** The heading of a view with its help, a sentence under it, and its buttons. Sets the title of the tab. */
export function ViewHead({ title, children, actions }: ViewHeadProps) {
  useDocumentTitle(`${title} · Jetbridge`);
  return (
    <Group justify="space-between" align="flex-start" mb="md">
      <div>
        <Group gap="sm" align="baseline">
          <Title order={1} size="h3">
            {title}
          </Title>
          <HelpLink />
        </Group>
        {children && <Text c="dimmed">{children}</Text>}
      </div>
      {actions}
    </Group>
  );
}

/** Leads to the document about the present view, in a tab of its own. */
export function HelpLink() {
  const { base } = useRouter();
  const address = helpAddress(base.replace(/^\/admin/, ''));
  if (address === undefined) return null;
  return (
    <Anchor href={address} target="_blank">
      Help
    </Anchor>
  );
}

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

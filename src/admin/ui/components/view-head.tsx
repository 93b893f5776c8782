import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { HelpLink } from './help-link.tsx';

/** The heading of a view with its help, a sentence under it, and its buttons. Sets the title of the tab. */
export function ViewHead({
  title,
  children,
  actions,
}: {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Jetbridge`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md">
      <div>
        <Group gap="sm" align="baseline">
          <Title order={1} size="h3">
            {title}
          </Title>
          <HelpLink />
        </Group>
        {children && (
          <Text c="dimmed" size="sm">
            {children}
          </Text>
        )}
      </div>
      {actions}
    </Group>
  );
}

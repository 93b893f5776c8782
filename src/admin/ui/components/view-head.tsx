import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** The heading of a view, a sentence under it, and its buttons. Sets the title of the tab. */
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
        <Title order={1} size="h3">
          {title}
        </Title>
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

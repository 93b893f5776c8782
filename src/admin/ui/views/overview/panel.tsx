import { Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PanelProps {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}

/** A part of the overview with a heading. */
export function Panel({ title, action, children }: PanelProps) {
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Title order={2} size="h6">
          {title}
        </Title>
        {action}
      </Group>
      <Stack gap={6}>{children}</Stack>
    </Card>
  );
}

interface NoticeProps {
  title: string;
  children: ReactNode;
}

/** Something about the whole service. */
export function Notice({ title, children }: NoticeProps) {
  return (
    <Card
      withBorder
      padding="sm"
      role="status"
      style={{ borderInlineStart: '3px solid var(--mantine-primary-color-filled)' }}
    >
      <Text fw={600}>{title}</Text>
      <Text component="div">{children}</Text>
    </Card>
  );
}

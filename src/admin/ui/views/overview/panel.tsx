import { Card, Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of the overview with a heading. */
export function Panel({
  title,
  action,
  children,
}: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) {
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

import { Box, Button, Group } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useIsNarrow } from './narrow.ts';

/** The filters of a list in a line; on a narrow screen behind a button. `count` is the number of those in use. */
export function FilterPanel({ count, children }: { count: number; children: ReactNode }) {
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const filters = (
    <Group gap="xs" mb="md" role="search" aria-label="Filters">
      {children}
    </Group>
  );
  if (!isNarrow) return filters;
  return (
    <>
      <Box mb="xs">
        <Button
          size="xs"
          variant={count > 0 ? 'light' : 'default'}
          leftSection={<IconFilter size={14} />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {count > 0 ? `Filters (${count})` : 'Filters'}
        </Button>
      </Box>
      {isOpen && filters}
    </>
  );
}

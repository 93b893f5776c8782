import { Badge, Text } from '@mantine/core';

/** A state with its symbol, so that colour alone tells nothing. */
export function StateBadge({ mark }: { mark: { symbol: string; label: string; color: string } }) {
  return (
    <Badge
      color={mark.color}
      variant="light"
      // The colour of the variant has too little contrast in light mode.
      c="var(--mantine-color-text)"
      tt="none"
      fw={500}
    >
      <Text span inherit aria-hidden>
        {mark.symbol}
      </Text>{' '}
      {mark.label}
    </Badge>
  );
}

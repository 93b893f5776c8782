import { Group, Text } from '@mantine/core';

/** The mark and the name. The icon of the tab is the same drawing (icon.svg). */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <Group gap={8} wrap="nowrap">
      <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden focusable="false">
        <rect width="32" height="32" rx="8" fill="#3b5bdb" />
        <path
          d="M4 23h24M7 23c0-6.5 4-10.5 9-10.5s9 4 9 10.5M11.5 23v-7.5M16 23V12.5M20.5 23v-7.5"
          fill="none"
          stroke="#fff"
          strokeWidth="2"
          strokeLinecap="round"
        />
        <path d="M17 8.5 27 4l-4 7-2-2z" fill="#fff" />
      </svg>
      <Text size="md" fw={650}>
        Jetbridge
      </Text>
    </Group>
  );
}

import { Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

/** A secret that is shown only once, with a button that copies it and has the focus. `children` says what it is for. */
export function Secret({
  value,
  children,
  onDone,
}: {
  value: string;
  children: ReactNode;
  onDone: () => void;
}) {
  // `data-autofocus` is for a dialog that opens with the secret; one in which it appears later has the effect.
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <Stack>
      <Text>{children}</Text>
      <Group>
        <Code fz="md" style={{ overflowWrap: 'anywhere' }}>
          {value}
        </Code>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button ref={button} data-autofocus size="xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Button onClick={onDone}>Done</Button>
    </Stack>
  );
}

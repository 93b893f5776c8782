import { Code, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { IconButton } from './icon-button.tsx';
import { Breakable } from './text.tsx';

/** A text, such as an id, with a button that copies it. `name` says what is copied. */
export function Copyable({ text, name }: { text: string; name: string }) {
  return (
    <Group component="span" gap={4} wrap="nowrap" display="inline-flex">
      <Code style={{ overflowWrap: 'anywhere' }}>
        <Breakable text={text} />
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <IconButton
            size="sm"
            icon={copied ? IconCheck : IconCopy}
            iconSize={14}
            label={copied ? `Copied ${name}` : `Copy ${name}`}
            onClick={copy}
          />
        )}
      </CopyButton>
    </Group>
  );
}

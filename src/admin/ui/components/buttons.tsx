import {
  ActionIcon,
  type ActionIconProps,
  Button,
  CopyButton,
  type ElementProps,
  Group,
} from '@mantine/core';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { type DownloadOperation, downloadUrl, type Input } from '../requests/api.ts';
import { PathCode } from './text.tsx';

/** A button that shows an icon. `label` is its name for screen readers. */
export function IconButton({
  icon: Icon,
  iconSize = 16,
  label,
  ...button
}: ActionIconProps &
  ElementProps<'button', keyof ActionIconProps> & {
    icon: ComponentType<{ size?: number }>;
    iconSize?: number;
    label: string;
  }) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} {...button}>
      <Icon size={iconSize} />
    </ActionIcon>
  );
}

/** A text, such as an id, with a button that copies it. `name` says what is copied. */
export function Copyable({ text, name }: { text: string; name: string }) {
  return (
    <Group component="span" gap={4} wrap="nowrap" display="inline-flex">
      <PathCode text={text} />
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

/** A link that looks like a button and downloads a file of CSV. */
export function DownloadButton<Name extends DownloadOperation>({
  operation,
  input,
}: {
  operation: Name;
  /** The filters of what is shown. */
  input: Input<Name>;
}) {
  return (
    <Button
      component="a"
      href={downloadUrl(operation, input)}
      download
      leftSection={<IconDownload size={14} />}
    >
      Download CSV
    </Button>
  );
}

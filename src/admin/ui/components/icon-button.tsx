import { ActionIcon, type ActionIconProps, type ElementProps } from '@mantine/core';
import type { ComponentType } from 'react';

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

import { Group } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../../components/buttons.tsx';

interface OrderButtonsProps {
  list: string;
  at: number;
  count: number;
  name: string;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
  /** Buttons before these. */
  children?: ReactNode;
}

/** The buttons that move an item of a list, from 0, or remove it. `list` identifies them for `data-move`. */
export function OrderButtons({ list, at, count, name, onMove, onRemove, children }: OrderButtonsProps) {
  return (
    <Group gap={2} wrap="nowrap">
      {children}
      <IconButton
        data-move={`${list} ${at} -1`}
        icon={IconArrowUp}
        label={`Move ${name} up`}
        disabled={at === 0}
        onClick={() => onMove(-1)}
      />
      <IconButton
        data-move={`${list} ${at} 1`}
        icon={IconArrowDown}
        label={`Move ${name} down`}
        disabled={at === count - 1}
        onClick={() => onMove(1)}
      />
      <IconButton icon={IconTrash} label={`Remove ${name}`} onClick={onRemove} />
    </Group>
  );
}

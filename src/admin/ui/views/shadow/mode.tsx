import { Button, Menu, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { useIsAdmin } from '../../session.ts';
import { type Mode, modeTexts } from './texts.ts';

const modes = Object.keys(modeTexts) as Mode[]; // The table has all modes and nothing else.

/** A menu with the other modes of a connection. A change is confirmed; a viewer has no menu. */
export function ModeButton({ id, mode }: { id: string; mode: Mode }) {
  const [wanted, setWanted] = useState<Mode>();
  if (!useIsAdmin()) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default">
            Change the mode…
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {modes
            .filter((other) => other !== mode)
            .map((other) => (
              <Menu.Item key={other} onClick={() => setWanted(other)}>
                {modeTexts[other].label}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
      {wanted && (
        <Confirm
          title={`Put ${id} into the mode ${wanted}?`}
          action={`Put ${id} into the mode ${wanted}`}
          change={() => call('changeConnectionMode', { id, mode: wanted })}
          refreshes="all"
          isDestructive
          onClose={() => setWanted(undefined)}
        >
          <Text size="sm">{modeTexts[wanted].change}</Text>
          {mode === 'shadow' && wanted === 'live' && (
            <Text size="sm" fw={600}>
              The plan of the report is not approved by this. "Go live…" in the report approves it.
            </Text>
          )}
        </Confirm>
      )}
    </>
  );
}

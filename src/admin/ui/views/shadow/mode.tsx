import { Button, Menu, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ConnectionHealth } from '../../../../operations/overview.ts';
import { modeTexts } from '../../../../provisioning/shadow/mode-texts.ts';
import {
  changedText,
  liveText,
  outcomeTexts,
  planText,
} from '../../../../provisioning/shadow/shadow-texts.ts';
import { Answers, Confirm, Dialog, DialogButton } from '../../components/dialogs.tsx';
import { call, type Result } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

export type Mode = ConnectionHealth['mode'];

/** All modes. */
export const modes = Object.keys(modeTexts) as Mode[]; // The table has all modes and nothing else.

/** A menu with the other modes of a connection. A change is confirmed; a viewer has no menu. */
export function ModeButton({ id, mode }: { id: string; mode: Mode }) {
  const [wanted, setWanted] = useState<Mode>();
  if (!useIsAdmin()) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button>Change the mode…</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {modes
            .filter((other) => other !== mode)
            .map((other) => (
              <Menu.Item key={other} onClick={() => setWanted(other)}>
                {other}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
      {wanted && (
        <Confirm
          title={`Put ${id} into the mode ${wanted}?`}
          action={`Put ${id} into the mode ${wanted}`}
          change={() => call('changeConnectionMode', { id, mode: wanted })}
          isDestructive
          onClose={() => setWanted(undefined)}
        >
          <Text>{modeTexts[wanted].change}</Text>
          {mode === 'shadow' && wanted === 'live' && (
            <Text fw={600}>
              The plan of the report is not approved by this. "Go live…" in the report approves it.
            </Text>
          )}
        </Confirm>
      )}
    </>
  );
}

type Sums = Result<'summarizeShadow'>;

/** The button that goes live with the plan that the view shows. A viewer has none. */
export function GoLiveButton(props: { connection: string; sums: Sums; onDone: (text: string) => void }) {
  if (!useIsAdmin()) return null;
  return (
    <DialogButton label="Go live…" variant="filled">
      {(close) => <GoLive {...props} onClose={close} />}
    </DialogButton>
  );
}

interface GoLiveProps {
  connection: string;
  sums: Sums;
  onDone: (text: string) => void;
  onClose: () => void;
}

/** Says what going live does, in numbers. If plans have changed since the report, they are shown before a second confirmation. */
function GoLive({ connection, sums: { people, digest }, onDone, onClose }: GoLiveProps) {
  const { data, error, isPending, mutate } = useChange(
    (acceptedChanges: number | undefined) =>
      call('goLive', {
        id: connection,
        digest,
        ...(acceptedChanges === undefined ? {} : { acceptedChanges }),
      }),
    {
      refreshes: ['readOverview'],
      onDone: (result) => {
        if (result.outcome === 'live') onDone(liveText(connection, result));
      },
    },
  );
  const changed = data?.outcome === 'changed' ? data : undefined;
  return (
    <Dialog onClose={onClose} title={`Go live with ${connection}?`}>
      <Stack>
        <Text>
          {planText(people)} {approvedText}
        </Text>
        {changed && (
          <Stack gap={4} role="status">
            <Text fw={600}>{changedText(changed.changed)}</Text>
            {changed.examples.map(({ id, userName, outcome }) => (
              <Text key={id}>
                {userName}: {outcomeTexts[outcome]}
              </Text>
            ))}
          </Stack>
        )}
        <Answers
          action={changed ? `Go live with ${connection} nevertheless` : `Go live with ${connection}`}
          isDestructive
          {...{ error, isPending, onClose }}
          onConfirm={() => mutate(changed?.changed)}
        />
      </Stack>
    </Dialog>
  );
}

const approvedText = 'This plan is approved as it is shown: none of its departures waits for an admin.';

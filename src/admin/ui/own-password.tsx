import { Button, PasswordInput, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call, faultOf } from './api.ts';
import { submits } from './components/creation-dialog.tsx';
import { Dialog } from './components/dialog.tsx';
import { Failure } from './components/loading.tsx';
import { useChange } from './queries.ts';

/** Changes the password of the signed-in account. Its other sessions end. */
export function OwnPassword({ onClose }: { onClose: () => void }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const change = useChange(() => call('changeOwnPassword', { current, password }), {
    refreshes: [],
    onDone: onClose,
  });
  const [currentFault, fault] = [faultOf(change.error, 'current'), faultOf(change.error, 'password')];
  return (
    <Dialog onClose={onClose} title="Change your password">
      <form onSubmit={submits(change.mutate)}>
        <Stack>
          {(currentFault ?? fault) === undefined && <Failure error={change.error} />}
          <PasswordInput
            label="Present password"
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={currentFault}
            required
            data-autofocus
          />
          <PasswordInput
            label="New password"
            description="At least 12 characters, e.g. four words that do not belong together. You are signed out everywhere else."
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={fault}
            required
          />
          <LengthMeter length={password.length} />
          <Button type="submit" loading={change.isPending}>
            Change the password
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

/** The shortest password that the API accepts, and one whose length resists guessing for long. */
const MIN_LENGTH = 12;
const GOOD_LENGTH = 20;

/** Shows how long a new password is: length counts, not the kinds of its characters. */
function LengthMeter({ length }: { length: number }) {
  const [color, text] =
    length < MIN_LENGTH
      ? (['red', `Too short: ${MIN_LENGTH - length} more to go`] as const)
      : length < GOOD_LENGTH
        ? (['yellow', 'Long enough; longer is better'] as const)
        : (['green', 'Long'] as const);
  return (
    <div>
      <Progress
        value={Math.min(100, (length / GOOD_LENGTH) * 100)}
        color={color}
        aria-label="Length of the new password"
      />
      <Text size="xs" mt={4} c="dimmed" role="status">
        {text}
      </Text>
    </div>
  );
}

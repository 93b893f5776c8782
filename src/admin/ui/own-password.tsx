import { PasswordInput, Progress, Text } from '@mantine/core';
import { useState } from 'react';
import { call, faultOf } from './api.ts';
import { FormDialog } from './components/dialogs.tsx';
import { useChange } from './queries.ts';

/** Changes the password of the signed-in account. Its other sessions end. */
export function OwnPassword({ onClose }: { onClose: () => void }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const change = useChange(() => call('changeOwnPassword', { current, password }), { onDone: onClose });
  return (
    <FormDialog
      title="Change your password"
      action="Change the password"
      change={change}
      fields={['current', 'password']}
      onClose={onClose}
    >
      <PasswordInput
        label="Present password"
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        error={faultOf(change.error, 'current')}
        required
        data-autofocus
      />
      <PasswordInput
        label="New password"
        description="At least 12 characters, e.g. four words that do not belong together. You are signed out everywhere else."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={faultOf(change.error, 'password')}
        required
      />
      <LengthMeter length={password.length} />
    </FormDialog>
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

import { ActionIcon, Menu, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import type { AdminAccount } from '../../../contract/accounts.ts';
import { call } from '../../api.ts';
import { Confirm, Secret } from '../../components/dialogs.tsx';
import { useSignInWays } from '../../session.ts';

type Change = 'role' | 'password' | 'revoke' | 'restore';

/** The changes of an account; each asks for a confirmation. */
export function AccountMenu({ account }: { account: AdminAccount }) {
  const [change, setChange] = useState<Change>();
  const close = () => setChange(undefined);
  const isRevoked = account.revokedAt !== undefined;
  const ways = useSignInWays();
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Change ${account.name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {account.hasPassword && (
            <>
              <Menu.Item aria-haspopup="dialog" onClick={() => setChange('role')}>
                Make {otherRole(account)}…
              </Menu.Item>
              {ways?.password && (
                <Menu.Item aria-haspopup="dialog" onClick={() => setChange('password')}>
                  Reset the password…
                </Menu.Item>
              )}
            </>
          )}
          <Menu.Item aria-haspopup="dialog" onClick={() => setChange(isRevoked ? 'restore' : 'revoke')}>
            {isRevoked ? 'Restore' : 'Revoke'} {account.name}…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {change === 'password' ? (
        <ResetPassword account={account} onClose={close} />
      ) : (
        change && <ConfirmChange {...confirmations[change](account)} onClose={close} />
      )}
    </>
  );
}

function otherRole({ role }: AdminAccount): 'admin' | 'viewer' {
  return role === 'admin' ? 'viewer' : 'admin';
}

interface AccountChange {
  title: string;
  change: () => Promise<unknown>;
  consequence: string;
  isDestructive?: boolean;
}

/** The list is read again after each attempt: another admin may have changed the account. */
function ConfirmChange({ title, consequence, ...change }: AccountChange & { onClose: () => void }) {
  return (
    <Confirm {...change} title={`${title}?`} action={title}>
      <Text size="md">{consequence}</Text>
    </Confirm>
  );
}

const confirmations: Record<Exclude<Change, 'password'>, (account: AdminAccount) => AccountChange> = {
  role: (account) => {
    const { id, name } = account;
    const role = otherRole(account);
    return {
      title: `Make ${name} ${role}`,
      change: () => call('changeRole', { id, role }),
      consequence:
        role === 'admin'
          ? `${name} will be able to change everything here, accounts included.`
          : `${name} will see everything as before, and change nothing.`,
    };
  },
  revoke: ({ id, name }) => ({
    title: `Revoke ${name}`,
    change: () => call('revokeAccount', { id }),
    consequence: `${name} is signed out everywhere and can no longer sign in, and the tokens that ${name} made are revoked. The audit log keeps what ${name} has changed.`,
    isDestructive: true,
  }),
  restore: ({ id, name }) => ({
    title: `Restore ${name}`,
    change: () => call('restoreAccount', { id }),
    consequence: `${name} can sign in through the OpenID provider again, with the role that it gives.`,
  }),
};

function ResetPassword({ account: { id, name }, onClose }: { account: AdminAccount; onClose: () => void }) {
  return (
    <Confirm
      title={`Reset the password of ${name}?`}
      action={`Reset the password of ${name}`}
      change={() => call('resetPassword', { id })}
      onClose={onClose}
      isDestructive
      result={{
        title: `The new password of ${name}`,
        content: ({ password }) => (
          <Secret value={password} onDone={onClose}>
            {name} signs in with this password. It is shown only now; the account can change it after signing
            in.
          </Secret>
        ),
      }}
    >
      <Text size="md">
        The present password of {name} becomes invalid, and {name} is signed out everywhere.
      </Text>
    </Confirm>
  );
}

import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { queryClient } from '../../session.ts';

/** The credential that is to be revoked. */
export interface Revocation {
  kind: 'token' | 'client';
  id: string;
  name: string;
}

/** Names the credential and the consequence before it is revoked. */
export function ConfirmRevocation({
  revocation: { kind, id, name },
  onClose,
}: {
  revocation: Revocation;
  onClose: () => void;
}) {
  const noun = kind === 'token' ? 'token' : 'OAuth client';
  const revocation = useMutation({
    mutationFn: () => (kind === 'token' ? call('revokeToken', { id }) : call('revokeOAuthClient', { id })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [kind === 'token' ? 'tokens' : 'oauth-clients'] });
      onClose();
    },
  });
  return (
    <Confirm
      title={`Revoke the ${noun} “${name}”?`}
      action={`Revoke ${name}`}
      mutation={revocation}
      onClose={onClose}
      isDestructive
    >
      <Text size="sm">
        Whoever uses it is refused from the next request on
        {kind === 'client' ? ', also with the tokens that it got' : ''}. This cannot be undone.
      </Text>
    </Confirm>
  );
}

import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, call, queryClient } from '../../session.ts';

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
    mutationFn: () =>
      call(kind === 'token' ? api.connect.revokeToken(id) : api.connect.revokeOAuthClient(id)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [kind === 'token' ? 'tokens' : 'oauth-clients'] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={`Revoke the ${noun} “${name}”?`}>
      <Stack>
        {revocation.error && (
          <Alert color="red" role="alert">
            {revocation.error.message}
          </Alert>
        )}
        <Text size="sm">
          Whoever uses it is refused from the next request on
          {kind === 'client' ? ', also with the tokens that it got' : ''}. This cannot be undone.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.9" loading={revocation.isPending} onClick={() => revocation.mutate()}>
            Revoke {name}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

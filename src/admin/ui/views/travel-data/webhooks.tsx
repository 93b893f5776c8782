import { Alert, Button, Text } from '@mantine/core';
import { Confirm, DialogButton, Secret } from '../../components/dialogs.tsx';
import { Failure } from '../../components/loading.tsx';
import type { Column } from '../../components/rows.tsx';
import { PathCode, Time, ViewLink } from '../../components/text.tsx';
import { deadlineText } from '../../components/texts.ts';
import { useChange } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { callTravel, type TravelResource } from '../../requests/travel.ts';

/** What can be done with a webhook besides changing it: a test, and a new secret. */
export function WebhookActions({ id, url }: { id: string; url: string }) {
  const test = useChange(() => callTravel('POST', `/webhooks/${id}/test`));
  const error = test.data?.['error'];
  return (
    <>
      <Button loading={test.isPending} onClick={() => test.mutate()}>
        Send a test event
      </Button>
      <DialogButton label="Renew the secret…">
        {(close) => <SecretRenewal id={id} url={url} onClose={close} />}
      </DialogButton>
      <Failure error={test.error} />
      {test.data && (
        <Alert color={error ? 'red' : 'gray'} role="status" w="100%" style={{ order: 1 }}>
          {error ? '✗ The test event was not delivered: ' : '✓ The test event was delivered: '}
          {attemptText(test.data)}
        </Alert>
      )}
    </>
  );
}

/** Asks before the secret is renewed, and then shows the new one once. */
function SecretRenewal({ id, url, onClose }: { id: string; url: string; onClose: () => void }) {
  return (
    <Confirm
      title="Renew the secret of the webhook?"
      action="Renew the secret"
      change={() => callTravel('POST', `/webhooks/${id}/secret`)}
      onClose={onClose}
      result={{
        title: 'The secret is renewed',
        content: ({ secret }) => (
          <Secret value={String(secret)} onDone={onClose}>
            Each request to {url} is signed with this secret, and for 24 hours with the one before too. It is
            shown only now: give it to the integration before that time is over.
          </Secret>
        ),
      }}
    >
      <Text size="md" style={{ overflowWrap: 'anywhere' }}>
        {url} gets a new secret, which is shown once. The present one signs for 24 hours too; then the
        integration must know the new one. A renewal cannot be undone.
      </Text>
    </Confirm>
  );
}

function attemptText({ status, error, latencyMs }: Record<string, unknown>): string {
  const answer = status === undefined ? undefined : `answered ${status}`;
  return [answer, error, `${latencyMs} ms`].filter((part) => part !== undefined).join(', ');
}

const statusTexts: Record<string, string> = {
  pending: '… pending',
  succeeded: 'delivered',
  failed: '✗ failed',
};

/** The columns of the deliveries of a webhook. `path` is that of their list. */
export function deliveryColumns(path: string): Column<TravelResource>[] {
  return [
    { label: 'When', width: '12%', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: 'Event', cell: ({ id, kind }) => <ViewLink href={`${path}/${id}`}>{String(kind)}</ViewLink> },
    { label: 'Status', width: '12%', cell: ({ status }) => statusTexts[String(status)] ?? String(status) },
    {
      label: 'Last attempt',
      width: '28%',
      cell: ({ attempts }) => {
        const all = Array.isArray(attempts) ? attempts : [];
        return all.length === 0 ? (
          'none yet'
        ) : (
          <PathCode text={`attempt ${all.length}: ${attemptText(all.at(-1))}`} />
        );
      },
    },
    {
      label: 'Next attempt',
      width: '12%',
      cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt as string | undefined} format={deadlineText} />,
    },
    {
      label: 'Action',
      isAction: true,
      width: '14%',
      cell: (delivery) => <Redelivery path={path} {...delivery} />,
    },
  ];
}

function Redelivery({ path, id, kind }: TravelResource & { path: string }) {
  const redelivery = useChange(() => callTravel('POST', `${path}/${id}/redeliver`));
  if (!useIsAdmin()) return null;
  return (
    <>
      <Button
        size="compact-xs"
        aria-label={`Deliver again: ${kind}`}
        loading={redelivery.isPending}
        onClick={() => redelivery.mutate()}
      >
        Deliver again
      </Button>
      <Failure error={redelivery.error} p="xs" />
    </>
  );
}

import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import type { TravelAttempt, TravelDelivery, TravelWebhook } from '../../../contract/travel.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { PagedRows } from '../../components/paged-rows.tsx';
import { Rows } from '../../components/rows.tsx';
import { Secret } from '../../components/secret.tsx';
import { Time } from '../../components/time.tsx';
import { queryClient, useSession } from '../../session.ts';
import { usePages } from './pages.ts';
import { PartHead, ViewLink } from './resource.tsx';
import { WebhookForm, webhooksKey } from './webhook-form.tsx';

/** All webhooks, and the deliveries of one. `kinds` are the events that a webhook can select. */
export function Webhooks({ kinds }: { kinds: string[] }) {
  const webhooks = useQuery({
    queryKey: webhooksKey,
    queryFn: () => call('listTravelWebhooks'),
  });
  return (
    <Loaded query={webhooks}>
      {(data) => (
        <Switch>
          <Route path="/webhooks/:id">
            {({ id }) => (
              <Deliveries id={id} webhook={data.webhooks.find((one) => one.id === id)} kinds={kinds} />
            )}
          </Route>
          <Route>
            <WebhookList webhooks={data.webhooks} kinds={kinds} />
          </Route>
        </Switch>
      )}
    </Loaded>
  );
}

function WebhookList({ webhooks, kinds }: { webhooks: TravelWebhook[]; kinds: string[] }) {
  const [isAdding, setAdding] = useState(false);
  const canChange = useSession()?.role === 'admin';
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          A webhook gets events by HTTP, signed, as soon as they happen.
        </Text>
        {canChange && (
          <Button size="xs" aria-haspopup="dialog" onClick={() => setAdding(true)}>
            Create a webhook
          </Button>
        )}
      </Group>
      <Rows
        label="Webhooks"
        rows={webhooks}
        keyOf={({ id }) => id}
        columns={columns}
        empty="There is no webhook yet. Create one here, or let an integration create its own by POST /api/webhooks."
      />
      {isAdding && <WebhookForm kinds={kinds} onClose={() => setAdding(false)} />}
    </>
  );
}

const columns = [
  {
    label: 'URL',
    cell: ({ id, url }: TravelWebhook) => <ViewLink href={`/webhooks/${id}`}>{url}</ViewLink>,
  },
  { label: 'Description', cell: ({ description }: TravelWebhook) => description ?? '–' },
  { label: 'Events', cell: ({ events }: TravelWebhook) => events?.join(', ') ?? 'every kind' },
  {
    label: 'State',
    cell: ({ disabled }: TravelWebhook) => <StateBadge mark={disabled ? inactive : active} />,
  },
  { label: 'Created', cell: ({ createdAt }: TravelWebhook) => <Time at={createdAt} /> },
];

const active = { symbol: '✓', label: 'active', color: 'green' };
const inactive = { symbol: '–', label: 'inactive', color: 'gray' };

function Deliveries({
  id,
  webhook,
  kinds,
}: {
  id: string;
  webhook: TravelWebhook | undefined;
  kinds: string[];
}) {
  const canChange = useSession()?.role === 'admin';
  const queryKey = ['travel', 'deliveries', id];
  const deliveries = usePages(queryKey, (page) => call('listTravelDeliveries', { id, ...page }));
  const test = useMutation({ mutationFn: () => call('testTravelWebhook', { id }) });
  const redelivery = useMutation({
    mutationFn: (delivery: string) => call('redeliverTravelEvent', { id, delivery }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  });
  const failure = test.error ?? redelivery.error;
  return (
    <>
      <PartHead list="/webhooks" label="Webhooks">
        {webhook?.url ?? id}
      </PartHead>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          {webhook?.events?.join(', ') ?? 'Every kind of event'}
        </Text>
        {canChange && (
          <Group gap="xs">
            <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              Send a test event
            </Button>
            {webhook && <ChangeButtons webhook={webhook} kinds={kinds} />}
          </Group>
        )}
      </Group>
      {failure && (
        <Alert color="red" role="alert" mb="sm">
          {failure.message}
        </Alert>
      )}
      {test.data && <TestOutcome attempt={test.data} />}
      <PagedRows
        query={deliveries}
        rowsOf={(page) => page.deliveries}
        label="Deliveries"
        keyOf={(delivery) => delivery.id}
        columns={deliveryColumns(canChange ? redelivery.mutate : undefined)}
        empty="Nothing has been delivered yet. The next event that the webhook selects appears here."
      />
    </>
  );
}

/** Edits or deletes a webhook. */
function ChangeButtons({ webhook, kinds }: { webhook: TravelWebhook; kinds: string[] }) {
  const [dialog, setDialog] = useState<'edit' | 'renew' | 'delete'>();
  const [, navigate] = useLocation();
  const deletion = useMutation({
    mutationFn: () => call('deleteTravelWebhook', { id: webhook.id }),
    onSuccess: async () => {
      navigate('/webhooks');
      await queryClient.invalidateQueries({ queryKey: webhooksKey });
    },
  });
  const close = () => setDialog(undefined);
  return (
    <>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={() => setDialog('edit')}>
        Edit…
      </Button>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={() => setDialog('renew')}>
        Renew the secret…
      </Button>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={() => setDialog('delete')}>
        Delete…
      </Button>
      {dialog === 'edit' && <WebhookForm {...{ webhook, kinds }} onClose={close} />}
      {dialog === 'renew' && <SecretRenewal webhook={webhook} onClose={close} />}
      {dialog === 'delete' && (
        <Confirm
          title="Delete the webhook?"
          action="Delete the webhook"
          mutation={deletion}
          isDestructive
          onClose={close}
        >
          <Text style={{ overflowWrap: 'anywhere' }}>
            {webhook.url} gets no events any more, and its list of deliveries goes. This cannot be undone: a
            new webhook has another secret.
          </Text>
        </Confirm>
      )}
    </>
  );
}

/** Asks before the secret is renewed, and then shows the new one once. */
function SecretRenewal({ webhook, onClose }: { webhook: TravelWebhook; onClose: () => void }) {
  const renewal = useMutation({
    mutationFn: () => call('renewTravelWebhookSecret', { id: webhook.id }),
  });
  return (
    <Confirm
      title={renewal.data ? 'The secret is renewed' : 'Renew the secret of the webhook?'}
      action="Renew the secret"
      mutation={renewal}
      onClose={onClose}
      result={({ secret }) => (
        <Secret value={secret} onDone={onClose}>
          Each request to {webhook.url} is signed with this secret, and for 24 hours with the one before too.
          It is shown only now: give it to the integration before that time is over.
        </Secret>
      )}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        {webhook.url} gets a new secret, which is shown once. The present one signs for 24 hours too; then the
        integration must know the new one. A renewal cannot be undone.
      </Text>
    </Confirm>
  );
}

function TestOutcome({ attempt }: { attempt: TravelAttempt }) {
  return (
    <Alert color={attempt.error ? 'red' : 'green'} role="status" mb="sm">
      {attempt.error ? `✗ The test event was not delivered: ` : '✓ The test event was delivered: '}
      {attemptText(attempt)}
    </Alert>
  );
}

function attemptText({ status, error, latencyMs }: TravelAttempt): string {
  const answer = status === undefined ? undefined : `answered ${status}`;
  return [answer, error, `${latencyMs} ms`].filter((part) => part !== undefined).join(', ');
}

const marks = {
  pending: { symbol: '…', label: 'pending', color: 'yellow' },
  succeeded: { symbol: '✓', label: 'delivered', color: 'green' },
  failed: { symbol: '✗', label: 'failed', color: 'red' },
  canceled: { symbol: '–', label: 'canceled', color: 'gray' },
} satisfies Record<TravelDelivery['status'], object>;

function deliveryColumns(onRedeliver: ((id: string) => void) | undefined) {
  return [
    { label: 'When', cell: ({ createdAt }: TravelDelivery) => <Time at={createdAt} /> },
    { label: 'Event', cell: ({ kind }: TravelDelivery) => kind },
    { label: 'State', cell: ({ status }: TravelDelivery) => <StateBadge mark={marks[status]} /> },
    {
      label: 'Last attempt',
      cell: ({ attempts }: TravelDelivery) => {
        const last = attempts.at(-1);
        return last ? <Code>{`attempt ${attempts.length}: ${attemptText(last)}`}</Code> : 'none yet';
      },
    },
    {
      label: 'Next attempt',
      cell: ({ nextAttemptAt }: TravelDelivery) =>
        nextAttemptAt ? <Time at={nextAttemptAt} isDeadline /> : '–',
    },
    ...(onRedeliver
      ? [
          {
            label: 'Action',
            cell: ({ id, kind }: TravelDelivery) => (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`Deliver again: ${kind}`}
                onClick={() => onRedeliver(id)}
              >
                Deliver again
              </Button>
            ),
          },
        ]
      : []),
  ];
}

import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { Route, Switch, useLocation } from 'wouter';
import type { TravelAttempt, TravelDelivery, TravelWebhook } from '../../../contract/travel.ts';
import { call } from '../../api.ts';
import { Confirm, ConfirmButton } from '../../components/confirm.tsx';
import { DialogButton } from '../../components/dialog.tsx';
import { Failure, Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { PagedRows } from '../../components/paged-rows.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Secret } from '../../components/secret.tsx';
import { ViewLink } from '../../components/text.tsx';
import { Time } from '../../components/time.tsx';
import { useChange, usePages, useRead } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';
import { PartHead } from './resource.tsx';
import { WebhookForm } from './webhook-form.tsx';

/** All webhooks, and the deliveries of one. `kinds` are the events that a webhook can select. */
export function Webhooks({ kinds }: { kinds: string[] }) {
  const webhooks = useRead('listTravelWebhooks', {});
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
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          A webhook gets events by HTTP, signed, as soon as they happen.
        </Text>
        {useIsAdmin() && (
          <DialogButton label="Create a webhook" variant="filled">
            {(close) => <WebhookForm kinds={kinds} onClose={close} />}
          </DialogButton>
        )}
      </Group>
      <Rows
        label="Webhooks"
        rows={webhooks}
        keyOf={({ id }) => id}
        columns={columns}
        empty="There is no webhook yet. Create one here, or let an integration create its own by POST /api/webhooks."
      />
    </>
  );
}

const columns: Column<TravelWebhook>[] = [
  {
    label: 'URL',
    cell: ({ id, url }) => <ViewLink href={`/webhooks/${id}`}>{url}</ViewLink>,
  },
  { label: 'Description', cell: ({ description }) => description ?? '–' },
  { label: 'Events', cell: ({ events }) => events?.join(', ') ?? 'every kind' },
  {
    label: 'State',
    cell: ({ disabled }) => <StateBadge mark={disabled ? inactive : active} />,
  },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
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
  const canChange = useIsAdmin();
  const deliveries = usePages('listTravelDeliveries', { id, limit: 50 });
  const test = useChange(() => call('testTravelWebhook', { id }), { refreshes: [] });
  const redelivery = useChange((delivery: string) => call('redeliverTravelEvent', { id, delivery }), {
    refreshes: ['listTravelDeliveries'],
  });
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
      <Failure error={test.error ?? redelivery.error} mb="sm" />
      {test.data && <TestOutcome attempt={test.data} />}
      <PagedRows
        query={deliveries}
        rowsOf={(page) => page.deliveries}
        label="Deliveries"
        keyOf={(delivery) => delivery.id}
        columns={canChange ? [...deliveryColumns, redeliverColumn(redelivery.mutate)] : deliveryColumns}
        empty="Nothing has been delivered yet. The next event that the webhook selects appears here."
      />
    </>
  );
}

/** Edits or deletes a webhook, or renews its secret. */
function ChangeButtons({ webhook, kinds }: { webhook: TravelWebhook; kinds: string[] }) {
  const [, navigate] = useLocation();
  const { id, url } = webhook;
  return (
    <>
      <DialogButton label="Edit…">
        {(close) => <WebhookForm {...{ webhook, kinds }} onClose={close} />}
      </DialogButton>
      <DialogButton label="Renew the secret…">
        {(close) => <SecretRenewal webhook={webhook} onClose={close} />}
      </DialogButton>
      <ConfirmButton
        label="Delete…"
        title="Delete the webhook?"
        action="Delete the webhook"
        change={() => call('deleteTravelWebhook', { id })}
        refreshes={['listTravelWebhooks']}
        isDestructive
        onDone={() => navigate('/webhooks')}
      >
        <Text style={{ overflowWrap: 'anywhere' }}>
          {url} gets no events any more, and its list of deliveries goes. This cannot be undone: a new webhook
          has another secret.
        </Text>
      </ConfirmButton>
    </>
  );
}

/** Asks before the secret is renewed, and then shows the new one once. */
function SecretRenewal({ webhook: { id, url }, onClose }: { webhook: TravelWebhook; onClose: () => void }) {
  return (
    <Confirm
      title="Renew the secret of the webhook?"
      action="Renew the secret"
      change={() => call('renewTravelWebhookSecret', { id })}
      refreshes={[]}
      onClose={onClose}
      result={{
        title: 'The secret is renewed',
        content: ({ secret }) => (
          <Secret value={secret} onDone={onClose}>
            Each request to {url} is signed with this secret, and for 24 hours with the one before too. It is
            shown only now: give it to the integration before that time is over.
          </Secret>
        ),
      }}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        {url} gets a new secret, which is shown once. The present one signs for 24 hours too; then the
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

const deliveryColumns: Column<TravelDelivery>[] = [
  { label: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Event', cell: ({ kind }) => kind },
  { label: 'State', cell: ({ status }) => <StateBadge mark={marks[status]} /> },
  {
    label: 'Last attempt',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last ? <Code>{`attempt ${attempts.length}: ${attemptText(last)}`}</Code> : 'none yet';
    },
  },
  {
    label: 'Next attempt',
    cell: ({ nextAttemptAt }) => (nextAttemptAt ? <Time at={nextAttemptAt} isDeadline /> : '–'),
  },
];

function redeliverColumn(onRedeliver: (id: string) => void): Column<TravelDelivery> {
  return {
    label: 'Action',
    cell: ({ id, kind }) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Deliver again: ${kind}`}
        onClick={() => onRedeliver(id)}
      >
        Deliver again
      </Button>
    ),
  };
}

import {
  Alert,
  Button,
  Code,
  Group,
  MultiSelect,
  Switch as SwitchField,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import type {
  TravelAttempt,
  TravelDelivery,
  TravelWebhook,
} from '../../../../operations/travel/travel-service.ts';
import {
  Confirm,
  ConfirmButton,
  Dialog,
  DialogButton,
  FormDialog,
  Secret,
} from '../../components/dialogs.tsx';
import { Failure, Loaded } from '../../components/loading.tsx';
import { type Column, PagedRows, Rows } from '../../components/rows.tsx';
import { StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { deadlineText } from '../../components/texts.ts';
import { call, faultOf } from '../../requests/api.ts';
import { useChange, usePages, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { PartHead } from './resource.tsx';

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
        <Text c="dimmed">A webhook gets events by HTTP, signed, as soon as they happen.</Text>
        {useIsAdmin() && (
          <DialogButton label="Create a webhook" variant="filled">
            {(close) => <WebhookForm kinds={kinds} onClose={close} />}
          </DialogButton>
        )}
      </Group>
      <Rows
        label="Webhooks"
        rows={webhooks}
        columns={columns}
        empty="There is no webhook yet. Create one here, or let an integration create its own by POST /api/webhooks."
      />
    </>
  );
}

const columns: Column<TravelWebhook>[] = [
  { label: 'URL', cell: ({ id, url }) => <ViewLink href={`/webhooks/${id}`}>{url}</ViewLink> },
  { label: 'Description', cell: ({ description }) => description ?? '–' },
  { label: 'Events', cell: ({ events }) => events?.join(', ') ?? 'every kind' },
  { label: 'State', cell: ({ disabled }) => <StateBadge mark={disabled ? inactive : active} /> },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const active = { symbol: '✓', label: 'active', color: 'green' };
const inactive = { symbol: '–', label: 'inactive', color: 'gray' };

interface DeliveriesProps {
  id: string;
  webhook: TravelWebhook | undefined;
  kinds: string[];
}

function Deliveries({ id, webhook, kinds }: DeliveriesProps) {
  const canChange = useIsAdmin();
  const deliveries = usePages('listTravelDeliveries', { id, limit: 50 });
  const test = useChange(() => call('testTravelWebhook', { id }));
  const redelivery = useChange((delivery: string) => call('redeliverTravelEvent', { id, delivery }), {});
  return (
    <>
      <PartHead list="/webhooks" label="Webhooks">
        {webhook?.url ?? id}
      </PartHead>
      <Group justify="space-between" mb="sm">
        <Text c="dimmed">{webhook?.events?.join(', ') ?? 'Every kind of event'}</Text>
        {canChange && (
          <Group gap="xs">
            <Button loading={test.isPending} onClick={() => test.mutate()}>
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
        isDestructive
        onDone={() => navigate('/webhooks')}
      >
        <Text size="md" style={{ overflowWrap: 'anywhere' }}>
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
      <Text size="md" style={{ overflowWrap: 'anywhere' }}>
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
  { label: 'Next attempt', cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} format={deadlineText} /> },
];

function redeliverColumn(onRedeliver: (id: string) => void): Column<TravelDelivery> {
  return {
    label: 'Action',
    cell: ({ id, kind }) => (
      <Button size="compact-xs" aria-label={`Deliver again: ${kind}`} onClick={() => onRedeliver(id)}>
        Deliver again
      </Button>
    ),
  };
}

/** The values of the form. Without kinds of events the webhook gets every kind. */
interface Typed {
  url: string;
  description: string;
  events: string[];
  isActive: boolean;
}

interface WebhookFormProps {
  webhook?: TravelWebhook | undefined;
  kinds: string[];
  onClose: () => void;
}

/** Creates a webhook and shows its secret once, or changes one. `kinds` are those that can be selected. */
export function WebhookForm({ webhook, kinds, onClose }: WebhookFormProps) {
  const [typed, setTyped] = useState(() => toTyped(webhook));
  const saving = useChange(() => save(webhook, typed), {
    onDone: (secret) => secret === undefined && onClose(),
  });
  if (saving.data !== undefined)
    return (
      <Dialog onClose={onClose} title="The webhook is created">
        <Secret value={saving.data} onDone={onClose}>
          Each request to {typed.url.trim()} is signed with this secret (Standard Webhooks). It is shown only
          now: give it to the integration.
        </Secret>
      </Dialog>
    );
  return (
    <FormDialog
      title={webhook ? 'Edit the webhook' : 'Create a webhook'}
      action={webhook ? 'Save the webhook' : 'Create the webhook'}
      size="lg"
      noValidate
      change={saving}
      fields={['url', 'events']}
      onClose={onClose}
    >
      <Fields
        {...{ typed, kinds }}
        error={saving.error}
        onChange={(part) => setTyped({ ...typed, ...part })}
      />
    </FormDialog>
  );
}

function toTyped(webhook: TravelWebhook | undefined): Typed {
  const { url = '', description = '', events = [], disabled = false } = webhook ?? {};
  return { url, description, events, isActive: !disabled };
}

/** Returns the secret of a new webhook. Of an existing one only what was changed is sent, so that changes of others stay. */
async function save(webhook: TravelWebhook | undefined, typed: Typed): Promise<string | undefined> {
  const url = typed.url.trim();
  const description = typed.description.trim();
  const { events, isActive } = typed;
  if (!webhook) {
    const made = await call('createTravelWebhook', {
      ...{ url, disabled: !isActive },
      ...(description && { description }),
      ...(events.length > 0 && { events }),
    });
    return made.secret;
  }
  const before = toTyped(webhook);
  await call('updateTravelWebhook', {
    id: webhook.id,
    ...(url !== before.url && { url }),
    ...(description !== before.description && { description: description || null }),
    ...(events.join() !== before.events.join() && { events: events.length > 0 ? events : null }),
    ...(isActive !== before.isActive && { disabled: !isActive }),
  });
  return undefined;
}

interface FieldsProps {
  typed: Typed;
  kinds: string[];
  error: Error | null;
  onChange: (part: Partial<Typed>) => void;
}

function Fields({ typed: { url, description, events, isActive }, kinds, error, onChange }: FieldsProps) {
  return (
    <>
      <TextInput
        label="URL"
        description="Where events are sent by POST"
        placeholder="https://expenses.example.com/travel-events"
        type="url"
        value={url}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
        error={faultOf(error, 'url')}
        required
        data-autofocus
      />
      <MultiSelect
        label="Events"
        description="None selected: every kind, also kinds to come"
        placeholder={events.length === 0 ? 'Every kind' : ''}
        data={kinds}
        value={events}
        onChange={(chosen) => onChange({ events: chosen })}
        error={faultOf(error, 'events')}
        searchable
        clearable
      />
      <Textarea
        label="Description"
        value={description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        autosize
      />
      <SwitchField
        label="Active"
        description="An inactive webhook gets no events, also not later"
        checked={isActive}
        onChange={(event) => onChange({ isActive: event.currentTarget.checked })}
      />
    </>
  );
}

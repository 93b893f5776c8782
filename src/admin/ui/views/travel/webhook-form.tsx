import { MultiSelect, Switch, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { TravelWebhook } from '../../../contract/travel.ts';
import { call, faultOf } from '../../api.ts';
import { FormDialog } from '../../components/creation-dialog.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Secret } from '../../components/secret.tsx';
import { useChange } from '../../queries.ts';

/** The values of the form. Without kinds of events the webhook gets every kind. */
interface Typed {
  url: string;
  description: string;
  events: string[];
  isActive: boolean;
}

/** Creates a webhook and shows its secret once, or changes one. `kinds` are those that can be selected. */
export function WebhookForm({
  webhook,
  kinds,
  onClose,
}: {
  webhook?: TravelWebhook | undefined;
  kinds: string[];
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(() => toTyped(webhook));
  const saving = useChange(() => save(webhook, typed), {
    refreshes: ['listTravelWebhooks'],
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
      onSubmit={saving.mutate}
      isPending={saving.isPending}
      error={hasField(saving.error) ? null : saving.error}
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

/** True for a failure that a field shows. */
function hasField(error: Error | null): boolean {
  return (faultOf(error, 'url') ?? faultOf(error, 'events')) !== undefined;
}

function Fields({
  typed: { url, description, events, isActive },
  kinds,
  error,
  onChange,
}: {
  typed: Typed;
  kinds: string[];
  error: Error | null;
  onChange: (part: Partial<Typed>) => void;
}) {
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
      <Switch
        label="Active"
        description="An inactive webhook gets no events, also not later"
        checked={isActive}
        onChange={(event) => onChange({ isActive: event.currentTarget.checked })}
      />
    </>
  );
}

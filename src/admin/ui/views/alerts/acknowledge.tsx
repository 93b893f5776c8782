import { Button, Group, Select, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { conditionKinds } from '../../../../model/conditions.ts';
import { Confirm, DialogButton } from '../../components/dialogs.tsx';
import { LoadedRows } from '../../components/rows.tsx';
import { Dim, Section, Time } from '../../components/text.tsx';
import { sinceText, toChoices, toWords, withLocalTimes } from '../../components/texts.ts';
import { call, type Result } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

type Condition = Result<'listConditions'>['conditions'][number];
type Quiet = Result<'listConditions'>['quiet'][number];

const HOUR_MS = 3_600_000;
/** The times for which alerts can be kept from telling a condition, by hours. */
const spans = { '1': '1 hour', '4': '4 hours', '24': '1 day', '168': '7 days', '720': '30 days' };

/** Who knows of a condition and until when, with the button that takes it back; for one of which nobody knows, the button that says so. */
export function Acknowledgement({ condition }: { condition: Condition }) {
  const { kind, connection, subject, acknowledged, text } = condition;
  const isAdmin = useIsAdmin();
  const key = {
    kind,
    ...(connection !== undefined && { connection }),
    ...(subject !== undefined && { subject }),
  };
  if (!acknowledged)
    return (
      isAdmin && (
        <DialogButton size="compact-xs" label="Acknowledge…" name={`Acknowledge: ${text}`}>
          {(close) => (
            <UntilDialog
              title="Acknowledge this condition"
              action="Acknowledge"
              change={(until) => call('acknowledgeCondition', { ...key, until })}
              onClose={close}
            >
              {withLocalTimes(text, Date.now())} No alert tells it again until then, except its end.
            </UntilDialog>
          )}
        </DialogButton>
      )
    );
  return (
    <Group gap="xs">
      <Dim>
        {acknowledged.isOfKind ? 'Kept quiet' : 'Acknowledged'} by {acknowledged.by} until{' '}
        <Time at={acknowledged.until} format={sinceText} />
      </Dim>
      {isAdmin && !acknowledged.isOfKind && (
        <TellAgainButton name={text} change={() => call('acknowledgeCondition', key)} />
      )}
    </Group>
  );
}

/** The kinds of conditions that are kept quiet, each until a time. */
export function QuietKinds() {
  const listed = useRead('listConditions', {});
  const isAdmin = useIsAdmin();
  return (
    <Section title="Quiet kinds">
      <LoadedRows
        query={listed}
        rowsOf={({ quiet }) => quiet}
        label="Quiet kinds"
        keyOf={({ kind }) => kind}
        columns={[
          { label: 'Kind', cell: ({ kind }: Quiet) => toWords(kind) },
          { label: 'Until', cell: ({ until }) => <Time at={until} /> },
          { label: 'By', cell: ({ by }) => by },
          {
            label: 'Tell again',
            isAction: true,
            cell: ({ kind }) =>
              isAdmin && (
                <TellAgainButton name={toWords(kind)} change={() => call('quietConditions', { kind })} />
              ),
          },
        ]}
        empty="Alerts tell every kind of condition."
      />
      {isAdmin && (
        <DialogButton label="Keep a kind quiet…" mt="sm">
          {(close) => <QuietDialog onClose={close} />}
        </DialogButton>
      )}
    </Section>
  );
}

function QuietDialog({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Condition['kind']>('findings');
  return (
    <UntilDialog
      title="Keep a kind quiet"
      action={`Keep ${toWords(kind)} quiet`}
      change={(until) => call('quietConditions', { kind, until })}
      onClose={onClose}
    >
      No alert tells until then that such a condition has opened or grown.
      <Select
        mt="sm"
        label="Kind of condition"
        searchable
        allowDeselect={false}
        data={conditionKinds.map((value) => ({ value, label: toWords(value) }))}
        value={kind}
        onChange={(value) => value && setKind(value)}
      />
    </UntilDialog>
  );
}

interface UntilDialogProps {
  title: string;
  action: string;
  change: (until: string) => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

function UntilDialog({ change, children, ...dialog }: UntilDialogProps) {
  const [hours, setHours] = useState<keyof typeof spans>('24');
  const until = () => new Date(Date.now() + Number(hours) * HOUR_MS).toISOString();
  return (
    <Confirm {...dialog} change={() => change(until())}>
      <Text component="div">{children}</Text>
      <Select
        label="For"
        allowDeselect={false}
        data={toChoices(spans)}
        value={hours}
        onChange={(value) => value && setHours(value)}
      />
    </Confirm>
  );
}

function TellAgainButton({ name, change }: { name: string; change: () => Promise<unknown> }) {
  const again = useChange(change);
  return (
    <Button
      size="compact-xs"
      aria-label={`Tell again: ${name}`}
      loading={again.isPending}
      onClick={() => again.mutate()}
    >
      Tell again
    </Button>
  );
}

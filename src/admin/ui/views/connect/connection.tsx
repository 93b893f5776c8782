import { Alert, Code, Group, NumberInput, Radio, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { scimProfileNames } from '../../../../model/policies.ts';
import type {
  Connection,
  ConnectionDetails,
  Policy,
} from '../../../../operations/connections/connections.ts';
import { modeText } from '../../../../provisioning/shadow/mode-texts.ts';
import { Copyable } from '../../components/buttons.tsx';
import { ConfirmButton, DialogButton, FormDialog } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Breakable, Dim, Section } from '../../components/text.tsx';
import { countText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { useOverview } from '../overview/state.ts';
import { ModeButton } from '../shadow/mode.tsx';
import { Workloads } from './federation.tsx';
import { LimitsForm } from './limits.tsx';

/** A connection: what the settings say about it, and its policies with what they do. */
export function ConnectionView({ id, connection }: { id: string; connection: Connection | undefined }) {
  const details = useRead('describeConnection', { id });
  const canChange = useIsAdmin();
  const isChangeable = ({ source }: ConnectionDetails) => canChange && source === 'database';
  return (
    <>
      <ViewHead
        title={`Connection ${id}`}
        back={{ href: '/', label: 'Connections' }}
        actions={details.data && isChangeable(details.data) && <RemoveButton id={id} />}
      >
        {connection && (
          <>
            SCIM base URL <Copyable name="the SCIM base URL" text={connection.scimUrl} />
          </>
        )}
      </ViewHead>
      <Loaded query={details}>
        {(data) => (
          <Stack gap="lg">
            <Source {...data} />
            <ConnectionMode id={id} />
            <Section title="Policies">
              <Rows
                label="Policies"
                rows={[...data.policies, data.scim]}
                keyOf={({ name }) => name}
                columns={isChangeable(data) ? [...policyColumns, changeColumn(id)] : policyColumns}
              />
            </Section>
            <Workloads {...{ id, federation: data.federation, canRemove: isChangeable(data) }} />
            <Section title="Limits">
              <Rows label="Limits" rows={data.limits} keyOf={({ name }) => name} columns={settingColumns} />
              {isChangeable(data) && (
                <DialogButton label="Change the limits" mt="xs">
                  {(close) => <LimitsForm connection={id} limits={data.limits} onClose={close} />}
                </DialogButton>
              )}
            </Section>
            <Section title="Travel API">
              <Rows
                label="Travel API"
                rows={data.travelApi}
                keyOf={({ name }) => name}
                columns={settingColumns}
              />
            </Section>
          </Stack>
        )}
      </Loaded>
    </>
  );
}

/** The mode, which everybody sees and admins change. */
function ConnectionMode({ id }: { id: string }) {
  const found = useOverview().data?.connections.find((one) => one.id === id);
  if (!found) return null;
  const { mode, pilot } = found;
  return (
    <Section title="Mode">
      <Group justify="space-between">
        <Text>
          <b>{mode}</b>: {modeText({ mode, pilot })}
        </Text>
        <ModeButton id={id} mode={mode} />
      </Group>
    </Section>
  );
}

function Source({ source, isShadowed }: Pick<ConnectionDetails, 'source' | 'isShadowed'>) {
  return (
    <Alert color="gray" p="xs">
      {sourceTexts[source]}
      {isShadowed &&
        ' The database has a connection of this name too, which is not served: the settings file takes precedence.'}
    </Alert>
  );
}

const sourceTexts: Record<ConnectionDetails['source'], string> = {
  file: 'The settings file fixes this connection. Change it there, and restart the service.',
  database:
    'This connection was added on this page. Its policies and limits can be changed here, and take effect at once; its travel API stays.',
};

/** The policies as people say them. */
const policyNames: Partial<Record<string, string>> = {
  deprovision: 'Deleted users',
  drift: 'Changes in the travel service',
  safetyValve: 'Many departures at once',
  scim: 'SCIM requests',
};

const policyColumns: Column<Policy>[] = [
  {
    label: 'Policy',
    width: '18%',
    cell: ({ name, value }) => (
      <>
        <Text fw={500}>{policyNames[name] ?? name}</Text>
        <Dim size="xs">
          {name}
          {typeof value === 'object' ? '' : `: ${value}`}
        </Dim>
      </>
    ),
  },
  {
    label: 'What it does',
    width: '37%',
    cell: ({ text, description }) => <span title={description}>{text}</span>,
  },
  {
    label: 'What else could be chosen',
    width: '35%',
    cell: ({ name, value, choices }) =>
      choices.length === 0 ? (
        <Dim>{name === 'safetyValve' && 'Other numbers, or no limit'}</Dim>
      ) : (
        choices
          .filter((choice) => choice.value !== String(value))
          .map((choice) => (
            <Text key={choice.value} c="dimmed">
              <Code>{choice.value}</Code> {choice.text}
            </Text>
          ))
      ),
  },
];

function changeColumn(connection: string): Column<Policy> {
  return {
    label: 'Action',
    isAction: true,
    width: '10%',
    cell: (policy) => (
      <DialogButton label="Change…" name={`Change ${policy.name}`} size="compact-xs">
        {(close) => <PolicyForm connection={connection} policy={policy} onClose={close} />}
      </DialogButton>
    ),
  };
}

type Setting = ConnectionDetails['travelApi'][number];

const settingColumns: Column<Setting>[] = [
  {
    label: 'Setting',
    width: '18%',
    cell: ({ name }) => (
      <b>
        <Breakable text={name} />
      </b>
    ),
  },
  {
    label: 'Value',
    width: '27%',
    cell: ({ value }) => (
      <Text span style={{ overflowWrap: 'anywhere' }}>
        <Breakable text={typeof value === 'string' ? value : (JSON.stringify(value) ?? 'not set')} />
      </Text>
    ),
  },
  { label: 'Meaning', width: '55%', cell: ({ description }) => <Dim>{description}</Dim> },
];

/** Asks before a connection goes, and says in numbers what goes with it. */
function RemoveButton({ id }: { id: string }) {
  const [, navigate] = useLocation();
  return (
    <ConfirmButton
      label="Remove…"
      title={`Remove the connection ${id}?`}
      action={`Remove ${id}`}
      change={() => call('removeConnection', { id })}
      isDestructive
      onDone={() => navigate('/')}
    >
      <Consequence id={id} />
    </ConfirmButton>
  );
}

function Consequence({ id }: { id: string }) {
  const records = useRead('countRecords', { id }, { staleTime: 0 });
  return (
    <Loaded query={records}>
      {({ people, tombstones, groups, linked }) => (
        <Group gap="xs">
          <Text size="md">
            {countText(people, 'person', 'people')},{' '}
            {countText(tombstones, 'deleted person', 'deleted people')} and {countText(groups, 'group')} go,
            with the tokens and OAuth clients of the connection: its identity provider is refused from now on.
            This cannot be undone.
          </Text>
          <Text size="md">
            {countText(linked, 'traveler stays', 'travelers stay')} as {linked === 1 ? 'it is' : 'they are'},
            and can be linked by other connections of the account.
          </Text>
        </Group>
      )}
    </Loaded>
  );
}

interface PolicyFormProps {
  connection: string;
  policy: Policy;
  onClose: () => void;
}

/** Changes one policy of a stored connection. */
export function PolicyForm({ connection, policy, onClose }: PolicyFormProps) {
  const { name, description, choices } = policy;
  const [value, setValue] = useState(policy.value);
  // `scim` is no policy, and beside them in the settings.
  const scim = scimProfileNames.find((one) => one === value);
  const changed = name === 'scim' ? { scim } : { policies: { [name]: value } };
  const change = useChange(() => call('changePolicies', { id: connection, ...changed }), { onDone: onClose });
  return (
    <FormDialog
      title={`${policyNames[name] ?? name} of ${connection}`}
      action="Put it in force"
      size="lg"
      change={change}
      noValidate
      onClose={onClose}
    >
      <Text c="dimmed">{description}</Text>
      {choices.length > 0 ? (
        <Radio.Group
          aria-label={name}
          value={String(value)}
          onChange={(chosen) => setValue(typeof policy.value === 'boolean' ? chosen === 'true' : chosen)}
        >
          <Stack gap="xs">
            {choices.map((choice) => (
              <Radio key={choice.value} value={choice.value} label={choice.value} description={choice.text} />
            ))}
          </Stack>
        </Radio.Group>
      ) : (
        <ValveFields value={value} onChange={setValue} />
      )}
    </FormDialog>
  );
}

const defaultValve = { share: 0.05, minimum: 20, windowMinutes: 60 };

/** The numbers of the limit for departures; false without one. */
function ValveFields({ value, onChange }: { value: unknown; onChange: (value: unknown) => void }) {
  const valve: typeof defaultValve = { ...defaultValve, ...Object(value) };
  const isOn = value !== false;
  return (
    <>
      <Switch
        label="Limit how many people may leave"
        checked={isOn}
        onChange={({ currentTarget: { checked } }) => onChange(checked && defaultValve)}
      />
      {isOn && (
        <>
          <NumberInput
            label="Share of the active people, in percent"
            value={Math.round(valve.share * 1_000) / 10}
            onChange={(share) => onChange({ ...valve, share: Number(share) / 100 })}
          />
          <NumberInput
            label="People in any case"
            value={valve.minimum}
            onChange={(minimum) => onChange({ ...valve, minimum })}
          />
          <NumberInput
            label="Counted within, in minutes"
            value={valve.windowMinutes}
            onChange={(windowMinutes) => onChange({ ...valve, windowMinutes })}
          />
        </>
      )}
    </>
  );
}

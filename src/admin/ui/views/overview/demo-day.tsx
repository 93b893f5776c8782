import { Badge, Button, Divider, Group, Progress, Text } from '@mantine/core';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { call } from '../../api.ts';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { ViewLink } from '../../components/text.tsx';
import { refresh, useChange, useRead } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';
import { Notice, Panel } from './panel.tsx';
import type { Overview } from './state.ts';

type DemoDay = Overview['demoDay'];

/** How far the demo day is, and its buttons, where it is played beside the people of an identity provider. */
export function DemoDaySection() {
  const { data } = useRead(
    'readDemoDay',
    {},
    { refetchInterval: ({ state: { data: read } }) => (read && isBusy(read) ? BUSY_MS : false) },
  );
  if (!data) return null;
  return (
    <>
      <DemoDayNotice demoDay={data} />
      <OfferDemoDay demoDay={data} title="The demo day" />
    </>
  );
}

/** The interval at which the demo day is read while it is played or removed, in milliseconds. */
const BUSY_MS = 1_000;

function isBusy({ phase }: DemoDay): boolean {
  return phase === 'playing' || phase === 'removing';
}

/** Offers the demo day, unless it cannot be played: how to see the page with people on it without an identity provider. */
export function OfferDemoDay({ demoDay: { phase, refusal }, title }: { demoDay: DemoDay; title: string }) {
  const play = useChange(() => call('playDemoDay'));
  const isAdmin = useIsAdmin();
  if (phase !== 'none' || refusal !== undefined) return null;
  return (
    <>
      <Divider my={4} />
      <Group justify="space-between" gap="xs" py={6}>
        <div style={{ flex: '1 1 260px' }}>
          <Text fw={600}>{title}</Text>
          <Text c="dimmed">
            The demo day sends 20 invented people to a connection of its own: joiners, a mover, leavers, a
            typing error. One button removes all of it. It changes nothing about the people of other
            connections.
          </Text>
          {play.error && (
            <Text role="alert" fw={600}>
              ✗ {play.error.message}
            </Text>
          )}
        </div>
        <Button miw={150} disabled={!isAdmin} loading={play.isPending} onClick={() => play.mutate()}>
          Play the demo day
        </Button>
      </Group>
    </>
  );
}

/** While the demo day is on the service: what is invented, how far it is, and the button that removes it. */
export function DemoDayNotice({ demoDay }: { demoDay: DemoDay }) {
  const { phase, done, total } = demoDay;
  useEffect(() => {
    // The charts and the other views are read less often than how far the demo day is.
    if (phase === 'played') void refresh();
  }, [phase]);
  switch (phase) {
    case 'none':
      return null;
    case 'playing':
      return (
        <Notice title="The demo day is being played">
          <Progress
            value={(100 * done) / Math.max(1, total)}
            aria-label={`${done} of ${total} requests were sent`}
          />
        </Notice>
      );
    case 'removing':
      return <Notice title="The demo day is being removed">It takes a few seconds.</Notice>;
    case 'interrupted':
      return (
        <Notice title="The demo day was interrupted" action={<RemoveButton />}>
          The process that played or removed it has ended. Remove it; then it can be played again.
        </Notice>
      );
    case 'played':
      return (
        <Notice title="The demo day is on this service" action={<RemoveButton />}>
          An invented identity provider has sent its people to the connection demo. Look at{' '}
          <ViewLink inherit isInText href="~/admin/people?connection=demo">
            People
          </ViewLink>
          , at{' '}
          <ViewLink inherit isInText href="~/admin/traffic?connection=demo">
            Traffic
          </ViewLink>
          , and at what is{' '}
          <ViewLink inherit isInText href="~/admin/held">
            held
          </ViewLink>
          ; then{' '}
          <ViewLink inherit isInText href="~/admin/connect">
            connect your own
          </ViewLink>
          .
        </Notice>
      );
  }
}

function RemoveButton() {
  if (!useIsAdmin()) return null;
  return (
    <ConfirmButton
      label="Remove the demo day"
      title="Remove the demo day?"
      action="Remove the demo day"
      change={() => call('undoDemoDay')}
    >
      <Text>
        The invented people go, with their travelers, requests and held changes, and the connection demo goes
        with its token. Nothing else is changed.
      </Text>
    </ConfirmButton>
  );
}

type Steps = NonNullable<Overview['steps']>;

/** The first steps on a new service, and the demo day, which needs no identity provider. */
export function FirstSteps({ steps, demoDay }: Pick<Overview, 'demoDay'> & { steps: Steps }) {
  const list = [
    {
      title: 'Connect an identity provider',
      text: 'Get a token, paste it into Okta or Entra ID, and watch the test call arrive.',
      isDone: steps.isConnected,
      ...{ to: '/connect', button: 'Connect' },
    },
    {
      title: 'Write a mapping',
      text: 'Say which attribute becomes which field of a traveler. Without one, the default rules decide.',
      isDone: steps.hasMapping,
      ...{ to: '/mappings', button: 'Open the mapping' },
    },
    {
      title: 'See the first person',
      text: 'Assign somebody in the identity provider: they appear here within seconds.',
      isDone: false,
      ...{ to: '/people', button: 'See people' },
    },
  ];
  return (
    <Panel title="First steps">
      {list.map(({ title, text, isDone, to, button }, index) => (
        <Group key={to} justify="space-between" gap="xs" py={6}>
          <Group wrap="nowrap" align="flex-start" gap="sm" flex="1 1 260px">
            <Badge
              circle
              size="lg"
              variant="light"
              color={isDone ? 'green' : 'gray'}
              c="var(--mantine-color-text)"
              style={{ flexShrink: 0 }}
            >
              {isDone ? '✓' : index + 1}
            </Badge>
            <div>
              <Text fw={600}>
                {title}
                {isDone && ' (done)'}
              </Text>
              <Text c="dimmed">{text}</Text>
            </div>
          </Group>
          <Button
            component={Link}
            href={`~/admin${to}`}
            variant={list.find((step) => !step.isDone)?.to === to ? 'filled' : 'default'}
            miw={150}
          >
            {button}
          </Button>
        </Group>
      ))}
      <OfferDemoDay demoDay={demoDay} title="Or look around first" />
    </Panel>
  );
}

import { Badge, Button, Divider, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { ViewLink } from '../../components/text.tsx';
import { call } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { Notice, Panel } from './panel.tsx';
import type { Overview } from './state.ts';

/** Offers the demo day: how to see the page with people on it without an identity provider. */
function OfferDemoDay() {
  const play = useChange(() => call('playDemoDay'));
  const isAdmin = useIsAdmin();
  return (
    <>
      <Divider my={4} />
      <Group justify="space-between" gap="xs" py={6}>
        <div style={{ flex: '1 1 260px' }}>
          <Text fw={600}>Or look around first</Text>
          <Text c="dimmed">
            The demo day sends 20 invented people: joiners, a mover, leavers, a typing error. To begin for
            real afterwards, remove the data of this service.
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

/** Says that the people are invented, as long as the data of the demo day is there. */
export function DemoDayNotice({ demoDay }: Pick<Overview, 'demoDay'>) {
  if (demoDay === 'playing') return <Notice title="The demo day is being played">It takes seconds.</Notice>;
  if (demoDay !== 'played') return null;
  return (
    <Notice title="The people here are invented">
      The demo day has sent them. Look at{' '}
      <ViewLink inherit isInText href="~/admin/people">
        People
      </ViewLink>{' '}
      and{' '}
      <ViewLink inherit isInText href="~/admin/traffic">
        Traffic
      </ViewLink>
      . To begin for real, stop the service, remove its data folder (or database), and start it again.
    </Notice>
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
              color="gray"
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
      {demoDay === 'offered' && <OfferDemoDay />}
    </Panel>
  );
}

import { Badge, Button, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { OfferDemoDay } from './demo-day.tsx';
import { Panel } from './panel.tsx';
import type { Overview } from './texts.ts';

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
              <Text size="sm" fw={600}>
                {title}
                {isDone && ' (done)'}
              </Text>
              <Text size="sm" c="dimmed">
                {text}
              </Text>
            </div>
          </Group>
          <Button
            component={Link}
            href={`~/admin${to}`}
            size="xs"
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

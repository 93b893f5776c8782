import { Group, Text } from '@mantine/core';
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import type { Column } from '../../components/rows.tsx';
import { Breakable, personHref, Time, ViewLink } from '../../components/text.tsx';
import { durationText } from '../../components/texts.ts';
import { outcomeOf, pathText, shortPath } from './texts.ts';

const oneLine = { whiteSpace: 'nowrap' } as const;

/** An exchange in lists. */
export const columns: Column<Exchange>[] = [
  {
    label: 'When',
    width: '10%',
    cell: ({ at, position }) => (
      <ViewLink href={`~/admin/traffic/${position}`} style={oneLine}>
        <Time at={at} />
      </ViewLink>
    ),
  },
  { label: 'Who', width: '20%', cell: (exchange) => <Who {...exchange} /> },
  { label: 'Request', width: '30%', cell: (exchange) => <RequestLine {...exchange} /> },
  { label: 'Status', width: '13%', cell: (exchange) => <Outcome {...exchange} /> },
  { label: 'Duration', width: '10%', cell: ({ ms }) => <span style={oneLine}>{durationText(ms)}</span> },
  {
    label: 'Person',
    width: '17%',
    cell: (exchange) =>
      exchange.person && (
        <Text component="div" inherit truncate>
          <PersonLink {...exchange} />
        </Text>
      ),
  },
];

/** An exchange in two lines, for a narrow screen. */
export function ExchangeCard(exchange: Exchange) {
  const { at, position, direction, person } = exchange;
  const Icon = direction === 'travel' ? IconArrowUpRight : IconArrowDownRight;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text component="div" truncate title={pathText(exchange.path)}>
          <Icon size={14} stroke={1.5} aria-hidden />{' '}
          <Text component="span" size="xs" ff="monospace">
            <b>{exchange.method}</b> {shortPath(exchange.path)}
          </Text>
        </Text>
        <Outcome {...exchange} />
      </Group>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <ViewLink href={`~/admin/traffic/${position}`} size="xs" style={oneLine}>
          <Time at={at} />
        </ViewLink>
        {person && (
          <Text size="xs" truncate component="div">
            <PersonLink {...exchange} />
          </Text>
        )}
      </Group>
    </>
  );
}

/** Method and path; the whole path appears on hover. */
function RequestLine({ method, path }: Exchange) {
  return (
    <Text component="span" size="xs" ff="monospace" title={pathText(path)}>
      <b>{method}</b> <Breakable text={shortPath(path)} />
    </Text>
  );
}

/** The IdP, by the name of its program, or the travel service. */
export function Who({ direction, userAgent, connection }: Exchange) {
  const isCall = direction === 'travel';
  const Icon = isCall ? IconArrowUpRight : IconArrowDownRight;
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
      <Icon size={16} stroke={1.5} aria-hidden style={{ flexShrink: 0 }} />
      <Text component="span" title={userAgent}>
        {isCall ? 'Travel service' : programName(userAgent)}
      </Text>
      <Text component="span" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {connection ?? 'no connection'}
      </Text>
    </Group>
  );
}

/** The name of a program without its version. */
function programName(userAgent = 'IdP'): string {
  return userAgent.split(/[/(]| \d/)[0]?.trim() ?? userAgent;
}

export function Outcome(exchange: Pick<Exchange, 'status' | 'error'>) {
  const { symbol, color, text } = outcomeOf(exchange);
  return (
    <Text
      component="span"
      style={oneLine}
      title={exchange.error}
      {...(color ? { fw: 600, c: readableColor(color) } : { c: 'dimmed' })}
    >
      {color && symbol} {text}
    </Text>
  );
}

/** A colour of the theme for text: dark on light, and light on dark. */
function readableColor(color: string): string {
  const shade = (number: number) => `var(--mantine-color-${color}-${number})`;
  return `light-dark(color-mix(in srgb, ${shade(9)} 75%, black), ${shade(4)})`;
}

export function PersonLink({ connection, person }: Pick<Exchange, 'connection' | 'person'>) {
  if (!person) return null;
  const name = person.name ?? `${person.id.slice(0, 8)}…`;
  if (connection === undefined) return name;
  return (
    <ViewLink inherit href={personHref(connection, person.id)} title={person.id}>
      {name}
    </ViewLink>
  );
}
